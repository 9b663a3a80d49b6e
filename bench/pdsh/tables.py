"""The TPC-H tables as files: made once per scale into build/tpch, and opened for a query.

Two schemas of the same data: as tpchgen-cli writes it (money and quantities are Decimal(15, 2)), and "float", where
Polars has cast those columns to Float64 and every file keeps its row groups. As CSV the tables have the float schema, as
readers infer it. A folder is complete when it holds `.done`; files are made aside and moved in, so an interrupted run
leaves nothing that a later one would trust.
"""

import os
import shutil
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TABLES = ("region", "nation", "supplier", "customer", "part", "partsupp", "orders", "lineitem")
SCHEMAS = ("decimal", "float")
SOURCES = ("parquet", "memory", "csv")  # memory: Parquet files read before the clock starts


def folder(scale, schema="decimal", source="parquet"):
    """Where the tables of a scale, schema and source live: build/tpch/sf1, sf0.01-float, sf1-csv."""
    kind = "-csv" if source == "csv" else "-float" if schema == "float" else ""
    return ROOT / "build" / "tpch" / f"sf{scale:g}{kind}"


def generator():
    """The path of tpchgen-cli, looked for beside this Python first, or None."""
    beside = Path(sys.executable).with_name("tpchgen-cli")
    return str(beside) if beside.exists() else shutil.which("tpchgen-cli")


def ensure(scale, schema="decimal", source="parquet"):
    """Makes the tables unless they are there; returns their folder."""
    if source == "csv" and schema != "float":
        raise ValueError("tables in CSV have the float schema")
    target = folder(scale, schema, source)
    done = target / ".done"
    if done.exists():
        return target
    partial = target.with_name(f"{target.name}.partial-{os.getpid()}")
    partial.mkdir(parents=True)
    try:
        if source == "csv":
            _write_csv(ensure(scale), partial)
        elif schema == "float":
            _cast_to_float(ensure(scale), partial)
        else:
            _generate(scale, partial)
        target.mkdir(exist_ok=True)
        for file in sorted(partial.iterdir()):
            file.replace(target / file.name)
        done.touch()
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return target


def _generate(scale, target):
    tool = generator()
    if tool is None:
        raise FileNotFoundError("tpchgen-cli is missing: pip install tpchgen-cli")
    command = [tool, "parquet", "-s", f"{scale:g}", "-o", str(target), "-q"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    lacking = [name for name in TABLES if not (target / f"{name}.parquet").exists()]
    if lacking:
        raise FileNotFoundError(f"tpchgen-cli wrote no {', '.join(lacking)}")


def _cast_to_float(source, target):
    import polars as pl
    import pyarrow as pa
    import pyarrow.parquet as pq

    for name in TABLES:
        reader = pq.ParquetFile(source / f"{name}.parquet")
        writer = None
        for group in range(reader.num_row_groups):
            table = reader.read_row_group(group)
            for index, field in enumerate(table.schema):
                if pa.types.is_decimal(field.type):
                    values = pl.from_arrow(table.column(index)).cast(pl.Float64).to_arrow()
                    cast = pa.field(field.name, pa.float64(), nullable=field.nullable)
                    table = table.set_column(index, cast, values)
            if writer is None:
                writer = pq.ParquetWriter(target / f"{name}.parquet", table.schema, compression="snappy")
            writer.write_table(table, row_group_size=table.num_rows)
        writer.close()


def _write_csv(source, target):
    import polars as pl

    for name in TABLES:
        pl.scan_parquet(source / f"{name}.parquet").sink_csv(target / f"{name}.csv")


class Tables:
    """What a query gets: the module and its eight tables as LazyFrames (see queries.py)."""

    def __init__(self, pl, scale, schema="decimal", source="parquet"):
        self.pl = pl
        self.scale = scale
        self.schema = schema
        self.source = source
        self.path = folder(scale, schema, source)
        self.frames = {name: self._scan(name).collect() for name in TABLES} if source == "memory" else {}

    def __getattr__(self, name):
        if name not in TABLES:
            raise AttributeError(name)
        return self.frames[name].lazy() if self.frames else self._scan(name)

    def _scan(self, name):
        if self.source == "csv":
            return self.pl.scan_csv(self.path / f"{name}.csv", try_parse_dates=True)
        return self.pl.scan_parquet(self.path / f"{name}.parquet")

    def number(self, text):
        """A literal of the type of the tables' numbers."""
        return self.pl.lit(Decimal(text) if self.schema == "decimal" else float(text))
