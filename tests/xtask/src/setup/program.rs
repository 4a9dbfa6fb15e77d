//! The programs that commands use, each with a trial of what it is used for.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use calib_run::{output, root, tool};

/// A program, how it is tried, and the packages that hold it.
pub(crate) struct Program {
    /// Its name, for people.
    pub(crate) name: &'static str,
    /// Tries what commands use the program for; says what is missing.
    pub(crate) check: fn() -> Result<(), String>,
    /// Packages of Debian.
    pub(crate) apt: &'static [&'static str],
    /// Formulas of Homebrew.
    pub(crate) brew: &'static [&'static str],
    /// Whether the program runs from any folder, so that its packages can be unpacked instead of installed.
    pub(crate) movable: bool,
}

/// The emulator of the Arm boards.
pub(crate) const QEMU_ARM: Program = Program {
    name: "qemu-system-arm",
    check: || qemu("qemu-system-arm"),
    apt: &["qemu-system-arm"],
    brew: &["qemu"],
    movable: true,
};
/// The emulator of the RISC-V board.
pub(crate) const QEMU_RISCV: Program = Program {
    name: "qemu-system-riscv32",
    check: || qemu("qemu-system-riscv32"),
    apt: &["qemu-system-misc"],
    brew: &["qemu"],
    movable: true,
};
/// What the tests compare keys with.
pub(crate) const OPENSSL: Program =
    Program { name: "openssl", check: openssl, apt: &["openssl"], brew: &["openssl@3"], movable: false };
/// What exported headers and libFuzzer are built with.
pub(crate) const CPP: Program =
    Program { name: "c++", check: cpp, apt: &["g++"], brew: &["llvm"], movable: false };
/// What exported headers are compiled with for Cortex-M.
pub(crate) const ARM_GCC: Program = Program {
    name: "arm-none-eabi-gcc",
    check: arm_gcc,
    apt: &["gcc-arm-none-eabi"],
    brew: &["arm-none-eabi-gcc"],
    movable: false,
};
/// The same with a C library, for the functions that ours are measured against.
pub(crate) const ARM_LIBC: Program = Program {
    name: "arm-none-eabi-gcc with newlib",
    check: arm_libc,
    apt: &["gcc-arm-none-eabi", "libnewlib-arm-none-eabi"],
    brew: &["gcc-arm-embedded"],
    movable: false,
};
/// What builds the firmware in C.
pub(crate) const CMAKE: Program = Program {
    name: "cmake and make",
    check: cmake,
    apt: &["cmake", "make"],
    brew: &["cmake"],
    movable: false,
};
/// What exported headers are compiled with for RISC-V.
pub(crate) const RISCV_GCC: Program = Program {
    name: "riscv64-unknown-elf-gcc",
    check: riscv_gcc,
    apt: &["gcc-riscv64-unknown-elf"],
    brew: &["riscv64-elf-gcc"],
    movable: false,
};
/// The browser that reports are opened in.
pub(crate) const CHROMIUM: Program = Program {
    name: "Chromium",
    check: || chromium().map(drop).ok_or_else(|| "Chromium".into()),
    apt: &["chromium", "fonts-dejavu-core"],
    brew: &["chromium"],
    movable: false,
};

/// What Spark runs on.
pub(crate) const JAVA: Program = Program {
    name: "a Java runtime",
    check: java,
    apt: &["default-jre-headless"],
    brew: &["openjdk"],
    movable: false,
};

/// The oldest Java that Spark runs on.
const OLDEST_JAVA: u32 = 17;
/// The oldest QEMU that the boards were run on.
const OLDEST_QEMU: (u32, u32) = (7, 2);

/// The browser's path, if there is one.
pub(crate) fn chromium() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let path = std::env::var_os("PATH")?;
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let mut places = names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    places.find(|place| place.is_file())
}

fn qemu(name: &str) -> Result<(), String> {
    let said = output(tool(name), &["--version"]).ok_or_else(|| name.to_owned())?;
    match qemu_version(&said) {
        Some(version) if version >= OLDEST_QEMU => Ok(()),
        _ => {
            let ((major, minor), first) = (OLDEST_QEMU, said.lines().next().unwrap_or("no version"));
            Err(format!("{name} {major}.{minor} or newer; the one that is there says `{first}`"))
        }
    }
}

