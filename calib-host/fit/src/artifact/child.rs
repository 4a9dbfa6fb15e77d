//! An artefact from another one: what it was, with something else in it.

use calib_core::artifact::{ArtifactWriter, Header, SectionKind, WriteError};

use super::stored::StoredArtifact;
use super::write::written;

/// What an artefact that is made from another one says of itself.
///
/// The child has no signature: whoever signed the parent has not seen it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Child {
    /// How new the child is; a device refuses one that is not newer than its own.
    pub counter: u32,
    /// What was done to the parent, as `name=value` separated by spaces: it stands behind the parent's own parameters.
    pub parameters: String,
}

/// The sections that say what is done with a score or a probability.
pub(super) const RULES: [SectionKind; 3] =
    [SectionKind::Decision, SectionKind::OperatingPoints, SectionKind::PredictionSets];

impl Child {
    /// Writes the parent's header, with the child's parameters and the parent's identity, then the sections of the parent that
    /// `keep` names, then what `add` writes, and the counter.
    ///
    /// The signature and the counter of the parent are never kept.
    ///
    /// # Errors
    ///
    /// If a section does not fit, or `add` fails.
    pub(crate) fn of(
        &self,
        parent: &StoredArtifact,
        header: impl Fn(Header<'_>) -> Header<'_>,
        keep: impl Fn(u16) -> bool,
        add: impl Fn(&mut ArtifactWriter<'_>) -> Result<(), WriteError>,
    ) -> Result<Vec<u8>, WriteError> {
        const NEVER: [u16; 3] =
            [SectionKind::Header as u16, SectionKind::Counter as u16, SectionKind::Signature as u16];
        let artifact = parent.artifact();
        let parameters = self.parameters(artifact.header().provenance.parameters, artifact.identity().0);
        written(|writer| {
            let mut own = header(*artifact.header());
            own.provenance.parameters = &parameters;
            writer.header(&own)?;
            for (kind, mandatory, payload) in parent.sections() {
                if !NEVER.contains(&kind) && keep(kind) {
                    writer.section(kind, mandatory, payload)?;
                }
            }
            add(writer)?;
            if self.counter > 0 { writer.counter(self.counter) } else { Ok(()) }
        })
    }

    /// The parameters of parent and child. Of several generations the last parent is named: it names its own.
    fn parameters(&self, parents: &str, identity: [u8; 8]) -> String {
        let kept = parents.split(' ').filter(|pair| !pair.is_empty() && !pair.starts_with("parent="));
        let parent: String = identity.iter().map(|byte| format!("{byte:02x}")).collect();
        let own = self.parameters.split(' ').filter(|pair| !pair.is_empty()).map(str::to_owned);
        let all = kept.map(str::to_owned).chain([format!("parent={parent}")]).chain(own);
        all.collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_parent_is_named() {
        let child = Child { counter: 0, parameters: "sensitivity=0.95".into() };
        assert_eq!(child.parameters("", [0xAB; 8]), "parent=abababababababab sensitivity=0.95");
        let second = Child { parameters: String::new(), ..child };
        assert_eq!(
            second.parameters("bins=2 parent=ab sensitivity=0.9", [1; 8]),
            "bins=2 sensitivity=0.9 parent=0101010101010101"
        );
    }
}
