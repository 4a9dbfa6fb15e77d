//! What the instructions of a RISC-V core do: where jumps by a register go is known from what was put into it.

use std::collections::{BTreeMap, BTreeSet};

use super::effect::Effect;

/// What is known of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    /// This number.
    Number(u64),
    /// This number, and something that is not known: the address of an entry of a table.
    Entry(u64),
    /// What was loaded from a table at this address.
    Loaded(u64),
}

/// What is known of the registers on the way through a function, from one instruction to the next.
pub(super) struct Registers {
    known: BTreeMap<String, Content>,
    /// Where jumps arrive: there nothing is known.
    joins: BTreeSet<u64>,
}

impl Registers {
    pub(super) fn new(joins: BTreeSet<u64>) -> Self {
        Self { known: BTreeMap::new(), joins }
    }

    /// Takes an instruction into account, and says what it does.
    pub(super) fn step(&mut self, addr: u64, mnemonic: &str, operands: &str) -> Effect {
        if self.joins.contains(&addr) {
            self.known.clear();
        }
        let mnemonic = mnemonic.trim_start_matches("c.");
        let words = split(operands);
        if let Some(target) = jump(addr, mnemonic, operands) {
            if is_call(mnemonic, &words) {
                self.known.clear();
            }
            return Effect::Goes(target);
        }
        match (mnemonic, &words[..]) {
            ("ret", _) | ("jr", ["ra"]) => Effect::None,
            ("jr" | "jalr", _) => self.jump_by_register(mnemonic, &words),
            (_, ["sp", rest @ ..]) if !is_store(mnemonic) => sp(mnemonic, rest),
            _ => {
                self.write(addr, mnemonic, &words);
                Effect::None
            }
        }
    }

    fn jump_by_register(&mut self, mnemonic: &str, words: &[&str]) -> Effect {
        // `jr a0`, `jr 8(t1)`, `jalr a0`, `jalr ra, 8(ra)`, `jalr ra, ra, 8`, `jalr zero, 8(t1)`.
        let (link, target) = match words {
            [target] => (if mnemonic == "jr" { "zero" } else { "ra" }, address(target)),
            [link, target] => (*link, address(target)),
            [link, base, offset] => (*link, number(offset).map(|offset| (*base, offset))),
            _ => return Effect::CallsRegister,
        };
        let content = target.and_then(|(base, offset)| Some((*self.known.get(base)?, offset)));
        let is_return = link == "zero" && target == Some(("ra", 0)) && content.is_none();
        self.known.clear();
        match content {
            Some((Content::Number(base), offset)) => {
                Effect::Goes(base.wrapping_add_signed(offset) & 0xFFFF_FFFE)
            }
            Some((Content::Loaded(table), 0)) if link == "zero" => Effect::JumpsByTableAt(table),
            _ if is_return => Effect::None,
            _ => Effect::CallsRegister,
        }
    }

    /// What an instruction leaves in the register that it writes.
    fn write(&mut self, addr: u64, mnemonic: &str, words: &[&str]) {
        if is_store(mnemonic) || mnemonic.starts_with('b') {
            return;
        }
        let Some((&to, from)) = words.split_first() else { return };
        let known = |register: &str| self.known.get(register).copied();
        let upper = |word: &str| number(word).map(|upper| (upper as u64) << 12);
        let content = match (mnemonic, from) {
            ("lui", [word]) => upper(word).map(|upper| Content::Number(upper & 0xFFFF_FFFF)),
            ("auipc", [word]) => {
                upper(word).map(|upper| Content::Number(addr.wrapping_add(upper) & 0xFFFF_FFFF))
            }
            ("addi", [word]) => plus(known(to), number(word)),
            ("addi", [base, word]) => plus(known(base), number(word)),
            ("mv", [from]) => known(from),
            // Compressed, it adds to the register that it writes.
            ("add", [other]) => entry(known(to), known(other)),
            ("add", [a, b]) => entry(known(a), known(b)),
            ("lw", [from]) => match address(from).map(|(base, offset)| plus(known(base), Some(offset))) {
                Some(Some(Content::Entry(table) | Content::Number(table))) => Some(Content::Loaded(table)),
                _ => None,
            },
            _ => None,
        };
        match content {
            Some(content) => _ = self.known.insert(to.to_owned(), content),
            None => _ = self.known.remove(to),
        }
    }
}

/// Where a jump or branch goes that has its target in it.
pub(super) fn jump(addr: u64, mnemonic: &str, operands: &str) -> Option<u64> {
    let mnemonic = mnemonic.trim_start_matches("c.");
    let is_jump = matches!(mnemonic, "j" | "jal")
        || (mnemonic.starts_with('b') && BRANCHES.contains(&mnemonic.trim_end_matches(['u', 'z'])));
    let offset = number(split(operands).last()?)?;
    is_jump.then(|| addr.wrapping_add_signed(offset))
}

const BRANCHES: [&str; 6] = ["beq", "bne", "blt", "bge", "bgt", "ble"];

fn is_call(mnemonic: &str, words: &[&str]) -> bool {
    mnemonic == "jal" && words.first() != Some(&"zero")
}

