//! Tests of the set-up.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use super::apt::{INSTALL, Plan, Simulated, Simulation, UNPACK};
use super::program::{ARM_LIBC, CPP, Program, QEMU_ARM, QEMU_RISCV, release};

// Recorded on Debian 12 with the `qemu-utils` of its backports.
const ADDS: &str = include_str!("recorded/adds.txt");
const REMOVES: &str = include_str!("recorded/removes.txt");
const DOWNGRADES: &str = include_str!("recorded/downgrades.txt");
const UPGRADES: &str = include_str!("recorded/upgrades.txt");
const NOTHING: &str = include_str!("recorded/nothing.txt");
const IMPOSSIBLE: &str = include_str!("recorded/impossible.txt");

fn names(packages: &[String]) -> Vec<&str> {
    packages.iter().filter_map(|package| package.split('=').next()).collect()
}

/// The plan if apt says the same of everything.
fn plan(programs: &[&Program], is_root: bool, said: &str) -> anyhow::Result<Plan> {
    Plan::new(programs, is_root, |_| Ok(Simulation::parse(said)))
}

#[test]
fn additions_are_read_with_their_versions() {
    let simulation = Simulation::parse(ADDS);
    assert_eq!(simulation.harms, [""; 0]);
    assert_eq!(simulation.adds[1], "gcc-arm-none-eabi=15:12.2.rel1-1");
    let all = ["binutils-arm-none-eabi", "gcc-arm-none-eabi", "libnewlib-dev", "libnewlib-arm-none-eabi"];
    assert_eq!(names(&simulation.adds), all);
    assert_eq!(Simulation::parse(NOTHING), Simulation::default());
}

#[test]
fn every_change_of_what_is_installed_is_a_harm() {
    let harms = |text| Simulation::parse(text).harms;
    assert_eq!(harms(REMOVES), ["remove qemu-utils 1:10.0.2+ds-2+deb13u1~bpo12+1"]);
    assert_eq!(
        harms(DOWNGRADES),
        ["replace qemu-utils 1:10.0.2+ds-2+deb13u1~bpo12+1 by 1:7.2+dfsg-7+deb12u18+b3"]
    );
    let upgrade = |name: &str| format!("replace {name} 3.0.19-1~deb12u2 by 3.0.22-1~deb12u2");
    assert_eq!(harms(UPGRADES), ["libssl-dev", "libssl3", "openssl"].map(upgrade));
    assert_eq!(harms("Purg exim4 [4.96-15+deb12u7]"), ["remove exim4 4.96-15+deb12u7"]);
}

#[test]
fn what_only_adds_is_installed_together() {
    let plan = plan(&[&QEMU_ARM, &CPP], true, "Inst qemu-system-arm (1 D)\nInst g++ (2 D)").unwrap();
    assert_eq!((plan.wanted, plan.unpacked), (vec!["g++", "qemu-system-arm"], vec![]));
}

#[test]
fn an_emulator_that_costs_a_package_is_unpacked() {
    for (said, reason) in [
        (REMOVES, "apt would remove qemu-utils 1:10.0.2+ds-2+deb13u1~bpo12+1"),
        (
            DOWNGRADES,
            "apt would replace qemu-utils 1:10.0.2+ds-2+deb13u1~bpo12+1 by 1:7.2+dfsg-7+deb12u18+b3",
        ),
    ] {
        // What apt says of the emulator as recorded, and that it adds the rest.
        let simulate = |packages: &[&str]| -> Simulated {
            let adds = |name: &&str| format!("Inst {name} (1.0 Debian:12 [amd64])\n");
            Ok(Simulation::parse(&match packages.contains(&"qemu-system-arm") {
                true => said.to_owned(),
                false => packages.iter().map(adds).collect(),
            }))
        };
        let plan = Plan::new(&[&QEMU_ARM, &ARM_LIBC], true, simulate).unwrap();
        assert_eq!(plan.wanted, ["gcc-arm-none-eabi", "libnewlib-arm-none-eabi"]);
        assert_eq!((plan.programs, plan.reasons), (vec!["qemu-system-arm"], vec![reason.to_owned()]));
        assert_eq!(plan.unpacked, Simulation::parse(said).adds);
        assert!(names(&plan.unpacked).contains(&"libcapstone4"));
        assert!(!names(&plan.unpacked).contains(&"qemu-utils"));
    }
}

#[test]
fn what_two_emulators_share_is_unpacked_once() {
    let plan = plan(&[&QEMU_ARM, &QEMU_RISCV], true, REMOVES).unwrap();
    assert_eq!(plan.unpacked, Simulation::parse(REMOVES).adds);
    assert_eq!(plan.programs, ["qemu-system-arm", "qemu-system-riscv32"]);
    assert_eq!(plan.reasons.len(), 1);
}

#[test]
fn without_root_an_emulator_is_unpacked() {
    let plan = plan(&[&QEMU_ARM], false, "Inst qemu-system-arm (1:7.2 Debian:12)").unwrap();
    assert_eq!((names(&plan.unpacked), plan.wanted), (vec!["qemu-system-arm"], vec![]));
    assert_eq!(plan.reasons, ["apt needs root"]);
}

