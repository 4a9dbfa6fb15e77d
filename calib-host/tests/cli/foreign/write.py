"""Writes the files beside it: eight rows by the writers that users have. Run with the versions below.

numpy==2.*, pandas==3.*, polars==2.1.0, pyarrow==26.0.1
"""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

scores = np.array([0.1, 0.9, 0.2, 0.8, 0.3, 0.7, 0.4, 0.6], dtype="float32")
labels = np.array([0, 1, 0, 1, 1, 0, 0, 1])
table = pd.DataFrame({"score": scores, "label": labels, "kind": pd.Categorical(["a", "b"] * 4)})

table.to_csv("pandas.csv", index=False)
table.to_csv("pandas.csv.gz", index=False, compression={"method": "gzip", "mtime": 0})
table.to_json("pandas.jsonl", orient="records", lines=True)
table.to_parquet("pandas.parquet")
table.to_feather("pandas.feather")
arrow = pa.Table.from_pandas(table, preserve_index=False)
pa.parquet.write_table(
    arrow, "pyarrow.parquet", compression="zstd", data_page_version="2.0", use_byte_stream_split=["score"],
    use_dictionary=["kind"],
)
pa.feather.write_feather(arrow, "pyarrow.feather", compression="zstd")
with pa.ipc.new_stream("pyarrow.arrows", arrow.schema) as stream:
    stream.write_table(arrow, max_chunksize=3)
polars = pl.from_pandas(table)
polars.write_parquet("polars.parquet")
polars.write_ipc("polars.arrow", compression="lz4")
polars.write_ipc_stream("polars.arrows")
polars.write_ndjson("polars.ndjson")
np.savez("numpy.npz", score=scores, label=labels)
np.savez_compressed("compressed.npz", score=scores, label=labels, names=np.array(["x", "y"]))
