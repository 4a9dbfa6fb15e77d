//! The command line.

// The macro makes public structs of the commands, whose words are the help.
#![allow(missing_docs, unreachable_pub)]

use std::path::PathBuf;

use crate::faults::Part;
use crate::fuzz::Target;
use crate::package::Kind;
use crate::verify::Side;

xflags::xflags! {
    /// The project's driver. Each command installs what it needs and is missing, after it has listed it. It only ever adds to
    /// this machine: where that would remove or change a package, it does without, or says what to do.
    cmd xtask {
        /// Install nothing: say what is missing, and stop.
        optional --no-install

        /// Run the main job on real data, with a calibrator on an emulated device.
        cmd demo {}
        /// Run all tests that a change should pass before it is looked at.
        ///
        /// Format, unit and integration tests, examples in the documentation, end to end in the emulator.
        cmd test {}
        /// Run what proves rather than tests.
        ///
        /// No warning of clippy, no panic and no call too deep on any core, no instruction more than before, every board and
        /// every input of the end-to-end tests, every set of features on every target, the same bytes from two folders.
        cmd verify {
            /// Only this part: host or devices. Without it both run at once, and then a serial line under load.
            optional --only part: Side
        }
        /// Run a device's quantized network on this machine: the codes that it gives for rows of features.
        ///
        /// First the network is compared with TensorFlow Lite, whose codes for the rows in NETWORK.features.npy stand in
        /// NETWORK.codes.npy, beside NETWORK.tflite. For example: cargo xtask twin --model digits.tflite --features x.npy
        /// -o codes.npy
        cmd twin {
            /// The network: a TFLite file, int8 in and out.
            required --model file: PathBuf
            /// Rows of features: a NumPy array.
            required --features file: PathBuf
            /// Where the codes go: a NumPy array of int8.
            required -o, --output file: PathBuf
            /// Where the logits go that the codes stand for, as float32: for calibrators of floats.
            optional --logits file: PathBuf
            /// Replace files that are there.
            optional --force
        }
        /// Compare with independently computed reference values.
        cmd papers {
            /// The folder with cifar10_resnet50_*.npy and credit_scores.csv.
            required --data dir: PathBuf
            /// The folder with cifar10_resnet50.json, credit_fixed_cases.json and theory_tables.json.
            required --refs dir: PathBuf
        }
        /// Cut the power, wear out flash, forge artifacts, kill the emulator.
        cmd faults {
            /// Take longer: ten times the images and artifacts.
            optional --long
            /// Run only this part: flash (on a model of flash: power cuts at every step of an installation, worn and
            /// half-erased flash, counters, forgeries), counters (those of flash about a device's counters alone), rotations (those of flash about keys), rest (those of flash about bits that turn at rest), lives, c (power cuts and half-erased flash, through the callbacks of the library for C), kills (of the emulator during updates) or load (a serial line full of
            /// malformed frames).
            optional --only part: Part
            /// For how many minutes the serial line is under load.
            optional --load minutes: f64
        }
        /// Write the licenses and notices of everybody's packages that go along with the command, the Python package, the page and the library for C.
        ///
        /// `THIRD-PARTY.txt` has names, versions, licenses and their texts. `cargo xtask wheel` writes it into the wheel.
        cmd notices {}
        /// Make what a release consists of in target/package-VERSION, and use each file as its users would. Publishes nothing.
        ///
        /// An archive of the command for this machine, with completions and manual pages; an archive of the library for C; the wheel; the
        /// packages of Rust. Each is unpacked or installed in an empty folder, and run.
        cmd package {
            /// Only this: command, c, wheel or crates.
            optional --only part: Kind
            /// Take a `calib` that is built already and a wheel without optimization, and do not compile the packages of Rust.
            optional --sample
        }
        /// Build the firmware in C with CMake, for the emulated mps2-an386 and microbit.
        cmd c-firmware {
            /// This board alone: mps2-an386 or microbit.
            optional --board name: String
        }
        /// Measure speed and memory.
        cmd bench {
            /// Measure time and memory on this machine, of whole commands and of fits in memory, next to what people use instead.
            cmd host {
                /// The number of rows of the largest files; 10 million if not given. Cases of fewer rows shrink and grow with it.
                optional --rows n: u64
                /// Measure files of ten times the rows, too.
                optional --huge
                /// Only cases whose names contain this; "in memory" for what is measured there.
                optional --only words: String
                /// Keep the ratios as those that later runs are compared with.
                optional --write-baseline
                /// Compare with netcal, too, which brings PyTorch: a download of several GB.
                optional --netcal
            }
            /// Simulate lives of devices: how often monitors raise a false alarm, and how soon a true one.
            ///
            /// Next to the drift detectors of the Python package river.
            cmd monitor {
                /// How many lives of each kind; 1000 if not given.
                optional --lives n: u32
                /// How many streams of FriedmanDrift; 1000 if not given.
                optional --trials n: u32
            }
            /// Draw many calibration sets from distributions of known truth: how often guarantees fail.
            ///
            /// A guarantee that fails significantly more often than its alpha is a failure.
            cmd coverage {
                /// How many calibration sets of each cell; 10,000 if not given, and a fifth of them above 1,000 rows.
                optional --sets n: u64
                /// Only distributions whose names contain this.
                optional --only words: String
            }
            /// Compare calibration methods of several packages on real data and on curves that are known.
            ///
            /// In a virtual environment with their Python packages, which ship the data. A criterion that fails is a failure.
            cmd accuracy {
                /// Take two data sets and a few draws: some seconds, without the packages that ship other data.
                optional --quick
                /// How many splits of each data set and classifier; 8 if not given.
                optional --splits n: u64
                /// How many sets of rows of each curve; 20 if not given.
                optional --sets n: u64
                /// How many processes; 1 if not given.
                optional --jobs n: u64
                /// Compare with netcal and probmetrics, too, which bring PyTorch: a download of several GB.
                optional --all
                /// Write the tables into the book's page.
                optional --write
            }
            /// Measure the Python package's time and memory, next to NumPy and scikit-learn.
            cmd python {
                /// The number of scores; 10 million if not given.
                optional --rows n: u64
            }
            /// Count instructions, bytes and stack on every emulated core, next to functions in C.
            cmd device {
                /// Replace the committed counts by these.
                optional --write-baseline
            }
        }
        /// Open reports in headless Chromium, with axe-core.
        ///
        /// No message on the console, no request, nothing that axe-core objects to.
        cmd report-check {}
        /// Draw the pictures of the README and of the book's first steps again.
        ///
        /// A test of the command fails if they are stale. `cargo xtask wheel` compares the picture of the page about Python.
        cmd figures {}
        /// Make the page `calib.html`: the command, in a browser, from one file.
        ///
        /// It is in target/web, and makes no request.
        cmd web {
            /// Use it in headless Chromium, too: what it shows, what it writes next to the command, and how long that takes.
            optional --check
        }
        /// Build the Python package's wheel for this machine's platform, and test it.
        ///
        /// In clean virtual environments, with the oldest and the newest NumPy and scikit-learn that it is for.
        cmd wheel {
            /// In one with netcal, too, which brings PyTorch: some gigabytes.
            optional --all
        }
        /// Build the examples of calib in firmware of others, and run one in the emulator.
        ///
        /// Embassy on three chips, esp-hal, and RTIC, which runs.
        cmd examples {}
        /// Ask DuckDB, DataFusion and Spark what `calib sql` prints, and compare the artifacts with those of all rows.
        ///
        /// In a virtual environment with their Python packages; Spark takes a Java runtime.
        cmd engines {
            /// The number of rows; 10 million if not given.
            optional --rows n: u64
        }
        /// Send all 2^32 floats through every kind of table, and compare with a linear scan.
        cmd exhaustive {}
        /// Run calib-core's tests under Miri, which takes a nightly toolchain.
        ///
        /// On 64 and on 32 bits; big-endian targets are refused.
        cmd miri {}
        /// Count lines of every kind, packages, public names, and options of every command.
        cmd count {
            /// Count in this commit; in the working tree if not given.
            optional --commit name: String
        }
        /// Change calib-core, or another package, in every way that cargo-mutants knows, and see that a test notices.
        ///
        /// What no test notices must stand in tests/survivors.txt, with its reason. Takes hours.
        cmd mutants {
            /// The package; calib-core if not given.
            optional -p, --package name: String
            /// Only in files whose paths match this.
            optional --file glob: String
        }
        /// Bound the stack of what a device calls for every score, on every core.
        cmd stack {}
        /// Show where the flash goes: by function, by part, for a line of log, and of programs with the library for C.
        cmd sizes {}
        /// Build twice, in two folders and environments, and compare byte by byte.
        ///
        /// The firmware, an artifact and a report.
        cmd reproducible {
            /// One board, and the `calib` that is built already: what `cargo xtask verify` runs.
            optional --sample
        }
        /// Fuzz the parser, the decoder of frames, the start on any flash, either end of the serial line, and the readers of files.
        cmd fuzz {
            /// Executions per target; 100 million of the parser, a million of Arrow and Parquet and 10 million of the others if not given.
            optional --runs n: u64
            /// Only this target: parse, frame, boot, serve, replies, text, npy, arrow or parquet.
            optional --only target: Target
            /// Add the inputs to the seeds that reach what the seeds do not reach.
            optional --keep
            /// Run each target only once with every seed, as `cargo xtask verify` does.
            optional --seeds
        }
    }
}

