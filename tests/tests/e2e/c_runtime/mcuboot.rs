//! The code of the page "With MCUboot", and the files for Zephyr, against stand-ins for Zephyr's headers.

use std::fs;
use std::path::Path;

use calib_core::{Calibrator, ClassifierId, Score};
use calib_host::StoredArtifact;

use super::in_c;
use crate::update::setting::{ID, calibrator};

/// The bits of the probability at 0.5, as the program prints them.
fn bits(stored: &StoredArtifact) -> String {
    let Calibrator::Binary(binary) = stored.artifact().calibrator() else { panic!("not binary") };
    let prob = binary.calibrate(Score::new(0.5).unwrap()).calibrated().unwrap().prob;
    format!("{:08x}\n", prob.to_bits())
}

#[test]
fn the_page_installs_over_packets_and_keeps_its_calibrator() {
    let root = fs::canonicalize(Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).unwrap();
    let page = fs::read_to_string(root.join("docs/src/mcuboot.md")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let blocks = page.split("```c\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let whole: Vec<&str> = blocks.filter(|block| block.starts_with("static ")).collect();
    assert_eq!(whole.len(), 2, "the page starts, and transfers");
    let text = format!("#include \"calib_flash.h\"\n{}", whole.concat());
    fs::write(folder.path().join("page.c"), text).unwrap();
    let files = root.join("firmware/c");
    let program = format!(
        "#define PAGE \"{}\"\n#include \"{}\"\n#include \"{}\"\n",
        folder.path().join("page.c").display(),
        files.join("zephyr/calib_flash.c").display(),
        files.join("tests/zephyr/main.c").display(),
    );
    let source = folder.path().join("mcuboot.c");
    fs::write(&source, program).unwrap();
    let program = in_c::program(folder.path(), &source.display().to_string());

    let [first, second] = [(7, 1), (9, 2)].map(|(bins, counter)| calibrator(bins, counter, Some(ID)));
    let foreign = calibrator(7, 3, Some(ClassifierId(*b"stranger")));
    let paths = [("first", &first), ("second", &second), ("foreign", &foreign)].map(|(name, stored)| {
        let path = folder.path().join(name);
        fs::write(&path, stored.as_bytes()).unwrap();
        path
    });
    assert_eq!(in_c::run(&program, &paths), bits(&first) + &bits(&second));
}