#[test]
fn a_compiler_that_costs_a_package_is_refused_with_the_way_out() {
    for said in [REMOVES, UPGRADES, DOWNGRADES] {
        let refused = plan(&[&ARM_LIBC], true, said).unwrap_err().to_string();
        assert!(refused.contains(&Simulation::parse(said).harms.join(", ")), "{refused}");
        assert!(refused.contains("nothing was installed"), "{refused}");
        assert!(refused.contains("`apt-get install gcc-arm-none-eabi libnewlib-arm-none-eabi`"), "{refused}");
    }
}

#[test]
fn packages_that_harm_together_alone_are_refused() {
    let simulate = |packages: &[&str]| {
        Ok(Simulation::parse(if packages.len() > 2 { UPGRADES } else { "Inst g++ (2 Debian:12)" }))
    };
    let refused = Plan::new(&[&CPP, &ARM_LIBC], true, simulate).unwrap_err().to_string();
    assert!(refused.contains("replace libssl3"), "{refused}");
}

#[test]
fn what_apt_says_when_it_fails_is_handed_on() {
    let refused = Plan::new(&[&QEMU_ARM], true, |_| Err(IMPOSSIBLE.into())).unwrap_err().to_string();
    assert!(refused.contains("qemu-utils : Breaks: qemu-system-common"), "{refused}");
}

#[test]
fn nothing_that_is_installed_is_named() {
    let plan = plan(&[&ARM_LIBC], true, "Inst libnewlib-arm-none-eabi (3.3.0 Debian:12)").unwrap();
    assert_eq!(plan.wanted, ["libnewlib-arm-none-eabi"]);
    assert_eq!(INSTALL[1..], ["--no-remove", "--no-install-recommends", "--no-upgrade"]);
}

#[test]
fn the_release_of_a_program_is_read() {
    for (said, expected) in [
        ("QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18+b2)\nCopyright (c)", Some((7, 2))),
        ("QEMU emulator version 10.0.2 (Debian 1:10.0.2+ds-2+deb13u1~bpo12+1)", Some((10, 0))),
        ("QEMU emulator version 6.2.0 (Debian 1:6.2+dfsg-2ubuntu6.26)", Some((6, 2))),
        ("QEMU emulator version 9.2.50 (v9.2.0-1163-g1cf9bc6eba)", Some((9, 2))),
        ("openjdk 17.0.15 2025-04-15\nOpenJDK Runtime", Some((17, 0))),
        ("java 25 2025-09-16 LTS", Some((25, 0))),
        ("v20.19.5\n", Some((20, 19))),
        ("v18.0.0", Some((18, 0))),
        ("something else", None),
        ("openjdk", None),
        ("", None),
    ] {
        assert_eq!(release(said), expected, "{said}");
    }
}

#[test]
fn a_trial_says_what_the_program_said() {
    let check = |trial| Program { trial, least: (0, 0), ..QEMU_ARM }.check();
    assert_eq!(check("a-program-that-is-not-there").unwrap_err(), "qemu-system-arm");
    assert_eq!(
        check("echo 'probe.c:1:10: fatal error: math.h: No such file or directory' >&2; exit 1").unwrap_err(),
        "qemu-system-arm fails: probe.c:1:10: fatal error: math.h: No such file or directory"
    );
    assert_eq!(check("printf 'text' | cat"), Ok(()));
    let old = Program { trial: "echo QEMU emulator version 7.1.0", ..QEMU_ARM }.check().unwrap_err();
    let expected = "qemu-system-arm 7.2 or newer; the one that is there says `QEMU emulator version 7.1.0`";
    assert_eq!(old, expected);
    for taken in ["echo QEMU emulator version 7.2.22", "echo QEMU emulator version 10.0.2"] {
        assert_eq!(Program { trial: taken, ..QEMU_ARM }.check(), Ok(()));
    }
}

#[test]
fn a_script_starts_the_program_with_its_libraries_and_arguments() {
    let folder = std::env::temp_dir().join(format!("calib-unpack-{}", std::process::id()));
    let (unpacked, bin) = (folder.join("unpacked"), folder.join("bin"));
    let (programs, libraries) = (unpacked.join("usr/bin"), unpacked.join("usr/lib/a b"));
    [&programs, &libraries, &bin].into_iter().try_for_each(fs::create_dir_all).unwrap();
    fs::write(libraries.join("libx.so.1"), "").unwrap();
    fs::write(programs.join("module.so"), "").unwrap();
    fs::write(programs.join("echoes"), "#!/bin/sh\necho \"$LD_LIBRARY_PATH\" \"$@\"\n").unwrap();
    fs::set_permissions(programs.join("echoes"), fs::Permissions::from_mode(0o755)).unwrap();
    let unpack = |program| {
        let mut unpack = Command::new("sh");
        unpack.arg(xtask::root().join(UNPACK)).arg(&folder).arg(program).stderr(Stdio::null());
        unpack.status().unwrap().success()
    };
    assert!(unpack("echoes"));
    assert!(!unpack("none"));
    // While another test starts a program, its child still has the script open for writing.
    let said = loop {
        match Command::new(bin.join("echoes")).args(["one", "two words"]).output() {
            Err(error) if error.kind() == ErrorKind::ExecutableFileBusy => {}
            said => break said.unwrap(),
        }
    };
    let said = String::from_utf8(said.stdout).unwrap();
    let expected = format!("{}/../unpacked/usr/lib/a b one two words\n", bin.display());
    fs::remove_dir_all(&folder).unwrap();
    assert_eq!(said, expected);
}
