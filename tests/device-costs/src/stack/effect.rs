//! What an instruction does to the stack and to the flow of control.

use std::collections::BTreeSet;

use anyhow::Result;
use capstone::arch::{BuildsCapstone, BuildsCapstoneExtraMode, arm, riscv};
use capstone::{Capstone, Insn};
use object::Architecture;

use super::registers::Registers;

/// What matters of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// Nothing, or gives stack back.
    None,
    /// Takes so many bytes of stack.
    Takes(u64),
    /// Calls, or jumps to, this address.
    Goes(u64),
    /// Calls what a register holds.
    CallsRegister,
    /// Jumps to what a register or a table holds: within the function, if the table lies behind the instruction.
    JumpsByTable,
    /// Jumps to an entry of the table at this address.
    JumpsByTableAt(u64),
    /// Moves the stack pointer in a way that is not known here.
    Moves,
}

/// An instruction.
#[derive(Debug)]
pub(crate) struct Step {
    pub(crate) addr: u64,
    /// Behind its last byte.
    pub(crate) end: u64,
    pub(crate) text: String,
    pub(crate) effect: Effect,
}

/// A disassembler for the code of a core.
pub(crate) enum Disassembler {
    Thumb(Capstone),
    RiscV(Capstone),
}

impl Disassembler {
    /// Of Thumb, or of RISC-V for everything else.
    pub(crate) fn new(architecture: Architecture) -> Result<Self> {
        Ok(if architecture == Architecture::Arm {
            let modes = [arm::ArchExtraMode::MClass, arm::ArchExtraMode::V8].into_iter();
            Self::Thumb(Capstone::new().arm().mode(arm::ArchMode::Thumb).extra_mode(modes).build()?)
        } else {
            let modes = [riscv::ArchExtraMode::RiscVC].into_iter();
            Self::RiscV(Capstone::new().riscv().mode(riscv::ArchMode::RiscV32).extra_mode(modes).build()?)
        })
    }

    /// What each instruction of a piece of code does, up to the first that is none.
    pub(crate) fn steps(&self, code: &[u8], start: u64) -> Result<Vec<Step>> {
        let (Self::Thumb(capstone) | Self::RiscV(capstone)) = self;
        let instructions = capstone.disasm_all(code, start).map_err(|error| anyhow::anyhow!("{error}"))?;
        let mut registers = match self {
            Self::Thumb(_) => None,
            Self::RiscV(_) => Some(Registers::new(joins(&instructions))),
        };
        let step = |instruction: &Insn<'_>| {
            let (mnemonic, operands) = parts(instruction);
            let addr = instruction.address();
            let effect = match &mut registers {
                None => of_thumb(mnemonic, operands),
                Some(registers) => registers.step(addr, mnemonic, operands),
            };
            Step { addr, end: addr + instruction.bytes().len() as u64, text: instruction.to_string(), effect }
        };
        Ok(instructions.iter().map(step).collect())
    }
}

fn parts<'i>(instruction: &'i Insn<'_>) -> (&'i str, &'i str) {
    (instruction.mnemonic().unwrap_or(""), instruction.op_str().unwrap_or(""))
}

