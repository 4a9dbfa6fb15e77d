//! `cargo xtask c-firmware`

use std::process::Command;

use anyhow::Result;
use xtask::{root, run};

use crate::flags;
use crate::setup::{ARM_LIBC, CMAKE, Needs, Setup};

/// Builds the firmware in C for the boards that it has, with CMake.
pub(crate) fn c_firmware(setup: Setup, flags::CFirmware { board }: &flags::CFirmware) -> Result<()> {
    let boards = match board.as_deref() {
        Some(board) => vec![board],
        None => vec!["mps2-an386", "microbit"],
    };
    setup.provide(&Needs {
        targets: &["thumbv6m-none-eabi", "thumbv7em-none-eabihf"],
        programs: &[&ARM_LIBC, &CMAKE],
        ..Needs::default()
    })?;
    let firmware = root().join("firmware");
    let source = firmware.join("c/example");
    for board in boards {
        let folder = firmware.join("target/c-example").join(board);
        run(Command::new("cmake")
            .arg("-S")
            .arg(&source)
            .arg("-B")
            .arg(&folder)
            .arg(format!("-DBOARD={board}"))
            .arg(format!("-DCMAKE_TOOLCHAIN_FILE={}", source.join("arm-none-eabi.cmake").display()))
            .arg(format!("-DCALIB_CARGO_DIR={}", firmware.join("target/c").display())))?;
        run(Command::new("cmake").arg("--build").arg(&folder))?;
        println!("{}", folder.join("firmware.elf").display());
    }
    Ok(())
}
