//! The `calib` command as its users meet it: the binary, real files, exit codes and words.

#[cfg(feature = "arrow")]
mod bad_formats;
mod bad_input;
mod codes;
#[cfg(feature = "arrow")]
mod formats;
mod forms;
mod joint;
mod methods;
mod npy;
mod reductions;
mod weights;
mod workplace;
#[cfg(feature = "arrow")]
mod written;