/// Where jumps arrive, of RISC-V.
fn joins(instructions: &[Insn<'_>]) -> BTreeSet<u64> {
    let targets = instructions.iter().filter_map(|instruction| {
        let (mnemonic, operands) = parts(instruction);
        super::registers::jump(instruction.address(), mnemonic, operands)
    });
    targets.collect()
}

fn of_thumb(mnemonic: &str, operands: &str) -> Effect {
    let mnemonic = mnemonic.trim_end_matches(".w");
    let first = operands.split(',').next().unwrap_or("").trim();
    match mnemonic {
        "push" | "vpush" => return Effect::Takes(registers(operands)),
        "stmdb" if first == "sp!" => return Effect::Takes(registers(operands)),
        "bl" | "blx" | "b" | "cbz" | "cbnz" => return goes(operands),
        "bx" => return if first == "lr" { Effect::None } else { Effect::CallsRegister },
        // By offsets that lie behind the instruction.
        "tbb" | "tbh" if operands.starts_with("[pc") => return Effect::None,
        "tbb" | "tbh" => return Effect::CallsRegister,
        _ => {}
    }
    // Conditional branches and returns.
    if let Some(condition) = mnemonic.strip_prefix('b')
        && CONDITIONS.contains(&condition)
    {
        return goes(operands);
    }
    if let Some(condition) = mnemonic.strip_prefix("bx").or(mnemonic.strip_prefix("blx"))
        && CONDITIONS.contains(&condition)
    {
        return if first == "lr" { Effect::None } else { Effect::CallsRegister };
    }
    if first == "pc" {
        // `ldr pc, [sp], #4` returns.
        return if operands.contains("[sp]") { Effect::None } else { Effect::JumpsByTable };
    }
    match immediate(operands) {
        // Written back, before or after the access.
        Some(offset) if operands.contains("[sp, #") && operands.ends_with("]!") => taken(-offset),
        Some(offset) if operands.contains("[sp], #") => taken(-offset),
        Some(bytes) if first == "sp" && mnemonic.starts_with("sub") && of_itself(operands) => taken(bytes),
        Some(bytes) if first == "sp" && mnemonic.starts_with("add") && of_itself(operands) => taken(-bytes),
        _ if first == "sp" && !READS_ONLY.iter().any(|start| mnemonic.starts_with(start)) => Effect::Moves,
        _ if operands.contains("sp!") && (mnemonic.starts_with("pop") || mnemonic.starts_with("ldm")) => {
            Effect::None
        }
        _ if operands.contains("sp!") || operands.contains("[sp, r") && operands.ends_with('!') => {
            Effect::Moves
        }
        _ => Effect::None,
    }
}

/// Instructions that leave their first register as it is: comparisons, and several loads or stores without write-back.
const READS_ONLY: [&str; 4] = ["cm", "st", "ldm", "vldm"];

const CONDITIONS: [&str; 16] =
    ["eq", "ne", "hs", "cs", "lo", "cc", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le"];

fn goes(operands: &str) -> Effect {
    match immediate(operands.rsplit(',').next().unwrap_or("").trim()) {
        Some(target) => Effect::Goes(target as u64),
        None => Effect::CallsRegister,
    }
}

const fn taken(bytes: i64) -> Effect {
    if bytes > 0 { Effect::Takes(bytes.unsigned_abs()) } else { Effect::None }
}

/// Whether the stack pointer is added to or subtracted from, not set anew.
fn of_itself(operands: &str) -> bool {
    let words: Vec<&str> = operands.split(',').map(str::trim).collect();
    words.len() == 2 || words.get(1) == Some(&"sp")
}

/// The last `#number`.
fn immediate(operands: &str) -> Option<i64> {
    let (_, number) = operands.rsplit_once('#')?;
    let number = number.trim_end_matches(['!', ']']).trim();
    let (negative, digits) = match number.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, number),
    };
    let value = match digits.strip_prefix("0x") {
        Some(digits) => i64::from_str_radix(digits, 16).ok()?,
        None => digits.parse().ok()?,
    };
    Some(if negative { -value } else { value })
}

/// How many bytes the registers between braces take: 8 for one of double precision.
fn registers(operands: &str) -> u64 {
    let list = operands.split_once('{').map_or("", |(_, list)| list).trim_end_matches('}');
    list.split(',').map(|register| if register.trim().starts_with('d') { 8 } else { 4 }).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thumb_as_compilers_write_it() {
        let code = [
            0xf0, 0xb5, // push {r4, r5, r6, r7, lr}
            0x2d, 0xe9, 0xf0, 0x4f, // push.w {r4-r11, lr}
            0x2d, 0xed, 0x04, 0x8b, // vpush {d8, d9}
            0x86, 0xb0, // sub sp, #24
            0xad, 0xf5, 0x80, 0x7d, // sub.w sp, sp, #256
            0x4d, 0xf8, 0x04, 0xbd, // str r11, [sp, #-4]!
            0x5d, 0xf8, 0x04, 0xbb, // ldr r11, [sp], #4
            0x06, 0xb0, // add sp, #24
            0xf0, 0xbd, // pop {r4, r5, r6, r7, pc}
            0x00, 0xf0, 0x02, 0xf8, // bl
            0x70, 0x47, // bx lr
            0x10, 0x47, // bx r2
            0x90, 0x47, // blx r2
            0xdf, 0xe8, 0x00, 0xf0, // tbb [pc, r0]
            0x87, 0x46, // mov pc, r0
            0xbd, 0x46, // mov sp, r7
            0x85, 0x44, // add sp, r0
            0x01, 0x90, // str r0, [sp, #4]
            0x9d, 0xe8, 0x07, 0x00, // ldm.w sp, {r0, r1, r2}
            0x9d, 0xec, 0x04, 0x0b, // vldmia sp, {d0, d1}
        ];
        use Effect::{CallsRegister, Goes, JumpsByTable, Moves, None, Takes};
        let expected = [
            Takes(20),
            Takes(36),
            Takes(16),
            Takes(24),
            Takes(256),
            Takes(4),
            None,
            None,
            None,
            Goes(0x124),
            None,
            CallsRegister,
            CallsRegister,
            None,
            JumpsByTable,
            Moves,
            Moves,
            None,
            None,
            None,
        ];
        let disassembler = Disassembler::new(Architecture::Arm).unwrap();
        let steps = disassembler.steps(&code, 0x100).unwrap();
        assert_eq!(steps.iter().map(|step| step.effect).collect::<Vec<_>>(), expected);
        assert_eq!(steps.last().unwrap().end, 0x100 + code.len() as u64);
    }
}
