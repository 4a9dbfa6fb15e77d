//! The command line.

// The macro makes public structs of the commands, whose words are the help.
#![allow(missing_docs, unreachable_pub)]

use std::path::PathBuf;

use crate::faults::Part;
use crate::fuzz::Target;

xflags::xflags! {
    /// The project's driver. Each command sees what it needs and is missing, lists it, and installs it. It adds to this
    /// machine only: where that would remove or change a package, it does without or says what to do.
    cmd xtask {
        /// Install nothing: say what is missing, and stop.
        optional --no-install

        /// Run the main job on real data: train, calibrate, deploy to an emulated device, compare, assess.
        cmd demo {}
        /// Run the checks and tests that a change should pass before it is looked at: format, clippy, unit and integration
        /// tests, examples in the documentation, end to end in the emulator.
        cmd test {}
        /// Run what proves rather than tests: no panic and no call too deep on any core, no instruction more, the same bytes
        /// from two folders, every set of features on every target.
        cmd verify {}
        /// Compare with independently computed reference values.
        cmd papers {
            /// The folder with cifar10_resnet50_*.npy and credit_scores.csv.
            required --data dir: PathBuf
            /// The folder with cifar10_resnet50.json, credit_fixed_cases.json and theory_tables.json.
            required --refs dir: PathBuf
        }
        /// Cut the power at every step of an installation, wear out flash, forge artefacts, kill the emulator, plant faults.
        cmd faults {
            /// Take longer: ten times the images and artefacts.
            optional --long
            /// Run only this part: flash (on a model of flash: power cuts, worn and half-erased flash, forgeries), kills (of
            /// the emulator during updates), load (a serial line full of malformed frames) or planted (faults in calib-core,
            /// each of which must be found).
            optional --only part: Part
            /// For how many minutes the serial line is under load.
            optional --load minutes: f64
        }
        /// Measure speed and memory.
        cmd bench {
            /// Fits and lookups on this machine, ours against NumPy and scikit-learn.
            cmd host {
                /// The number of rows of the fits in memory; 10 million if not given.
                optional --rows n: u64
                /// Instead, run `calib fit`, `assess` and `report` on files of N, N / 10 and N / 100 rows, and measure time
                /// and peak memory.
                optional --large n: u64
                /// Compare with netcal, too, which brings PyTorch: a download of several GB.
                optional --netcal
            }
            /// Count instructions, bytes and stack on every emulated core, next to functions in C.
            cmd device {
                /// Replace the committed counts by these.
                optional --write-baseline
            }
        }
        /// Open reports in headless Chromium: no console message, no request, nothing that axe-core objects to.
        cmd report-check {}
        /// Send all 2^32 floats through every kind of table, and compare with a linear scan.
        cmd exhaustive {}
        /// Run calib-core's tests under Miri, on 64 and on 32 bits; big-endian targets are refused. Takes a nightly toolchain.
        cmd miri {}
        /// Bound the stack of what a device calls for every score, on every core.
        cmd stack {}
        /// Show where the flash goes: by function in a whole firmware, by part, and for a line of log.
        cmd sizes {}
        /// Build twice, in two folders and environments, and compare the firmware, an artefact and a report byte by byte.
        cmd reproducible {
            /// One board, and the `calib` that is built already: what `cargo xtask verify` runs.
            optional --sample
        }
        /// Fuzz the parser of artefacts, the decoder of frames, the start on any flash, and the serial line.
        cmd fuzz {
            /// Executions per target; 100 million of the parser and 10 million of the others if not given.
            optional --runs n: u64
            /// Only this target: parse, frame, boot or serve.
            optional --only target: Target
            /// Add the inputs to the seeds that reach what the seeds do not reach.
            optional --keep
            /// Run each target only once with every seed, as `cargo xtask verify` does.
            optional --seeds
        }
    }
}

impl Xtask {
    /// All commands.
    pub(crate) const HELP: &str = Self::HELP_;
}