/// The release in the first line of `--version`.
fn qemu_version(said: &str) -> Option<(u32, u32)> {
    let (_, rest) = said.lines().next()?.split_once("version ")?;
    let mut numbers = rest.split(|c: char| !c.is_ascii_digit()).map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

fn java() -> Result<(), String> {
    let said = output("java", &["--version"]).unwrap_or_default();
    match java_version(&said) {
        Some(version) if version >= OLDEST_JAVA => Ok(()),
        _ => Err(format!("a Java runtime, {OLDEST_JAVA} or newer")),
    }
}

/// The release in the first line of `java --version`.
fn java_version(said: &str) -> Option<u32> {
    let release = said.lines().next()?.split_whitespace().nth(1)?;
    release.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// The private key of RFC 8410: LibreSSL, which macOS calls openssl, knew no Ed25519 for long.
fn openssl() -> Result<(), String> {
    const KEY: &str = "-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC
-----END PRIVATE KEY-----
";
    tried("openssl", &["pkey", "-pubout"], KEY)
}

fn cpp() -> Result<(), String> {
    tried("c++", &["-x", "c++", "-"], "#include <vector>\nint main() { return std::vector<int>().size(); }\n")
}

/// A Cortex-M4 with FPU: its library is there only if those of all cores are.
const M4: [&str; 5] = ["-mthumb", "-mcpu=cortex-m4", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16", "-nostdlib"];
const FREESTANDING: &str = "#include <stdint.h>\nint32_t half(int32_t x) { return x / 2; }\n";

fn arm_gcc() -> Result<(), String> {
    let arguments = [&M4[..], &["-ffreestanding", "-r", "-x", "c", "-", "-lgcc"]].concat();
    tried("arm-none-eabi-gcc", &arguments, FREESTANDING)
}

fn arm_libc() -> Result<(), String> {
    let arguments = [&M4[..], &["-r", "-x", "c", "-", "-lm", "-lc", "-lgcc"]].concat();
    tried("arm-none-eabi-gcc", &arguments, "#include <math.h>\nfloat e(float x) { return expf(x); }\n")
}

fn cmake() -> Result<(), String> {
    ["cmake", "make"]
        .into_iter()
        .try_for_each(|name| output(name, &["--version"]).map(drop).ok_or_else(|| name.to_owned()))
}

fn riscv_gcc() -> Result<(), String> {
    // Homebrew's has a shorter name.
    let names = ["riscv64-unknown-elf-gcc", "riscv64-elf-gcc"];
    let name = names.into_iter().find(|name| output(name, &["--version"]).is_some()).unwrap_or(names[0]);
    let core = ["-march=rv32imac", "-mabi=ilp32", "-nostdlib", "-ffreestanding"];
    tried(name, &[&core[..], &["-r", "-x", "c", "-", "-lgcc"]].concat(), FREESTANDING)
}

/// Runs a program on a text, in a folder of its own; says what the program said if it fails.
fn tried(program: &str, arguments: &[&str], text: &str) -> Result<(), String> {
    let folder = root().join("target/set-up");
    let run = || {
        fs::create_dir_all(&folder)?;
        let mut child = Command::new(program)
            .args(arguments)
            .current_dir(&folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        if let Some(mut input) = child.stdin.take() {
            // Whoever closes its input before the end says why.
            let _ = input.write_all(text.as_bytes());
        }
        child.wait_with_output()
    };
    match run() {
        Ok(ended) if ended.status.success() => Ok(()),
        Ok(ended) => {
            let said = String::from_utf8_lossy(&ended.stderr).into_owned();
            let line = said.lines().find(|line| line.contains("error")).or(said.lines().next());
            Err(format!("{program} fails: {}", line.unwrap_or("it does not say why").trim()))
        }
        Err(_) => Err(program.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_release_from_7_2_on_is_taken() {
        for (said, expected) in [
            ("QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18+b2)\nCopyright (c)", Some((7, 2))),
            ("QEMU emulator version 10.0.2 (Debian 1:10.0.2+ds-2+deb13u1~bpo12+1)", Some((10, 0))),
            ("QEMU emulator version 6.2.0 (Debian 1:6.2+dfsg-2ubuntu6.26)", Some((6, 2))),
            ("QEMU emulator version 9.2.50 (v9.2.0-1163-g1cf9bc6eba)", Some((9, 2))),
            ("something else", None),
            ("", None),
        ] {
            assert_eq!(qemu_version(said), expected, "{said}");
        }
        let taken = |version| version >= OLDEST_QEMU;
        assert!(taken((7, 2)) && taken((10, 0)) && !taken((7, 1)) && !taken((6, 9)));
    }

    #[test]
    fn the_release_of_java_is_read() {
        let said = ["openjdk 17.0.15 2025-04-15\nOpenJDK Runtime", "java 25 2025-09-16 LTS", "", "openjdk"];
        assert_eq!(said.map(java_version), [Some(17), Some(25), None, None]);
    }

    #[test]
    fn a_trial_says_what_the_program_said() {
        assert_eq!(tried("a-program-that-is-not-there", &[], "").unwrap_err(), "a-program-that-is-not-there");
        let missing_header =
            "echo 'probe.c:1:10: fatal error: math.h: No such file or directory' >&2; exit 1";
        assert_eq!(
            tried("sh", &["-c", missing_header], "").unwrap_err(),
            "sh fails: probe.c:1:10: fatal error: math.h: No such file or directory"
        );
        assert_eq!(tried("sh", &["-c", "cat"], "text"), Ok(()));
    }
}
