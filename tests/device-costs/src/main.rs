//! What is measured and proved of programs for devices; `cargo xtask` builds and calls it.

mod answers;
mod device;
mod kills;
mod load;
mod prove;
mod reproducible;
mod sizes;
mod stack;

mod flags {
    #![allow(missing_docs, unreachable_pub)]

    use std::path::PathBuf;

    xflags::xflags! {
        cmd measure {
            /// Count instructions, bytes and stack on every emulated core, next to functions in C.
            cmd device {
                /// Replace the committed counts by these.
                optional --write-baseline
                /// Print nothing; fail if a count has grown, or a stack is over its budget.
                optional --check
            }
            /// Link a program only if neither calib-core nor the firmware's library can panic.
            cmd prove {}
            /// Bound the stack of what a device calls for every score, on every core.
            cmd stack {
                /// Print nothing, emulate nothing; fail if a bound is over its budget.
                optional --check
            }
            /// Show where the flash goes.
            cmd sizes {
                /// Of programs in C alone; fail if the library's README says otherwise.
                optional --c
            }
            /// Put a device's serial line under load for so many minutes.
            cmd load { required minutes: f64 }
            /// Kill the emulator during so many updates.
            cmd kills { required count: usize }
            /// Print what an emulated device with an artifact answers to the rows in a file.
            cmd answers {
                required artifact: PathBuf
                /// What a row is: score, margin, code, codes, probs or logits.
                required kind: String
                /// 32-bit little-endian numbers, row by row.
                required rows: PathBuf
            }
            /// Build twice, in two folders and environments, and compare.
            cmd reproducible {
                /// One board, and the `calib` that is built already.
                optional --sample
            }
        }
    }
}

fn main() -> anyhow::Result<()> {
    use flags::MeasureCmd::*;
    match flags::Measure::from_env_or_exit().subcommand {
        Device(flags::Device { check: true, .. }) => device::check(),
        Device(flags::Device { write_baseline, .. }) => device::device(write_baseline),
        Prove(_) => prove::prove(),
        Stack(flags::Stack { check: true }) => stack::check(),
        Stack(_) => stack::stack(),
        Sizes(sizes) => sizes::sizes(sizes.c),
        Load(flags::Load { minutes }) => load::load(minutes),
        Answers(flags::Answers { artifact, kind, rows }) => answers::answers(&artifact, &kind, &rows),
        Kills(flags::Kills { count }) => kills::kills(count),
        Reproducible(flags::Reproducible { sample }) => reproducible::reproducible(sample),
    }
}
