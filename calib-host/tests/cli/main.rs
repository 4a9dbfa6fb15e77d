//! The `calib` command as its users meet it: the binary, real files, exit codes and words.

mod assess;
#[cfg(feature = "arrow")]
mod bad_formats;
mod bad_input;
#[cfg(feature = "arrow")]
mod formats;
mod forms;
mod methods;
mod npy;
mod report;
mod workplace;
#[cfg(feature = "arrow")]
mod written;
