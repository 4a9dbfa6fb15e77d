//! The programs that commands use, each with a trial of what it is used for.

use std::path::PathBuf;

use super::shell;

/// A program, how it is tried, and the packages that hold it.
pub(crate) struct Program {
    /// Its name, for people.
    pub(crate) name: &'static str,
    /// Packages of Debian, and the formula of Homebrew.
    pub(crate) apt: &'static [&'static str],
    pub(crate) brew: &'static str,
    /// The shell's words for what it is used for. They fail if it cannot do it.
    pub(crate) trial: &'static str,
    /// The oldest release that the words may print.
    pub(crate) least: (u32, u32),
    /// Whether the program runs from any folder, so that its packages can be unpacked instead of installed.
    pub(crate) is_movable: bool,
}

type Apt = &'static [&'static str];

const fn program(name: &'static str, apt: Apt, brew: &'static str, trial: &'static str) -> Program {
    Program { name, apt, brew, trial, least: (0, 0), is_movable: false }
}

const fn emulator(name: &'static str, apt: Apt, trial: &'static str) -> Program {
    Program { name, apt, brew: "qemu", trial, least: (7, 2), is_movable: true }
}

pub(crate) const QEMU_ARM: Program =
    emulator("qemu-system-arm", &["qemu-system-arm"], "qemu-system-arm --version");
pub(crate) const QEMU_RISCV: Program =
    emulator("qemu-system-riscv32", &["qemu-system-misc"], "qemu-system-riscv32 --version");
/// What builds the firmware in C.
pub(crate) const CMAKE: Program =
    program("cmake and make", &["cmake", "make"], "cmake", "cmake --version && make --version");
/// What tests compare keys with: the one of RFC 8410. LibreSSL, which macOS calls openssl, knew no Ed25519 for long.
pub(crate) const OPENSSL: Program = program(
    "openssl",
    &["openssl"],
    "openssl@3",
    "printf '%s\n' '-----BEGIN PRIVATE KEY-----' MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC \
     '-----END PRIVATE KEY-----' | openssl pkey -pubout",
);
/// What exported headers and libFuzzer are built with.
pub(crate) const CPP: Program = program(
    "c++",
    &["g++"],
    "llvm",
    "printf '#include <vector>\nint main() { return std::vector<int>().size(); }\n' | c++ -x c++ -",
);
/// What exported headers are compiled with for Cortex-M, and its C library, for the functions that ours are measured against.
/// This core's is there only if those of all cores are.
pub(crate) const ARM_LIBC: Program = program(
    "arm-none-eabi-gcc with newlib",
    &["gcc-arm-none-eabi", "libnewlib-arm-none-eabi"],
    "gcc-arm-embedded",
    "printf '#include <math.h>\n#include <stdint.h>\nfloat e(float x) { return expf(x); }\n' | arm-none-eabi-gcc -mthumb \
     -mcpu=cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16 -nostdlib -r -x c - -lm -lc -lgcc",
);
/// What exported headers are compiled with for RISC-V. Homebrew's has the shorter name.
pub(crate) const RISCV_GCC: Program = program(
    "riscv64-unknown-elf-gcc",
    &["gcc-riscv64-unknown-elf"],
    "riscv64-elf-gcc",
    "printf '#include <stdint.h>\nint32_t half(int32_t x) { return x / 2; }\n' | $(command -v riscv64-unknown-elf-gcc || \
     echo riscv64-elf-gcc) -march=rv32imac -mabi=ilp32 -nostdlib -ffreestanding -r -x c - -lgcc",
);
/// What finds the packed library for C, besides CMake.
pub(crate) const PKG_CONFIG: Program =
    program("pkg-config", &["pkg-config"], "pkgconf", "pkg-config --version");
/// What shows manual pages. It complains about what it cannot set.
pub(crate) const MAN: Program = program(
    "man",
    &["man-db"],
    "mandoc",
    "printf '.TH calib 1\n.SH NAME\ncalib\n' > calib.1 && man ./calib.1",
);
/// The browser that reports are opened in.
pub(crate) const CHROMIUM: Program = program(
    "Chromium",
    &["chromium", "fonts-dejavu-core"],
    "chromium",
    "command -v chromium || command -v chromium-browser || command -v google-chrome || exit 127",
);
/// What Spark runs on.
pub(crate) const JAVA: Program = Program {
    least: (17, 0),
    ..program("a Java runtime", &["default-jre-headless"], "openjdk", "java --version")
};

impl Program {
    /// Tries what commands use the program for.
    ///
    /// # Errors
    ///
    /// What is missing.
    pub(crate) fn check(&self) -> Result<(), String> {
        let Self { name, trial, least, .. } = *self;
        let ended = shell(trial).map_err(|cause| format!("{name}: {cause}"))?;
        let said = String::from_utf8_lossy(&ended.stdout);
        let is_old = least > (0, 0) && release(&said).is_none_or(|release| release < least);
        match ended.status.code() {
            Some(0) if is_old => {
                let ((major, minor), first) = (least, said.lines().next().unwrap_or("no version"));
                Err(format!("{name} {major}.{minor} or newer; the one that is there says `{first}`"))
            }
            Some(0) => Ok(()),
            // The shell did not find it.
            Some(127) => Err(name.to_owned()),
            _ => {
                let complaints = String::from_utf8_lossy(&ended.stderr);
                let line =
                    complaints.lines().find(|line| line.contains("error")).or(complaints.lines().next());
                Err(format!("{name} fails: {}", line.unwrap_or("it does not say why").trim()))
            }
        }
    }

    /// The first line that the trial prints, if it ends well: where the program is, for some.
    pub(crate) fn place(&self) -> Option<PathBuf> {
        let ended = shell(self.trial).ok().filter(|ended| ended.status.success())?;
        Some(String::from_utf8_lossy(&ended.stdout).lines().next()?.into())
    }
}

/// The release in the first line of `--version`: its first word that is a number.
pub(crate) fn release(said: &str) -> Option<(u32, u32)> {
    let mut words = said.lines().next()?.split_whitespace().map(|word| word.trim_start_matches('v'));
    let word = words.find(|word| word.starts_with(|c: char| c.is_ascii_digit()))?;
    let mut numbers = word.split(|c: char| !c.is_ascii_digit()).map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next().and_then(Result::ok).unwrap_or(0)))
}
