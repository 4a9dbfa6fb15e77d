//! An artifact from another one: what it was, with something else in it.

use calib_core::artifact::{ArtifactWriter, Header, Provenance, SectionKind, WriteError};

use super::stored::StoredArtifact;
use super::write::written;

/// What an artifact that is made from another one says of itself.
///
/// The child has no signature: anyone who signed the parent has not seen it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DerivedArtifact {
    /// How new the child is; a device refuses one that is not newer than its own.
    pub counter: u32,
    /// What was done to the parent, as `name=value` separated by spaces: it stands between the parent's own parameters and the
    /// parent's name.
    pub parameters: String,
}

/// The sections that say what is done with a score or a probability.
pub(super) const RULES: [SectionKind; 3] =
    [SectionKind::Decision, SectionKind::OperatingPoints, SectionKind::PredictionSets];

/// A section as it is stored: its kind, whether it is mandatory, and its payload.
pub(crate) type Section<'p> = (u16, bool, &'p [u8]);

impl DerivedArtifact {
    /// Writes the header that `header` makes of the parent's, with the child's parameters and the parent's identity. Then
    /// writes what `each` makes of every section of the parent, what `add` writes, and the counter.
    ///
    /// The parent's signature and counter are never kept: `each` does not see them.
    ///
    /// # Errors
    ///
    /// If a section does not fit, or `each` or `add` fails.
    pub(crate) fn rewrite<'p>(
        &self,
        parent: &'p StoredArtifact,
        header: impl Fn(Header<'p>) -> Header<'p>,
        each: impl Fn(&mut ArtifactWriter<'_>, Section<'p>) -> Result<(), WriteError>,
        add: impl Fn(&mut ArtifactWriter<'_>) -> Result<(), WriteError>,
    ) -> Result<Vec<u8>, WriteError> {
        const NEVER: [u16; 3] =
            [SectionKind::Header as u16, SectionKind::Counter as u16, SectionKind::Signature as u16];
        let artifact = parent.artifact();
        let own = header(*artifact.header());
        let parameters = self.parameters(own.provenance.parameters, artifact.identity().0);
        let own = Header { provenance: Provenance { parameters: &parameters, ..own.provenance }, ..own };
        written(|writer| {
            writer.header(&own)?;
            let mut kept = parent.sections().filter(|(kind, ..)| !NEVER.contains(kind));
            kept.try_for_each(|section| each(writer, section))?;
            add(writer)?;
            if self.counter > 0 { writer.counter(self.counter) } else { Ok(()) }
        })
    }

    /// The parameters of parent and child, with the parent's name. Of several generations the last parent is named: it names its
    /// own.
    fn parameters(&self, parents: &str, identity: [u8; 8]) -> String {
        let kept = parents.split(' ').filter(|pair| !pair.is_empty() && !pair.starts_with("parent="));
        let parent: String = identity.iter().map(|byte| format!("{byte:02x}")).collect();
        let own = self.parameters.split(' ').filter(|pair| !pair.is_empty()).map(str::to_owned);
        let all = kept.map(str::to_owned).chain(own).chain([format!("parent={parent}")]);
        all.collect::<Vec<_>>().join(" ")
    }
}

/// Writes sections of these kinds as they are, and no others.
pub(super) fn copied_if(
    keep: impl Fn(u16) -> bool,
) -> impl Fn(&mut ArtifactWriter<'_>, Section<'_>) -> Result<(), WriteError> {
    move |writer, (kind, mandatory, payload)| {
        if keep(kind) { writer.section(kind, mandatory, payload) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_parent_is_named() {
        let child = DerivedArtifact { counter: 0, parameters: "sensitivity=0.95".into() };
        assert_eq!(child.parameters("", [0xAB; 8]), "sensitivity=0.95 parent=abababababababab");
        let second = DerivedArtifact { parameters: String::new(), ..child };
        assert_eq!(
            second.parameters("bins=2 parent=ab sensitivity=0.9", [1; 8]),
            "bins=2 sensitivity=0.9 parent=0101010101010101"
        );
    }
}
