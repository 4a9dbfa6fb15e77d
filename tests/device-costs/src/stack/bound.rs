//! The most stack that a call can take: the sum over the deepest path of the graph of calls.
//!
//! What a function takes is what the compiler recorded of it. Of functions that it did not compile (the intrinsics that
//! come with Rust's libraries) it is the sum of all that its instructions take, each counted once; of the others the same
//! sum must not be below the record. A jump out of a function counts as a call.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result, bail, ensure};

use super::effect::{Disassembler, Effect, Step};
use super::program::Program;

/// What is known of a call of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bound {
    pub(crate) bytes: u64,
    /// The functions of the deepest path, each with the bytes that it takes itself.
    pub(crate) path: Vec<(String, u64)>,
    /// How many functions can be reached.
    pub(crate) functions: usize,
}

/// A function's own part.
#[derive(Clone, Debug)]
struct Frame {
    bytes: u64,
    calls: BTreeSet<u64>,
}

/// Bounds of the functions of one program.
pub(crate) struct Bounds<'p> {
    program: &'p Program,
    disassembler: Disassembler,
    frames: BTreeMap<u64, Frame>,
    deepest: BTreeMap<u64, (u64, Option<u64>)>,
}

impl<'p> Bounds<'p> {
    pub(crate) fn new(program: &'p Program) -> Result<Self> {
        let disassembler = Disassembler::new(program.architecture)?;
        Ok(Self { program, disassembler, frames: BTreeMap::new(), deepest: BTreeMap::new() })
    }

    /// The bound of a call of a function.
    ///
    /// Fails if it can reach itself again, calls what a register holds, or moves the stack pointer by what is not in the
    /// code: then there is none.
    pub(crate) fn of(&mut self, name: &str) -> Result<Bound> {
        let start = self.program.addr(name)?;
        let bytes = self.descend(start, &mut Vec::new())?;
        let mut path = Vec::new();
        let mut next = Some(start);
        while let Some(addr) = next {
            let frame = self.frames.get(&addr).map_or(0, |frame| frame.bytes);
            path.push((self.program.shown(addr), frame));
            next = self.deepest.get(&addr).and_then(|(_, next)| *next);
        }
        let mut reached = BTreeSet::from([start]);
        let mut open = vec![start];
        while let Some(addr) = open.pop() {
            let calls = self.frames.get(&addr).into_iter().flat_map(|frame| &frame.calls);
            open.extend(calls.filter(|call| reached.insert(**call)));
        }
        Ok(Bound { bytes, path, functions: reached.len() })
    }

    fn descend(&mut self, addr: u64, above: &mut Vec<u64>) -> Result<u64> {
        if let Some((bytes, _)) = self.deepest.get(&addr) {
            return Ok(*bytes);
        }
        if let Some(first) = above.iter().position(|&other| other == addr) {
            let cycle: Vec<String> = above[first..].iter().map(|&addr| self.program.shown(addr)).collect();
            bail!("{} can call itself by way of {}", self.program.shown(addr), cycle.join(" -> "));
        }
        let frame = self.frame(addr)?;
        self.frames.insert(addr, frame.clone());
        above.push(addr);
        let (mut most, mut next) = (0, None);
        for &call in &frame.calls {
            let bytes = self.descend(call, above)?;
            if bytes > most || next.is_none() {
                (most, next) = (bytes, Some(call));
            }
        }
        above.pop();
        let bytes = frame.bytes + most;
        self.deepest.insert(addr, (bytes, next));
        Ok(bytes)
    }

    /// What a function takes itself, and what it calls.
    fn frame(&self, start: u64) -> Result<Frame> {
        let program = self.program;
        let Some(function) = program.functions.get(&start) else {
            bail!("code at {start:#x} belongs to no function");
        };
        let shown = program.shown(start);
        let (mut taken, mut calls) = (0, BTreeSet::new());
        for (from, code) in program.instructions(start)? {
            let steps = self.disassembler.steps(code, from)?;
            let end = steps.last().map_or(from, |last| last.end);
            for Step { addr, end, text, effect } in &steps {
                let place = || format!("{shown}, at {addr:#x} (`{text}`)");
                match *effect {
                    Effect::None => {}
                    Effect::Takes(bytes) => taken += bytes,
                    Effect::Goes(target) if (start..function.end).contains(&target) && target != start => {}
                    Effect::Goes(target) => _ = calls.insert(target),
                    Effect::CallsRegister => bail!("an indirect call in {}", place()),
                    // The table behind the instruction may be aligned.
                    Effect::JumpsByTable => ensure!(
                        program.is_data(*end) || program.is_data(end + 2),
                        "an indirect jump in {}",
                        place()
                    ),
                    Effect::JumpsByTableAt(table) => {
                        let first = program.word(table).with_context(place)?;
                        ensure!((start..function.end).contains(&first), "an indirect jump in {}", place());
                    }
                    Effect::Moves => bail!("the stack pointer is moved in {}", place()),
                }
            }
            ensure!(end == from + code.len() as u64, "{shown} holds what is no instruction at {end:#x}");
        }
        let bytes = match function.recorded {
            Some(recorded) => {
                ensure!(
                    taken >= recorded,
                    "{shown} takes {taken} bytes of stack by its instructions, {recorded} by the compiler's record"
                );
                recorded
            }
            None => taken,
        };
        Ok(Frame { bytes, calls })
    }
}
