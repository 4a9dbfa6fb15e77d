//! What lies in a program's flash, by its ELF file's sections and symbols.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use object::{Object, ObjectSection, ObjectSymbol, SectionFlags, SectionKind, elf};

/// The bytes of a program in flash.
#[derive(Debug)]
pub(crate) struct Flash {
    /// Code.
    pub(crate) text_bytes: u64,
    /// Constants, vectors, and the initial values of variables.
    pub(crate) rodata_bytes: u64,
    /// Functions and named constants, the largest first; equal ones by name.
    pub(crate) symbols: Vec<Symbol>,
}

/// A function or a named constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Symbol {
    pub(crate) name: String,
    /// The crate by the name; none of names that are not Rust's: intrinsics, start-up code.
    pub(crate) owner: Option<String>,
    pub(crate) bytes: u64,
}

impl Flash {
    /// Reads an ELF file. Unwinding tables, which boards' linker scripts drop, are left out.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        let file = object::File::parse(&*bytes).with_context(|| format!("{}", path.display()))?;
        let (mut text_bytes, mut rodata_bytes, mut ranges) = (0, 0, Vec::new());
        for section in file.sections() {
            let SectionFlags::Elf { sh_flags } = section.flags() else { continue };
            let in_flash = sh_flags & u64::from(elf::SHF_ALLOC) != 0
                && section.kind() != SectionKind::UninitializedData
                && section.name()? != ".ARM.exidx";
            if !in_flash {
                continue;
            }
            ranges.push(section.address()..section.address() + section.size());
            match sh_flags & u64::from(elf::SHF_EXECINSTR) {
                0 => rodata_bytes += section.size(),
                _ => text_bytes += section.size(),
            }
        }
        ensure!(text_bytes > 0, "{} holds no code", path.display());
        // Functions with the same code share an address.
        let mut by_addr = BTreeMap::new();
        for symbol in file.symbols().filter(|symbol| symbol.size() > 0) {
            // Bit 0 of a function's address says Thumb.
            let addr = symbol.address() & !1;
            if ranges.iter().any(|range| range.contains(&addr)) {
                by_addr.entry(addr).or_insert(Symbol::new(symbol.name()?, symbol.size()));
            }
        }
        let mut symbols: Vec<Symbol> = by_addr.into_values().collect();
        symbols.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.name.cmp(&b.name)));
        Ok(Self { text_bytes, rodata_bytes, symbols })
    }

    /// All of it.
    pub(crate) const fn total_bytes(&self) -> u64 {
        self.text_bytes + self.rodata_bytes
    }

    /// The bytes by crate, the largest first; what is left without a symbol is not among them.
    pub(crate) fn by_owner(&self) -> Vec<(Option<&str>, u64)> {
        let mut sums: BTreeMap<Option<&str>, u64> = BTreeMap::new();
        for symbol in &self.symbols {
            *sums.entry(symbol.owner.as_deref()).or_default() += symbol.bytes;
        }
        let mut sums: Vec<_> = sums.into_iter().collect();
        sums.sort_by_key(|(_, bytes)| std::cmp::Reverse(*bytes));
        sums
    }
}

impl Symbol {
    fn new(mangled: &str, bytes: u64) -> Self {
        let demangled = rustc_demangle::try_demangle(mangled).ok().map(|name| format!("{name:#}"));
        let owner = demangled.as_deref().and_then(owner).map(str::to_owned);
        Self { name: demangled.unwrap_or_else(|| mangled.to_owned()), owner, bytes }
    }
}

/// The crate of a function: of its path, of the type whose method it is, or else of the trait.
fn owner(name: &str) -> Option<&str> {
    let whole = name.trim_start_matches(|c: char| !c.is_alphanumeric() && c != '_');
    let whole = ["mut ", "const ", "dyn "].iter().find_map(|word| whole.strip_prefix(word)).unwrap_or(whole);
    let of_trait = name.split_once(" as ").map(|(_, path)| path);
    [Some(whole), of_trait].into_iter().flatten().find_map(|path| {
        let end = path.find(|c: char| !c.is_alphanumeric() && c != '_')?;
        let (first, rest) = path.split_at(end);
        (!first.is_empty() && rest.starts_with("::")).then_some(first)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_crate_is_that_of_the_path_the_type_or_the_trait() {
        for (name, expected) in [
            ("calib_core::artifact::Artifact::parse", Some("calib_core")),
            ("<calib_core::wire::Reply as serde_core::ser::Serialize>::serialize", Some("calib_core")),
            ("<&mut postcard::de::Deserializer<F> as serde_core::de::Deserializer>::x", Some("postcard")),
            ("<&T as core::fmt::Debug>::fmt", Some("core")),
            ("core::ptr::drop_in_place<calib_core::Artifact>", Some("core")),
            ("<[u8] as defmt::Format>::format", Some("defmt")),
            ("main", None),
        ] {
            assert_eq!(owner(name), expected, "{name}");
        }
    }

    #[test]
    fn names_are_demangled_and_others_are_kept() {
        let symbol = Symbol::new("_ZN10calib_core8artifact6prefix3crc17hed7de3f69e018923E", 390);
        assert_eq!(
            (&*symbol.name, symbol.owner.as_deref()),
            ("calib_core::artifact::prefix::crc", Some("calib_core"))
        );
        let symbol = Symbol::new("__aeabi_fmul", 100);
        assert_eq!((&*symbol.name, symbol.owner), ("__aeabi_fmul", None));
    }
}
