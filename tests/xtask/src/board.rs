//! The emulated boards.

use std::process::Command;

/// What is known of a board.
struct Facts {
    name: &'static str,
    core: &'static str,
    target: &'static str,
    /// Below `firmware/boards/src`.
    memory_map: &'static str,
    instructions_per_tick: f64,
    has_log: bool,
    /// The flags of a compiler for C that choose the core.
    c_flags: &'static [&'static str],
}

/// The boards, each with what it is and its facts.
macro_rules! boards {
    ($($(#[$what:meta])+ $board:ident = $facts:expr;)+) => {
        /// A board that QEMU emulates, for which `firmware/boards` has a feature.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Board {
            $($(#[$what])+ $board),+
        }

        impl Board {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$board),+];

            const fn facts(self) -> Facts {
                match self {
                    $(Self::$board => $facts),+
                }
            }
        }
    };
}

boards! {
    /// nRF51 with a Cortex-M0: 256 KB of flash, 16 KB of RAM.
    Microbit = Facts {
        name: "microbit",
        core: "Cortex-M0",
        target: "thumbv6m-none-eabi",
        memory_map: "microbit/microbit.x",
        instructions_per_tick: 62.5,
        has_log: false,
        c_flags: &["-mthumb", "-mcpu=cortex-m0", "-mfloat-abi=soft"],
    };
    /// Cortex-M3.
    Mps2An385 = Facts {
        name: "mps2-an385",
        core: "Cortex-M3",
        target: "thumbv7m-none-eabi",
        memory_map: "mps2/mps2.x",
        instructions_per_tick: 40.0,
        has_log: true,
        c_flags: &["-mthumb", "-mcpu=cortex-m3", "-mfloat-abi=soft"],
    };
    /// Cortex-M4 with FPU.
    Mps2An386 = Facts {
        name: "mps2-an386",
        core: "Cortex-M4F",
        target: "thumbv7em-none-eabihf",
        memory_map: "mps2/mps2.x",
        instructions_per_tick: 40.0,
        has_log: true,
        c_flags: &["-mthumb", "-mcpu=cortex-m4", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"],
    };
    /// Cortex-M7 with FPU.
    Mps2An500 = Facts {
        name: "mps2-an500",
        core: "Cortex-M7F",
        target: "thumbv7em-none-eabihf",
        memory_map: "mps2/mps2.x",
        instructions_per_tick: 40.0,
        has_log: true,
        c_flags: &["-mthumb", "-mcpu=cortex-m7", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"],
    };
    /// Cortex-M33 with FPU.
    Mps2An505 = Facts {
        name: "mps2-an505",
        core: "Cortex-M33F",
        target: "thumbv8m.main-none-eabihf",
        memory_map: "mps2/mps2-an505.x",
        instructions_per_tick: 50.0,
        has_log: true,
        c_flags: &["-mthumb", "-mcpu=cortex-m33", "-mfloat-abi=hard", "-mfpu=fpv5-sp-d16"],
    };
    /// RISC-V without FPU.
    Virt = Facts {
        name: "virt",
        core: "RV32IMAC",
        target: "riscv32imac-unknown-none-elf",
        memory_map: "virt/virt.x",
        instructions_per_tick: 1.0,
        has_log: false,
        c_flags: &["-march=rv32imac", "-mabi=ilp32", "-ffreestanding"],
    };
}

impl Board {
    /// The first board of those for which `what` is the same.
    pub fn one_of_each<T: PartialEq>(what: fn(Self) -> T) -> impl Iterator<Item = Self> {
        let is_first = move |&(at, board): &(usize, &Self)| {
            Self::ALL[..at].iter().all(|&before| what(before) != what(*board))
        };
        Self::ALL.iter().enumerate().filter(is_first).map(|(_, &board)| board)
    }

    /// The feature's name, which is that of QEMU's machine, too.
    pub const fn name(self) -> &'static str {
        self.facts().name
    }

    /// The core's name.
    pub const fn core(self) -> &'static str {
        self.facts().core
    }

    /// The target that its firmware is built for.
    pub const fn target(self) -> &'static str {
        self.facts().target
    }

    /// The memory map that its firmware is linked with, below `firmware/boards/src`.
    pub const fn memory_map(self) -> &'static str {
        self.facts().memory_map
    }

    /// How many instructions a tick of the firmware's meter is, in an emulator where an instruction takes 1 ns.
    pub const fn instructions_per_tick(self) -> f64 {
        self.facts().instructions_per_tick
    }

    /// Whether there is a second serial line, which carries the log.
    pub const fn has_log(self) -> bool {
        self.facts().has_log
    }

    /// How many instructions a tick of the core's own timer is, which the measuring image uses.
    pub const fn instructions_per_tick_of_core_timer(self) -> f64 {
        // The nRF51 has none; QEMU's has one, with the core's 16 MHz, as the timer that the firmware uses.
        self.instructions_per_tick()
    }

    /// Whether its core is one of Arm's.
    fn is_arm(self) -> bool {
        self.target().starts_with("thumb")
    }

    /// The prefix of the tools for C of its core, and the flags that choose the core.
    pub fn c_compiler(self) -> (&'static str, &'static [&'static str]) {
        // Debian has no C library for the second.
        let tools = if self.is_arm() { "arm-none-eabi" } else { "riscv64-unknown-elf" };
        (tools, self.facts().c_flags)
    }

    /// The emulator's name.
    pub fn qemu(self) -> &'static str {
        if self.is_arm() { "qemu-system-arm" } else { "qemu-system-riscv32" }
    }

    /// Calls the emulator: the one that was set up for this project, otherwise the system's.
    pub fn emulator(self) -> Command {
        Command::new(crate::tool(self.qemu()))
    }
}
