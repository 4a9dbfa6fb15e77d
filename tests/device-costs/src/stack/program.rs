//! The functions of a program for a Cortex-M or a RISC-V core, read from its ELF file.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use object::{Architecture, Object, ObjectSection, ObjectSymbol, SectionKind, SymbolKind};

/// A function of a program.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub(crate) name: String,
    /// Behind its last byte.
    pub(crate) end: u64,
    /// The bytes of stack that the compiler recorded (`-Z emit-stack-sizes`); none of functions that it did not compile.
    pub(crate) recorded: Option<u64>,
}

/// A program's code and functions.
pub(crate) struct Program {
    pub(crate) architecture: Architecture,
    /// By address, which is even.
    pub(crate) functions: BTreeMap<u64, Function>,
    /// Whether data (true) or instructions (false) begin at an address, which mapping symbols say.
    data: BTreeMap<u64, bool>,
    /// The executable sections by their addresses.
    code: BTreeMap<u64, Vec<u8>>,
    /// The sections with constants by their addresses.
    constants: BTreeMap<u64, Vec<u8>>,
    /// Addresses by every name.
    names: BTreeMap<String, u64>,
}

impl Program {
    /// Reads an ELF file that was compiled with `-Z emit-stack-sizes`.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        let file = object::File::parse(&*bytes).with_context(|| format!("{}", path.display()))?;
        let architecture = file.architecture();
        let is_known = matches!(architecture, Architecture::Arm | Architecture::Riscv32);
        ensure!(is_known, "{} is for neither a Cortex-M nor a RISC-V core", path.display());
        let (mut code, mut constants) = (BTreeMap::new(), BTreeMap::new());
        for section in file.sections() {
            let sections = match section.kind() {
                SectionKind::Text => &mut code,
                SectionKind::ReadOnlyData | SectionKind::ReadOnlyString => &mut constants,
                _ => continue,
            };
            sections.insert(section.address(), section.data()?.to_vec());
        }
        let section = file.section_by_name(".stack_sizes");
        let section = section.with_context(|| format!("{} has no stack sizes", path.display()))?;
        let recorded = records(section.data()?)?;
        let (mut functions, mut data, mut names) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let is_text =
            |index| file.section_by_index(index).is_ok_and(|found| found.kind() == SectionKind::Text);
        // Debugging data have marks and offsets of their own.
        for symbol in file.symbols().filter(|symbol| symbol.section_index().is_some_and(is_text)) {
            // Bit 0 of a function's address says Thumb.
            let (name, addr) = (symbol.name()?.to_owned(), symbol.address() & !1);
            match name.split('.').next() {
                Some("$d") => _ = data.insert(addr, true),
                Some("$t") => _ = data.insert(addr, false),
                // Which may go on with the core's extensions.
                Some(mark) if mark.starts_with("$x") => _ = data.insert(addr, false),
                _ if symbol.kind() == SymbolKind::Text => {
                    names.insert(name.clone(), addr);
                    let recorded = recorded.get(&addr).copied();
                    let end = addr + symbol.size();
                    functions.entry(addr).or_insert(Function { name, end, recorded });
                }
                _ => {}
            }
        }
        let mut program = Self { architecture, functions, data, code, constants, names };
        program.close();
        Ok(program)
    }

    /// Gives functions without a size one: up to the next.
    fn close(&mut self) {
        let starts: Vec<u64> = self.functions.keys().copied().collect();
        for (start, function) in &mut self.functions {
            if function.end == *start {
                let next = starts.iter().copied().find(|next| next > start);
                let section = self.code.range(..=start).next_back();
                let end = section.map_or(*start, |(addr, bytes)| addr + bytes.len() as u64);
                function.end = next.map_or(end, |next| next.min(end));
            }
        }
    }

    /// The address of a function.
    pub(crate) fn addr(&self, name: &str) -> Result<u64> {
        self.names.get(name).copied().with_context(|| format!("the program has no function {name}"))
    }

    /// A function's name for people.
    pub(crate) fn shown(&self, addr: u64) -> String {
        match self.functions.get(&addr) {
            Some(function) => format!("{:#}", rustc_demangle::demangle(&function.name)),
            None => format!("{addr:#x}"),
        }
    }

    /// The pieces of a function that are instructions, with their addresses.
    pub(crate) fn instructions(&self, start: u64) -> Result<Vec<(u64, &[u8])>> {
        let function = self.functions.get(&start);
        let end = function.with_context(|| format!("there is no function at {start:#x}"))?.end;
        let (section, bytes) = self.code.range(..=start).next_back().context("code outside all sections")?;
        let piece = |from: u64, to: u64| bytes.get((from - section) as usize..(to - section) as usize);
        let mut pieces = Vec::new();
        let mut from = start;
        while from < end {
            let is_data = self.data.range(..=from).next_back().is_some_and(|(_, data)| *data);
            let change = self.data.range(from + 1..end).find(|(_, data)| **data != is_data);
            let to = change.map_or(end, |(addr, _)| *addr);
            if !is_data {
                pieces.push((from, piece(from, to).context("a function outside its section")?));
            }
            from = to;
        }
        ensure!(!pieces.is_empty(), "{} has no instructions", self.shown(start));
        Ok(pieces)
    }

    /// A word of a constant.
    pub(crate) fn word(&self, addr: u64) -> Result<u64> {
        let section = self.constants.range(..=addr).next_back();
        let word = section.and_then(|(start, bytes)| bytes.get((addr - start) as usize..)?.first_chunk());
        let word = word.with_context(|| format!("there is no constant at {addr:#x}"))?;
        Ok(u64::from(u32::from_le_bytes(*word)))
    }

    /// Whether data begin at an address.
    pub(crate) fn is_data(&self, addr: u64) -> bool {
        self.data.range(..=addr).next_back().is_some_and(|(_, data)| *data)
    }
}

/// The sizes by function: pairs of a 32-bit address and an unsigned LEB128 number.
fn records(mut bytes: &[u8]) -> Result<BTreeMap<u64, u64>> {
    let mut sizes = BTreeMap::new();
    while let Some((addr, rest)) = bytes.split_first_chunk::<4>() {
        bytes = rest;
        let (mut size, mut shift) = (0u64, 0);
        loop {
            let Some((&byte, rest)) = bytes.split_first() else {
                bail!("the stack sizes end within a number")
            };
            bytes = rest;
            size |= u64::from(byte & 0x7F) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                break;
            }
        }
        sizes.insert(u64::from(u32::from_le_bytes(*addr) & !1), size);
    }
    ensure!(bytes.is_empty(), "the stack sizes end within an address");
    Ok(sizes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_addresses_and_leb128() {
        let bytes = [0x01, 0x10, 0, 0, 0x08, 0x00, 0x20, 0, 0, 0x80, 0x02];
        let sizes = records(&bytes).unwrap();
        assert_eq!(sizes, BTreeMap::from([(0x1000, 8), (0x2000, 256)]));
        assert!(records(&bytes[..10]).is_err());
        assert!(records(&bytes[..3]).is_err());
    }
}
