//! The emulated boards.

use std::process::Command;

/// A board that QEMU emulates, for which `firmware/boards` has a feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Board {
    /// nRF51 with a Cortex-M0: 256 KB of flash, 16 KB of RAM.
    Microbit,
    /// Cortex-M3.
    Mps2An385,
    /// Cortex-M4 with FPU.
    Mps2An386,
    /// Cortex-M7 with FPU.
    Mps2An500,
    /// Cortex-M33 with FPU.
    Mps2An505,
    /// RISC-V without FPU.
    Virt,
}

impl Board {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Microbit, Self::Mps2An385, Self::Mps2An386, Self::Mps2An500, Self::Mps2An505, Self::Virt];

    /// The feature's name, which is that of QEMU's machine, too.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Microbit => "microbit",
            Self::Mps2An385 => "mps2-an385",
            Self::Mps2An386 => "mps2-an386",
            Self::Mps2An500 => "mps2-an500",
            Self::Mps2An505 => "mps2-an505",
            Self::Virt => "virt",
        }
    }

    /// The core's name.
    pub const fn core(self) -> &'static str {
        match self {
            Self::Microbit => "Cortex-M0",
            Self::Mps2An385 => "Cortex-M3",
            Self::Mps2An386 => "Cortex-M4F",
            Self::Mps2An500 => "Cortex-M7F",
            Self::Mps2An505 => "Cortex-M33F",
            Self::Virt => "RV32IMAC",
        }
    }

    /// The target that its firmware is built for.
    pub const fn target(self) -> &'static str {
        match self {
            Self::Microbit => "thumbv6m-none-eabi",
            Self::Mps2An385 => "thumbv7m-none-eabi",
            Self::Mps2An386 | Self::Mps2An500 => "thumbv7em-none-eabihf",
            Self::Mps2An505 => "thumbv8m.main-none-eabihf",
            Self::Virt => "riscv32imac-unknown-none-elf",
        }
    }

    /// How many instructions a tick of the firmware's meter is, in an emulator where an instruction takes 1 ns.
    pub const fn instructions_per_tick(self) -> f64 {
        match self {
            Self::Microbit => 62.5,
            Self::Mps2An385 | Self::Mps2An386 | Self::Mps2An500 => 40.0,
            Self::Mps2An505 => 50.0,
            Self::Virt => 1.0,
        }
    }

    /// Whether there is a second serial line, which carries the log.
    pub const fn has_log(self) -> bool {
        !matches!(self, Self::Microbit | Self::Virt)
    }

    /// How many instructions a tick of the core's own timer is, which the measuring image uses.
    pub const fn instructions_per_tick_of_core_timer(self) -> f64 {
        // The nRF51 has none; QEMU's has one, with the core's 16 MHz, as the timer that the firmware uses.
        self.instructions_per_tick()
    }

    /// The prefix of the tools for C of its core, and the flags that choose the core.
    pub const fn c_compiler(self) -> (&'static str, &'static [&'static str]) {
        const ARM: &str = "arm-none-eabi";
        match self {
            Self::Microbit => (ARM, &["-mthumb", "-mcpu=cortex-m0", "-mfloat-abi=soft"]),
            Self::Mps2An385 => (ARM, &["-mthumb", "-mcpu=cortex-m3", "-mfloat-abi=soft"]),
            Self::Mps2An386 => {
                (ARM, &["-mthumb", "-mcpu=cortex-m4", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"])
            }
            Self::Mps2An500 => {
                (ARM, &["-mthumb", "-mcpu=cortex-m7", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"])
            }
            Self::Mps2An505 => {
                (ARM, &["-mthumb", "-mcpu=cortex-m33", "-mfloat-abi=hard", "-mfpu=fpv5-sp-d16"])
            }
            // Debian has no C library for it.
            Self::Virt => ("riscv64-unknown-elf", &["-march=rv32imac", "-mabi=ilp32", "-ffreestanding"]),
        }
    }

    /// The emulator's name.
    pub const fn qemu(self) -> &'static str {
        match self {
            Self::Virt => "qemu-system-riscv32",
            _ => "qemu-system-arm",
        }
    }

    /// Calls the emulator: the one that was set up for this project, otherwise the system's.
    pub fn emulator(self) -> Command {
        Command::new(xtask::tool(self.qemu()))
    }
}
