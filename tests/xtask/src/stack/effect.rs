//! What an instruction does to the stack and to the flow of control.

use anyhow::Result;
use capstone::arch::{BuildsCapstone, BuildsCapstoneExtraMode, arm};
use capstone::{Capstone, Insn};

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
    /// Moves the stack pointer in a way that is not known here.
    Moves,
}

/// A disassembler for the code of a Cortex-M.
pub(crate) fn disassembler() -> Result<Capstone> {
    let modes = [arm::ArchExtraMode::MClass, arm::ArchExtraMode::V8].into_iter();
    Ok(Capstone::new().arm().mode(arm::ArchMode::Thumb).extra_mode(modes).build()?)
}

/// What an instruction does.
pub(crate) fn effect(instruction: &Insn<'_>) -> Effect {
    of_thumb(instruction.mnemonic().unwrap_or(""), instruction.op_str().unwrap_or(""))
}

fn of_thumb(mnemonic: &str, operands: &str) -> Effect {
    let mnemonic = mnemonic.trim_end_matches(".w");
    let first = operands.split(',').next().unwrap_or("").trim();
    match mnemonic {
        "push" | "vpush" => return Effect::Takes(registers(operands)),
        "stmdb" if first == "sp!" => return Effect::Takes(registers(operands)),
        "bl" | "blx" | "b" | "cbz" | "cbnz" => return goes(operands),
        "bx" => return if first == "lr" { Effect::None } else { Effect::CallsRegister },
        "tbb" | "tbh" => return Effect::JumpsByTable,
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
        _ if first == "sp" && !mnemonic.starts_with("cm") && !mnemonic.starts_with("st") => Effect::Moves,
        _ if operands.contains("sp!") && (mnemonic.starts_with("pop") || mnemonic.starts_with("ldm")) => {
            Effect::None
        }
        _ if operands.contains("sp!") || operands.contains("[sp, r") && operands.ends_with('!') => {
            Effect::Moves
        }
        _ => Effect::None,
    }
}

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
            JumpsByTable,
            JumpsByTable,
            Moves,
            Moves,
            None,
        ];
        let capstone = disassembler().unwrap();
        let instructions = capstone.disasm_all(&code, 0x100).unwrap();
        assert_eq!(instructions.iter().map(effect).collect::<Vec<_>>(), expected);
    }
}
