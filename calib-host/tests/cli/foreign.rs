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
    let sheet = "save the sheet as \"CSV UTF-8\", or in Python with pandas.read_excel";
    let write = "as CSV, Parquet, Arrow or JSON lines";
    for (bytes, kind, help) in [
        (archive(&["docProps/app.xml", "xl/workbook.xml"]), "a spreadsheet", sheet),
        (archive(&["a.xml", "[Content_Types].xml", "xl/worksheets/sheet1.xml"]), "a spreadsheet", sheet),
        (archive(&["_rels/.rels", "xl/workbook.xml"]), "a spreadsheet", sheet),
        (archive(&["scores.csv"]), "an archive of the type application/zip", "unpack it"),
        (
            start(b"BZh91AY&SY"),
            "an archive of the type application/x-bzip2",
            "compress the file in it with gzip",
        ),
        (start(b"\xfd7zXZ\0"), "an archive of the type application/x-xz", "unpack it"),
        (start(b"\x28\xb5\x2f\xfd"), "an archive of the type application/zstd", "unpack it"),
        (start(b"SQLite format 3\0"), "an archive of the type application/vnd.sqlite3", "unpack it"),
        (start(b"\x7fELF\x02\x01\x01"), "a file of the type application/x-executable", write),
        (start(b"\x89HDF\r\n\x1a\n"), "a binary file of no known type", write),
        (gz(start(b"score,label\n")), "a binary file of no known type", write),
    ] {
        for name in ["scores.csv", "scores.dat"] {
            let place = Workplace::new().with(name, &bytes);
            let run = place.run(&format!("calib fit --method isotonic --scores {name} -o out.cal"));
            let expected = format!("error: {name}: this is {kind}, which is not read\n  hint: ");
            assert_eq!(run.code, 3, "{kind}: {}", run.stderr);
            assert!(run.stderr.starts_with(&expected) && run.stderr.contains(help), "{kind}: {}", run.stderr);
        }
    }
}
