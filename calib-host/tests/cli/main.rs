//! The `calib` command as its users meet it: the binary, real files, exit codes and words.

mod bad_input;
mod forms;
mod npy;
mod workplace;
