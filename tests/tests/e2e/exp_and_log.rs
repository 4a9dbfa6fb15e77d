//! The `exp` and `log` of exported headers, against those of libm.

use std::process::{Command, Stdio};
use std::{env, fs};

use calib_host::StoredArtifact;
use calib_host::io::export::export_c;

use crate::joint::{artifacts, of_three_classes};

/// They have the same bits at every 101st argument, and at every one with `CALIB_ALL_INPUTS`.
#[test]
fn exp_and_log_have_the_bits_of_libm() {
    let step: u32 = if env::var_os("CALIB_ALL_INPUTS").is_some() { 1 } else { 101 };
    let (_, bytes) = artifacts((3, 3000), &of_three_classes()[..1], true).remove(0);
    let folder = tempfile::tempdir().unwrap();
    let header = export_c(&StoredArtifact::from_bytes(&bytes).unwrap(), "cal").unwrap();
    fs::write(folder.path().join("cal.h"), header).unwrap();
    let program = format!(
        "#include <stdio.h>\n#include \"cal.h\"
int main(void)
{{
    union cal_word word, result;
    uint32_t exps = 0, logs = 0;
    uint64_t bits;
    for (bits = 0x80000000u; bits <= 0xff800000u; bits += {step}u) {{
        word.bits = (uint32_t)bits;
        result.number = cal_exp(word.number);
        exps = exps * 31u + result.bits;
    }}
    for (bits = 1; bits <= 0x3f800000u; bits += {step}u) {{
        word.bits = (uint32_t)bits;
        result.number = cal_log(word.number);
        logs = logs * 31u + result.bits;
    }}
    return printf(\"%u %u\", (unsigned)exps, (unsigned)logs) < 0;
}}
"
    );
    fs::write(folder.path().join("main.c"), program).unwrap();
    // A compiler that may join a multiplication and an addition, on a machine that can: others need no option for it.
    let machine: &[&str] = if cfg!(target_arch = "x86_64") { &["-march=native"] } else { &[] };
    let mut cc = Command::new("cc");
    cc.current_dir(folder.path()).args(["-std=gnu99", "-O2", "main.c", "-o", "main"]).args(machine);
    assert!(cc.status().unwrap().success());
    let run = Command::new(folder.path().join("main")).stdin(Stdio::null()).output().unwrap();
    let hash = |bits: std::ops::RangeInclusive<u32>, function: fn(f32) -> f32| {
        bits.step_by(step as usize).fold(0u32, |hash, bits| {
            hash.wrapping_mul(31).wrapping_add(function(f32::from_bits(bits)).to_bits())
        })
    };
    let exps = hash(0x8000_0000..=0xff80_0000, libm::expf);
    let logs = hash(1..=0x3f80_0000, libm::logf);
    assert_eq!(String::from_utf8(run.stdout).unwrap(), format!("{exps} {logs}"));
}
