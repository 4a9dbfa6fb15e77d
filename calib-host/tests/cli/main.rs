//! The `calib` command as its users meet it: the binary, real files, exit codes and words.

#[cfg(feature = "arrow")]
mod bad_formats;
mod bad_input;
#[cfg(feature = "arrow")]
mod formats;
mod forms;
mod methods;
mod npy;
#[cfg(feature = "arrow")]
mod pieces;
mod workplace;
#[cfg(feature = "arrow")]
mod written;
