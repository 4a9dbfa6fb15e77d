//! How to write what a file holds so that it is read.

use calib_io::files::Foreign;

/// How to write what such a file holds so that it is read.
pub(super) fn of_foreign(foreign: Foreign) -> &'static str {
    match foreign {
        Foreign::Bzip2 | Foreign::Xz | Foreign::Zstd | Foreign::Lz4 => {
            "unpack it, or compress it with gzip, which is read: pandas does it with to_csv(\"scores.csv.gz\")"
        }
        Foreign::SevenZip | Foreign::Zip => "unpack it, and give the file with the scores",
        Foreign::Hdf5 => {
            "write the table in Python with pandas.read_hdf(FILE).to_parquet(\"scores.parquet\"), and arrays of h5py with numpy.save"
        }
        Foreign::Stata => {
            "write it in Stata with `export delimited`, or in Python with pandas.read_stata(FILE).to_parquet(\"scores.parquet\")"
        }
        Foreign::Matlab => {
            "write it in MATLAB with writetable or writematrix, or in Python with numpy.save(\"scores.npy\", \
             scipy.io.loadmat(FILE)[NAME].ravel())"
        }
        Foreign::Sqlite => {
            "write a table of it with `sqlite3 -header -csv FILE \"select score, label from TABLE\" > scores.csv`"
        }
        Foreign::Spss => {
            "write it in SPSS with SAVE TRANSLATE /TYPE=CSV /FIELDNAMES, or in Python with \
             pandas.read_spss(FILE).to_parquet(\"scores.parquet\")"
        }
        Foreign::Sas => {
            "write it in SAS with PROC EXPORT DBMS=CSV, or in Python with pandas.read_sas(FILE).to_parquet(\"scores.parquet\")"
        }
        Foreign::R => "write the table in R with write.csv(table, \"scores.csv\", row.names = FALSE)",
        Foreign::Torch => {
            "write the tensor in Python with numpy.save(\"scores.npy\", tensor.detach().cpu().numpy())"
        }
        _ => {
            "give a table as CSV, Parquet, Arrow or JSON lines, or arrays as numpy.save and numpy.savez write them"
        }
    }
}
