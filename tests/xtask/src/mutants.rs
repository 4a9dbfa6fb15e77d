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
const RECORD: &str = "slot/record.rs";
const ADMISSION: &str = "slot/admission.rs";

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
            edit(INSTALL, "Ok(None) => Step::Record,", "Ok(None) => Step::Mark,"),
            edit(
                INSTALL,
                "&record.to_bytes())?;\n                Step::Mark",
                "&record.to_bytes())?;\n                Step::Done",
            ),
            edit(
                INSTALL,
                "firm: true });\n                Step::Done",
                "firm: true });\n                Step::Record",
            ),
        ],
    },
    Mutant {
        name: "the mark is not read back",
        edits: &[edit(
            INSTALL,
            "        match unit.iter().zip(&found)",
            "        found = *unit;
        match unit.iter().zip(&found)",
        )],
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
        edits: &[edit(INSTALL, "counter < record.counter", "counter <= record.counter")],
    },
    Mutant {
        name: "lower counters are taken",
        edits: &[edit(INSTALL, "counter < record.counter", "counter > u32::MAX - 1 && record.counter == 0")],
    },
    Mutant {
        name: "RAM is trusted over a restart: the mark is not renewed",
        edits: &[edit(
            STORE,
            "let firm = before.is_some_and(|c| c.slot == slot && c.record == record && c.firm);",
            "let firm = before.is_none_or(|c| c.slot == slot);",
        )],
    },
    Mutant {
        name: "the length in the record is unchecked",
        edits: &[edit(STORE, "if record.len_bytes > max {", "if record.len_bytes > max && max == 0 {")],
    },
    Mutant {
        name: "the erased tail is unchecked",
        edits: &[edit(STORE, "Some(offset) => Err(SlotFault::Tail { offset }),", "Some(_) => Ok(()),")],
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
        edits: &[edit(STORE, "if rank(0) >= rank(1)", "if rank(0) < rank(1)")],
    },
    Mutant {
        name: "the slot in force is overwritten",
        edits: &[edit(INSTALL, "target: 1 - slot.min(1)", "target: slot.min(1)")],
    },
    Mutant {
        name: "only the first sector is erased",
        edits: &[edit(
            INSTALL,
            "if at < self.layout.len_bytes { Step::Erase { at } }",
            "if at < sector { Step::Erase { at } }",
        )],
    },
    Mutant {
        name: "erased is always 0xFF",
        edits: &[edit(
            STORE,
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
];