impl Xtask {
    /// All commands, a line each: the first line of each command's help.
    pub(crate) fn commands() -> String {
        let lines = Self::HELP_.lines();
        let heads = lines.clone().zip(lines.skip(1)).filter_map(|(name, what)| {
            let name = name.strip_prefix("xtask ")?;
            Some(format!("  {name:<14} {}\n", what.trim()))
        });
        format!(
            "cargo xtask <command>\n\n{}\n`cargo xtask --help` shows their options. --no-install goes with each: say what is \
             missing, and stop.\n",
            heads.collect::<String>()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_listed_with_what_it_does() {
        let listed = Xtask::commands();
        for line in [
            "  demo           Run the main job on real data, with a calibrator on an emulated device.\n",
            "  verify         Run what proves rather than tests.\n",
            "  bench device   Count instructions, bytes and stack on every emulated core, next to functions in C.\n",
            "  fuzz           Fuzz the parser, the decoder of frames, the start on any flash, either end of the serial line, and the readers of files.\n",
        ] {
            assert!(listed.contains(line), "{listed}");
        }
    }

    #[test]
    fn no_install_goes_before_and_behind_a_command() {
        for line in [&["--no-install", "bench", "device"], &["bench", "device", "--no-install"]] {
            let parsed = Xtask::from_vec(line.iter().map(Into::into).collect()).unwrap();
            assert!(parsed.no_install);
        }
        assert!(!Xtask::from_vec(vec!["demo".into()]).unwrap().no_install);
    }

    #[test]
    fn parts_and_targets_are_chosen_by_name() {
        let parsed =
            Xtask::from_vec(["faults", "--only", "kills", "--load", "0.5"].map(Into::into).into()).unwrap();
        let XtaskCmd::Faults(faults) = parsed.subcommand else { panic!("{parsed:?}") };
        assert_eq!((faults.only, faults.load, faults.long), (Some(Part::Kills), Some(0.5), false));
        let refused = Xtask::from_vec(["fuzz", "--only", "all"].map(Into::into).into()).unwrap_err();
        assert!(
            refused
                .to_string()
                .contains("there are parse, frame, boot, serve, replies, text, npy, arrow and parquet"),
            "{refused}"
        );
    }
}
