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
    for (bytes, kind, help) in [
        (archive(&["docProps/app.xml", "xl/workbook.xml"]), "a spreadsheet", sheet),
        (archive(&["a.xml", "[Content_Types].xml", "xl/worksheets/sheet1.xml"]), "a spreadsheet", sheet),
        (archive(&["_rels/.rels", "xl/workbook.xml"]), "a spreadsheet", sheet),
        (archive(&["archive/data.pkl", "archive/version"]), "a file of PyTorch", "tensor.detach().cpu()"),
        (archive(&["scores.csv"]), "a ZIP archive without NumPy arrays", "unpack it"),
        (start(b"BZh91AY&SY"), "a file compressed with bzip2", "compress it with gzip, which is read"),
        (start(b"\xfd7zXZ\0"), "a file compressed with xz", "unpack it"),
        (start(b"\x28\xb5\x2f\xfd"), "a file compressed with zstd", "unpack it"),
        (start(b"\x89HDF\r\n\x1a\n"), "an HDF5 file", "pandas.read_hdf"),
        (start(b"<stata_dta><header>"), "a Stata file", "pandas.read_stata"),
        (start(b"\x72\x02\x01\x00"), "a Stata file", "export delimited"),
        (start(b"MATLAB 5.0 MAT-file, Platform: GLNXA64"), "a MATLAB file", "scipy.io.loadmat"),
        (start(b"SQLite format 3\0"), "an SQLite database", "sqlite3 -header -csv"),
        (start(b"$FL2@(#) SPSS DATA FILE"), "an SPSS file", "pandas.read_spss"),
        (start(b"\0\0\0\0\0\0\0\0\0\0\0\0\xc2\xea\x81\x60"), "a SAS file", "pandas.read_sas"),
        (gz(start(b"X\n\0\0\0\x03\0\x04\x03\x01")), "a file of R's saveRDS or save", "write.csv(table"),
        (gz(start(b"RDX3\nX\n")), "a file of R's saveRDS or save", "write.csv(table"),
        (start(b"\x80\x02\x8a\x0a\x6c\xfc\x9c\x46\xf9\x20"), "a file of PyTorch", "numpy.save"),
        (
            start(b"\x7fELF\x02\x01\x01"),
            "a binary file of no known kind",
            "as CSV, Parquet, Arrow or JSON lines",
        ),
        (gz(start(b"score,label\n")), "a binary file of no known kind", "as CSV, Parquet"),
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
