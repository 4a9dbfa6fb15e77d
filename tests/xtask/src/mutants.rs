//! Faults to plant in calib-core: each is one that a person could make.

/// A fault.
pub(crate) struct Mutant {
    /// What is wrong.
    pub(crate) name: &'static str,
    /// How it comes about.
    pub(crate) edits: &'static [Edit],
}

/// A change to a source file. What it replaces is there exactly once.
pub(crate) struct Edit {
    /// The file, below `calib-core/src`.
    pub(crate) file: &'static str,
    pub(crate) from: &'static str,
    pub(crate) to: &'static str,
}

const fn edit(file: &'static str, from: &'static str, to: &'static str) -> Edit {
    Edit { file, from, to }
}

const STORE: &str = "slot/store.rs";
const INSTALL: &str = "slot/install.rs";
const PLAN: &str = "slot/plan.rs";
const REGION: &str = "slot/region.rs";
const MARKS: &str = "slot/marks.rs";
const TRAILER: &str = "slot/trailer.rs";
const RECORD: &str = "slot/record.rs";
const ADMISSION: &str = "slot/admission.rs";
const JOURNAL: &str = "journal/store.rs";

/// All of them.
pub(crate) const MUTANTS: &[Mutant] = &[
    Mutant {
        name: "committed before it is compared",
        edits: &[edit(
            INSTALL,
            "Step::Write { at: end } } else { Step::Compare { at: 0 } }",
            "Step::Write { at: end } } else { Step::Record }",
        )],
    },
    Mutant {
        name: "acknowledged before the mark is written",
        edits: &[edit(
            INSTALL,
            "&record.to_bytes())?;\n                Step::Mark",
            "&record.to_bytes())?;\n                Step::Done",
        )],
    },
    Mutant {
        name: "the mark is written before the record",
        edits: &[
            edit(
                INSTALL,
                "return Err(InstallError::OtherArtifact);\n                }\n                Step::Record",
                "return Err(InstallError::OtherArtifact);\n                }\n                Step::Mark",
            ),
            edit(
                INSTALL,
                "&record.to_bytes())?;\n                Step::Mark",
                "&record.to_bytes())?;\n                completed",
            ),
            edit(
                INSTALL,
                "self.region.write_first_mark(target)?;\n                completed",
                "self.region.write_first_mark(target)?;\n                Step::Record",
            ),
        ],
    },
    Mutant {
        name: "the mark is not read back",
        edits: &[edit(
            REGION,
            "        match unit.iter().zip(&found)",
            "        let found = if offset == u32::MAX { found } else { *unit };
        match unit.iter().zip(&found)",
        )],
    },
    Mutant {
        name: "nothing makes sure of the slot in force",
        edits: &[edit(INSTALL, "self.region.make_sure(slot, record.len_bytes)?;", "let _ = (slot, record);")],
    },
    Mutant {
        name: "one mark makes sure",
        edits: &[edit(MARKS, "const SURE_MARKS: usize = 4;", "const SURE_MARKS: usize = 1;")],
    },
    Mutant {
        name: "a torn mark is written again",
        edits: &[edit(
            MARKS,
            "if !self.unit(slot, at).is_ok_and(|unit| self.is_blank(&unit)) {",
            "if self.unit(slot, at).is_ok_and(|unit| unit == self.mark()) {",
        )],
    },
    Mutant {
        name: "what is in force is not made sure of when it is installed again",
        edits: &[edit(
            INSTALL,
            "let next = if self.current.is_some() {",
            "let next = if plan.is_held { Step::Done } else if self.current.is_some() {",
        )],
    },
    Mutant {
        name: "a torn newer slot is left beside what is installed again",
        edits: &[edit(
            PLAN,
            "let clears = !other.is_below(record.rank());\n            return",
            "let clears = other.is_below((0, 0));\n            return",
        )],
    },
    Mutant {
        name: "a slot that could not be read at the start is erased",
        edits: &[edit(
            PLAN,
            "return Err(InstallError::Reload);",
            "let _ = InstallError::<F::Error>::Reload;",
        )],
    },
    Mutant {
        name: "bits that an erase left are not looked for",
        edits: &[edit(
            REGION,
            "Some(offset) => Err(InstallError::ReadBack { offset }),\n        }\n    }\n\n    /// Writes whole",
            "Some(_) => Ok(at + sector),\n        }\n    }\n\n    /// Writes whole",
        )],
    },
    Mutant {
        name: "a read that fails is not tried again",
        edits: &[edit(REGION, "const READ_TRIES: usize = 3;", "const READ_TRIES: usize = 1;")],
    },
    Mutant {
        name: "the CRC of the artefact is skipped",
        edits: &[
            edit(
                STORE,
                "digest.finalize() != record.crc",
                "digest.finalize() != record.crc && record.crc == 0",
            ),
            edit("artifact/prefix.rs", "stored != computed", "stored != computed && stored == 0"),
        ],
    },
    Mutant {
        name: "the CRC of the record is skipped",
        edits: &[edit(RECORD, "(record.to_bytes() == *bytes).then_some(record)", "Some(record)")],
    },
    Mutant {
        name: "`<=` for `<` between counters",
        edits: &[edit(PLAN, "filter(|&held| counter < held)", "filter(|&held| counter <= held)")],
    },
    Mutant {
        name: "lower counters are taken",
        edits: &[edit(PLAN, "filter(|&held| counter < held)", "filter(|&held| counter < held && held == 0)")],
    },
    Mutant {
        name: "the length in the record is unchecked",
        edits: &[edit(
            TRAILER,
            ".filter(|r| r.len_bytes <= record_at)",
            ".filter(|r| r.len_bytes <= u32::MAX)",
        )],
    },
    Mutant {
        name: "the erased tail is unchecked",
        edits: &[edit(
            STORE,
            "Ok(Some(offset)) => Err(SlotFault::Tail { offset }),",
            "Ok(Some(_)) => Ok(()),",
        )],
    },
    Mutant {
        name: "the padding behind the artefact is unchecked",
        edits: &[edit(
            STORE,
            "padding.iter().position(|&byte| byte != erased)",
            "padding.iter().position(|&byte| byte != erased && at == u32::MAX)",
        )],
    },
    Mutant {
        name: "the counter in the record is believed",
        edits: &[edit(
            STORE,
            "if admitted.artifact().counter() == record.counter {",
            "if admitted.artifact().counter() <= u32::MAX {",
        )],
    },
    Mutant {
        name: "the older slot is in force",
        edits: &[edit(STORE, "if first >= second", "if first < second")],
    },
    Mutant {
        name: "the slot in force is overwritten",
        edits: &[edit(
            PLAN,
            "Some(current) => (1 - current.slot.min(1), false)",
            "Some(current) => (current.slot.min(1), false)",
        )],
    },
    Mutant {
        name: "only the first sector is erased",
        edits: &[edit(
            INSTALL,
            "if at < self.region.layout.len_bytes { Step::Erase { at } }",
            "if at < F::ERASE_SIZE as u32 { Step::Erase { at } }",
        )],
    },
    Mutant {
        name: "erased is always 0xFF",
        edits: &[edit(
            REGION,
            "let blank = [self.layout.erased.byte(); CHUNK_LEN];",
            "let blank = [0xFF; CHUNK_LEN];",
        )],
    },
    Mutant {
        name: "the signature is not verified",
        edits: &[edit(
            ADMISSION,
            "self.trust.check(&artifact, bytes).map_err(Refused::Signature)?;",
            "let _ = self.trust.check(&artifact, bytes);",
        )],
    },
    Mutant {
        name: "an artefact without a signature is taken",
        edits: &[edit(
            "slot/trusted_key.rs",
            "let signature = artifact.signature().ok_or(SignatureError::Missing)?;",
            "let Some(signature) = artifact.signature() else { return Ok(()) };",
        )],
    },
    Mutant {
        name: "the signature does not cover the tables",
        edits: &[edit(
            "artifact/signature.rs",
            "rest: artifact.get(CRC_END..end)?",
            "rest: artifact.get(CRC_END..end.min(120))?",
        )],
    },
    Mutant {
        name: "another classifier's calibrator is taken",
        edits: &[edit(
            ADMISSION,
            "if !artifact.is_for(self.classifier) {",
            "if !artifact.is_for(self.classifier) && bytes.is_empty() {",
        )],
    },
    Mutant {
        name: "another calibrator's counters are loaded",
        edits: &[edit(
            JOURNAL,
            "if (head.calibrator, head.shape) != (calibrator, shape) {",
            "if (head.calibrator, head.shape) != (calibrator, shape) && self.words == 0 {",
        )],
    },
    Mutant {
        name: "the CRC of counters is skipped",
        edits: &[edit(
            JOURNAL,
            "(next()? == checksum.finish()).then_some((head, taken))",
            "(next()? == checksum.finish() || words > 0).then_some((head, taken))",
        )],
    },
    Mutant {
        name: "the sector of the newest counters is erased for the next",
        edits: &[edit(
            JOURNAL,
            "let after = self.newest.map_or(0, |newest| (newest.at / Self::SECTOR + 1) * Self::SECTOR);",
            "let after = self.newest.map_or(0, |newest| newest.at / Self::SECTOR * Self::SECTOR);",
        )],
    },
    Mutant {
        name: "the oldest counters count",
        edits: &[edit(
            JOURNAL,
            "newest.is_none_or(|newest| newest.head.sequence <= head.sequence)",
            "newest.is_none_or(|newest| newest.head.sequence >= head.sequence)",
        )],
    },
    Mutant {
        name: "after a start a number is given that a torn save may have",
        edits: &[edit(
            JOURNAL,
            "newest: None, next: None, last: 0, step: 2 }",
            "newest: None, next: None, last: 0, step: 1 }",
        )],
    },
    Mutant {
        name: "after a start counters are written behind the newest",
        edits: &[edit(
            JOURNAL,
            "journal.last = journal.newest.map_or(0, |newest| newest.head.sequence);",
            "journal.last = journal.newest.map_or(0, |newest| newest.head.sequence); journal.next = \
             journal.newest.and_then(|newest| journal.behind(newest.at));",
        )],
    },
    Mutant {
        name: "counters are not read back",
        edits: &[edit(
            JOURNAL,
            "if self.unit(at).map_err(JournalError::Flash)? != unit {",
            "if self.unit(at).map_err(JournalError::Flash)? != unit && self.words == 0 {",
        )],
    },
    Mutant {
        name: "a sector for counters is not looked at after it was erased",
        edits: &[edit(
            JOURNAL,
            ".step_by(UNIT_LEN).all(|at| self.is_blank(at)) {",
            ".step_by(UNIT_LEN).all(|at| self.is_blank(at) || self.words > 0) {",
        )],
    },
    Mutant {
        name: "counting begins anew, and what was counted before is left",
        edits: &[edit(JOURNAL, "filter(|&sector| sector != held)", "filter(|&sector| sector == held)")],
    },
];
