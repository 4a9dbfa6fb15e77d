//! The `calib` command as its users meet it: the binary, real files, exit codes and words.

mod assess;
#[cfg(feature = "arrow")]
mod bad_formats;
mod bad_input;
mod codes;
mod decide;
#[cfg(feature = "arrow")]
mod formats;
mod forms;
mod methods;
mod npy;
mod reductions;
mod signing;
mod weights;
mod workplace;
#[cfg(feature = "arrow")]
mod written;