fn is_store(mnemonic: &str) -> bool {
    matches!(mnemonic.trim_end_matches("sp"), "sw" | "sh" | "sb")
}

/// What is added to the stack pointer: `addi sp, sp, -16`, `c.addi16sp sp, -16`.
fn sp(mnemonic: &str, from: &[&str]) -> Effect {
    let bytes = match (mnemonic, from) {
        ("addi", ["sp", bytes]) | ("addi" | "addi16sp", [bytes]) => number(bytes),
        _ => None,
    };
    match bytes {
        Some(bytes) if bytes < 0 => Effect::Takes(bytes.unsigned_abs()),
        Some(_) => Effect::None,
        None => Effect::Moves,
    }
}

fn plus(content: Option<Content>, offset: Option<i64>) -> Option<Content> {
    let offset = offset?;
    match content? {
        Content::Number(base) => Some(Content::Number(base.wrapping_add_signed(offset) & 0xFFFF_FFFF)),
        Content::Entry(base) => Some(Content::Entry(base.wrapping_add_signed(offset) & 0xFFFF_FFFF)),
        Content::Loaded(_) => None,
    }
}

/// An address in a table: of two registers one holds a number.
const fn entry(a: Option<Content>, b: Option<Content>) -> Option<Content> {
    match (a, b) {
        (Some(Content::Number(table)), None) | (None, Some(Content::Number(table))) => {
            Some(Content::Entry(table))
        }
        _ => None,
    }
}

fn split(operands: &str) -> Vec<&str> {
    operands.split(',').map(str::trim).filter(|word| !word.is_empty()).collect()
}

/// A register and an offset: `8(t1)`, or `t1`.
fn address(word: &str) -> Option<(&str, i64)> {
    match word.split_once('(') {
        Some((offset, base)) => Some((base.trim_end_matches(')'), number(offset)?)),
        None => Some((word, 0)),
    }
}

fn number(word: &str) -> Option<i64> {
    let (negative, digits) = match word.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, word),
    };
    let value = match digits.strip_prefix("0x") {
        Some(digits) => i64::from_str_radix(digits, 16).ok()?,
        None => digits.parse().ok()?,
    };
    Some(if negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use object::Architecture;

    use super::super::effect::Disassembler;
    use super::*;

    #[test]
    fn risc_v_as_compilers_write_it() {
        let code = [
            0x41, 0x11, // addi sp, sp, -16
            0x39, 0x71, // addi sp, sp, -64
            0x13, 0x01, 0x01, 0x80, // addi sp, sp, -2048
            0x06, 0xc6, // sw ra, 12(sp)
            0x97, 0x00, 0x00, 0x00, // auipc ra, 0
            0xe7, 0x80, 0x00, 0x02, // jalr 32(ra)
            0x63, 0x09, 0xb5, 0x00, // beq a0, a1, 18 further
            0x0a, 0x05, // slli a0, a0, 2
            0xd9, 0x65, // lui a1, 22
            0x93, 0x85, 0x45, 0x10, // addi a1, a1, 260
            0x2e, 0x95, // add a0, a0, a1
            0x08, 0x41, // lw a0, 0(a0)
            0x02, 0x85, // jr a0
            0x82, 0x97, // jalr a5
            0x82, 0x87, // jr a5
            0x17, 0x13, 0x00, 0x00, // auipc t1, 1
            0x67, 0x00, 0x83, 0x00, // jr 8(t1)
            0xef, 0xf0, 0x1f, 0xfd, // jal 48 back
            0xf1, 0xb7, // j 52 back
            0x88, 0x41, // lw a0, 0(a1)
            0x02, 0x85, // jr a0
            0x41, 0x01, // addi sp, sp, 16
            0x13, 0x01, 0x04, 0xff, // addi sp, s0, -16
            0x59, 0x65, // lui a0, 22
            0x11, 0xc1, // beqz a0, 4 further
            0x01, 0x00, // nop
            0x02, 0x85, // jr a0: from two places
            0x82, 0x80, // ret
        ];
        use Effect::{CallsRegister, Goes, JumpsByTableAt, Moves, None, Takes};
        let expected = [
            Takes(16),
            Takes(64),
            Takes(2048),
            None,
            None,
            Goes(0x102a),
            Goes(0x1024),
            None,
            None,
            None,
            None,
            None,
            JumpsByTableAt(0x16104),
            CallsRegister,
            CallsRegister,
            None,
            Goes(0x2030),
            Goes(0x1000),
            Goes(0x1000),
            None,
            CallsRegister,
            None,
            Moves,
            None,
            Goes(0x1046),
            None,
            CallsRegister,
            None,
        ];
        let disassembler = Disassembler::new(Architecture::Riscv32).unwrap();
        let steps = disassembler.steps(&code, 0x1000).unwrap();
        let shown: Vec<String> =
            steps.iter().map(|step| format!("{}: {:?}", step.text, step.effect)).collect();
        assert_eq!(steps.iter().map(|step| step.effect).collect::<Vec<_>>(), expected, "{shown:#?}");
    }
}
