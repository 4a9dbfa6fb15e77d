//! Files of other programs: each is named for what it is, with how to write what is in it so that it is read.

use zip::CompressionMethod;

use crate::workplace::Workplace;
use crate::written::{gz, zip};

fn archive(names: &[&str]) -> Vec<u8> {
    zip(names.iter().map(|name| (*name, &b"content"[..])), CompressionMethod::Deflated)
}

#[test]
fn a_file_of_another_program_is_named_for_what_it_is() {
    let start = |bytes: &[u8]| [bytes, &[0, 0x80, 0xff, 7].repeat(100)].concat();
    for bytes in [
        archive(&["docProps/app.xml", "xl/workbook.xml"]),
        archive(&["a.xml", "[Content_Types].xml", "xl/worksheets/sheet1.xml"]),
        archive(&["_rels/.rels", "xl/workbook.xml"]),
        archive(&["scores.csv"]),
        start(b"BZh91AY&SY"),
        start(b"\xfd7zXZ\0"),
        start(b"\x28\xb5\x2f\xfd"),
        start(b"SQLite format 3\0"),
        start(b"\x7fELF\x02\x01\x01"),
        start(b"\x89HDF\r\n\x1a\n"),
        gz(start(b"score,label\n")),
    ] {
        for name in ["scores.csv", "scores.dat"] {
            let place = Workplace::new().with(name, &bytes);
            place.says(&format!("calib fit --method isotonic --scores {name} -o out.cal"));
        }
    }
    said!();
}
