//! The `calib` command as its users meet it: the binary, real files, exit codes and words.

#[cfg(feature = "arrow")]
mod bad_formats;
mod bad_input;
mod export;
#[cfg(feature = "arrow")]
mod formats;
mod forms;
mod methods;
mod npy;
mod workplace;
#[cfg(feature = "arrow")]
mod written;
