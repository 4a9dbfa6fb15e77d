//! What stands in a firmware's ELF file.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use object::{Object, ObjectSection, ObjectSymbol, SectionFlags, SectionKind, elf};

/// What a firmware image takes on a device, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageSize {
    /// Code, constants and the initial values of variables.
    pub flash_bytes: u64,
    /// Variables; the stack comes on top.
    pub static_ram_bytes: u64,
}

/// Adds up the sections of an ELF file that a device holds.
///
/// # Errors
///
/// If the file cannot be read, or is no ELF file.
pub fn image_size(elf: &Path) -> Result<ImageSize> {
    let bytes = read(elf)?;
    let mut size = ImageSize { flash_bytes: 0, static_ram_bytes: 0 };
    for section in object::File::parse(&*bytes)?.sections() {
        let SectionFlags::Elf { sh_flags } = section.flags() else { continue };
        if sh_flags & u64::from(elf::SHF_ALLOC) == 0 {
            continue;
        }
        // What is left of the memory, which riscv-rt gives sections of their own.
        if matches!(section.name(), Ok(".heap" | ".stack")) {
            continue;
        }
        let zeroed = section.kind() == SectionKind::UninitializedData;
        if !zeroed {
            size.flash_bytes += section.size();
        }
        if zeroed || sh_flags & u64::from(elf::SHF_WRITE) != 0 {
            size.static_ram_bytes += section.size();
        }
    }
    Ok(size)
}

/// What an ELF file puts into a device's flash: each section's address, and its bytes.
///
/// # Errors
///
/// If the file cannot be read, or is no ELF file.
pub fn flashed_bytes(elf: &Path) -> Result<Vec<u8>> {
    let bytes = read(elf)?;
    let mut flashed = Vec::new();
    for section in object::File::parse(&*bytes)?.sections() {
        let SectionFlags::Elf { sh_flags } = section.flags() else { continue };
        if sh_flags & u64::from(elf::SHF_ALLOC) != 0 && section.kind() != SectionKind::UninitializedData {
            flashed.extend(section.address().to_le_bytes());
            flashed.extend(section.data()?);
        }
    }
    Ok(flashed)
}

/// The sizes of the functions and constants of an ELF file, by their symbols.
///
/// # Errors
///
/// If the file cannot be read, or is no ELF file.
pub fn symbol_sizes(elf: &Path) -> Result<BTreeMap<String, u64>> {
    let bytes = read(elf)?;
    let file = object::File::parse(&*bytes)?;
    let symbols = file.symbols().filter(|symbol| symbol.size() > 0);
    Ok(symbols.filter_map(|symbol| Some((symbol.name().ok()?.to_owned(), symbol.size()))).collect())
}

/// The instructions of a function of an Arm ELF file, one a line, without addresses, as arm-none-eabi-objdump shows them.
///
/// # Errors
///
/// If there is no such program or no such function.
pub fn function_assembly(elf: &Path, name: &str) -> Result<String> {
    let output = Command::new("arm-none-eabi-objdump")
        .args(["--disassemble", "--no-show-raw-insn", "--no-addresses"])
        .arg(format!("--disassemble={name}"))
        .arg(elf)
        .output()
        .context("arm-none-eabi-objdump was not found")?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut assembly = String::from(".syntax unified\n");
    for line in text.lines().filter_map(|line| line.strip_prefix('\t')) {
        // Places in the code are named by address and symbol, which an assembler does not take.
        let line = line.split(&['@', ';'][..]).next().unwrap_or(line).trim();
        if line.starts_with('.') || line.contains('<') || line.is_empty() {
            continue;
        }
        assembly.push_str(line);
        assembly.push('\n');
    }
    ensure!(assembly.lines().count() > 1, "{} has no function {name}", elf.display());
    Ok(assembly)
}

/// The address of a symbol of an ELF file.
pub(crate) fn symbol_addr(elf: &[u8], name: &str) -> Result<u64> {
    let file = object::File::parse(elf)?;
    let symbol = file.symbols().find(|symbol| symbol.name() == Ok(name));
    Ok(symbol.with_context(|| format!("the firmware has no symbol {name}"))?.address())
}

/// The address of a symbol of the program in an ELF file.
///
/// # Errors
///
/// If the file cannot be read, is no ELF file, or has no such symbol.
pub fn symbol_addr_of(elf: &Path, name: &str) -> Result<u64> {
    symbol_addr(&read(elf)?, name)
}

pub(crate) fn read(path: &Path) -> Result<Vec<u8>> {
    fs::read(path).with_context(|| format!("cannot read {}", path.display()))
}
