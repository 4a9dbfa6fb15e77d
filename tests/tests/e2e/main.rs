//! Host, artifact, emulated device, host: one program, so that all is linked once and images are shared.

mod bands;
mod boards;
mod c_runtime;
mod cases;
mod class_codes;
mod codes;
mod counting;
mod decisions;
mod device;
mod device_cost;
mod exp_and_log;
mod exported;
mod forms;
mod harness;
mod joint;
mod margins;
mod network;
mod progress;
mod reductions;
mod rules;
mod update;
