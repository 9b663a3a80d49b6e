"""Plans, Parquet, Arrow and JSON files cut short or with bytes changed: an error of the engine or an answer, never a crash or a
hang.

The reading happens in a process of its own, which notes every attempt before it makes it, so that a crash names
the damage that caused it. Seeds are fixed: a failure repeats.
"""

import json
import os
import pathlib
import random
import subprocess
import sys

import pytest

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
ipc = pytest.importorskip("pyarrow.ipc")

N_FLIPS = 250
VARIANTS = {
    "plain": {"use_dictionary": False, "compression": "none", "data_page_version": "1.0"},
    "dictionary": {"use_dictionary": True, "compression": "snappy", "data_page_version": "1.0"},
    "pages_v2": {"use_dictionary": True, "compression": "zstd", "data_page_version": "2.0"},
    "page_index": {"use_dictionary": False, "compression": "lz4", "write_page_index": True, "data_page_size": 256},
    "delta": {
        "use_dictionary": False,
        "compression": "none",
        "column_encoding": {"i": "DELTA_BINARY_PACKED", "s": "DELTA_BYTE_ARRAY", "b": "DELTA_LENGTH_BYTE_ARRAY"},
    },
}

READER = """
import pathlib, sys
import nanuk as pl

readers = {
    ".parquet": (pl.read_parquet, pl.scan_parquet),
    ".plan": (lambda path: pl.LazyFrame.deserialize(path).collect_schema(), pl.LazyFrame.deserialize),
    ".arrow": (pl.read_ipc, pl.scan_ipc),
    ".ndjson": (pl.read_ndjson, pl.scan_ndjson),
    ".json": (pl.read_json, lambda path: pl.read_json(path, schema={"i": pl.Int8, "st": pl.Struct({"a": pl.Int64})}).lazy()),
    ".arrows": (pl.read_ipc_stream, lambda path: pl.read_ipc_stream(path, columns=["i", "s"]).lazy()),
}
fine = (pl.exceptions.PolarsError, OSError, MemoryError)
if sys.argv[2].endswith(".plan"):
    fine += (ValueError, TypeError, OverflowError)
notes = open(sys.argv[1], "w")
for path in sys.argv[2:]:
    read, scan = readers[pathlib.Path(path).suffix]
    for work in (lambda: read(path), lambda: scan(path).filter(pl.col("i") > 2).collect()):
        notes.write(path + "\\n")
        notes.flush()
        try:
            str(work())
        except fine:
            pass
notes.write("end\\n")
"""


def table(n_rows=200):
    generator = random.Random(1)

    def maybe(value):
        return None if generator.random() < 0.2 else value

    return pa.table(
        {
            "i": pa.array([maybe(n) for n in range(n_rows)], pa.int64()),
            "x": pa.array([maybe(n / 3) for n in range(n_rows)], pa.float64()),
            "s": pa.array([maybe(f"text {n % 7} " * (n % 4)) for n in range(n_rows)], pa.large_string()),
            "b": pa.array([maybe(bytes([n % 256]) * (n % 20)) for n in range(n_rows)], pa.binary()),
            "t": pa.array([maybe(n % 3 == 0) for n in range(n_rows)], pa.bool_()),
            "d": pa.array([maybe(n) for n in range(n_rows)], pa.decimal128(15, 2)),
            "n": pa.array([maybe(n * 10**9) for n in range(n_rows)], pa.timestamp("us")),
        }
    )


def read_all(paths, folder, timeout=300):
    notes = folder / "notes"
    command = [sys.executable, "-c", READER, str(notes), *map(str, paths)]
    try:
        environment = dict(os.environ, NANUK_MEMORY_LIMIT=str(1 << 30))
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=timeout)
        status, said = done.returncode, done.stderr[-3000:]
    except subprocess.TimeoutExpired:
        status, said = "timeout", ""
    last = notes.read_text().splitlines()[-1] if notes.exists() else "the import"
    assert status == 0 and last == "end", f"ended with {status} at {pathlib.Path(last).name}\n{said}"


def write_ipc(path, stream, compression):
    nested = {
        "l": pa.array([[n, None] * (n % 4) if n % 5 else None for n in range(200)], pa.list_(pa.int16())),
        "v": pa.array([f"text {n % 7} " * (n % 4) if n % 6 else None for n in range(200)], pa.string_view()),
        "c": pa.array([f"entry {n % 9}" if n % 8 else None for n in range(200)]).dictionary_encode(),
        "st": pa.array([{"a": n, "b": "x" * n} if n % 7 else None for n in range(200)]),
    }
    whole = table()
    for name, column in nested.items():
        whole = whole.append_column(name, column)
    make = ipc.new_stream if stream else ipc.new_file
    with make(str(path), whole.schema, options=ipc.IpcWriteOptions(compression=compression)) as writer:
        writer.write_table(whole, max_chunksize=64)


def write_json(path, is_document):
    rows = [
        {
            "i": n,
            "x": n / 3,
            "s": f'te\\u00e9xt "{n}" é' * (n % 3),
            "l": [n, None, []][: n % 4],
            "st": {"a": n % 3 == 0, "b": None},
        }
        for n in range(60)
    ]
    lines = [json.dumps(row, ensure_ascii=n % 2 == 0) for n, row in enumerate(rows)]
    path.write_text("[" + ",\n".join(lines) + "]" if is_document else "\n".join(lines) + "\n")


def write_plan(path, folder):
    import nanuk as pl
    import nanuk.selectors as cs

    frame = pl.DataFrame(
        {
            "i": [1, None, 3, 4],
            "s": ["x", "a text that is not inline", None, "y"],
            "l": [[1, 2], [], None, [None]],
            "st": [{"a": 1, "b": "z"}, None, {"a": None, "b": "é"}, {"a": 2, "b": ""}],
            "x": [1.5, float("nan"), None, -0.0],
            "t": [True, None, False, True],
            "n": [None, None, None, None],
        }
    )
    file = folder / "scanned.parquet"
    frame.select("i", "s").write_parquet(file)
    plan = (
        frame.lazy()
        .filter(pl.col("i").is_in([1, 3, 4]) & ~pl.col("s").str.contains("q", literal=True))
        .with_columns(
            (cs.numeric() - cs.by_name("i")).as_expr() * 2,
            w=pl.col("x").sum().over("t", order_by="i"),
            series=pl.Series([7, 8, 9]).sum() + pl.lit(3, pl.Int16),
            f=pl.col("st").struct.field("a").cast(pl.Decimal(10, 2), strict=False),
        )
        .join(pl.scan_parquet(file).rename({"s": "r"}), on="i", how="left")
        .explode("l")
        .sort("i", "l", descending=[True, False], nulls_last=True)
        .group_by("i", "s", maintain_order=True)
        .agg(pl.all().first(), k=pl.col("l").sum())
        .unique(["i"], keep="first", maintain_order=True)
        .with_row_index("at")
        .slice(0, 3)
    )
    path.write_bytes(pl.concat([plan, plan.head(1)]).serialize())


@pytest.fixture(params=[*VARIANTS, "plan", "json", "ndjson", "file", "file_lz4", "stream", "stream_zstd"])
def sound(request, tmp_path):
    """A suffix and the bytes of a file without damage."""
    if request.param in VARIANTS:
        path = tmp_path / "sound.parquet"
        pq.write_table(table(), path, row_group_size=64, **VARIANTS[request.param])
    elif request.param == "plan":
        path = tmp_path / "sound.plan"
        write_plan(path, tmp_path)
    elif request.param in ("json", "ndjson"):
        path = tmp_path / f"sound.{request.param}"
        write_json(path, request.param == "json")
    else:
        form, _, compression = request.param.partition("_")
        path = tmp_path / ("sound.arrows" if form == "stream" else "sound.arrow")
        write_ipc(path, form == "stream", compression or None)
    return path.suffix, path.read_bytes()


def test_cut_short(sound, tmp_path):
    suffix, sound = sound
    lengths = sorted({*range(0, len(sound), max(1, len(sound) // 150)), *range(len(sound) - 60, len(sound))})
    paths = []
    for length in lengths:
        paths.append(tmp_path / f"first-{length}-bytes{suffix}")
        paths[-1].write_bytes(sound[:length])
    read_all(paths, tmp_path)


def test_bytes_changed(sound, tmp_path):
    suffix, sound = sound
    generator = random.Random(len(sound))
    paths = []
    for _ in range(N_FLIPS):
        damaged = bytearray(sound)
        places = []
        for _ in range(generator.choice((1, 1, 2, 8))):
            # Half of them in the footer, where every byte matters.
            start = len(damaged) // 2 if generator.random() < 0.5 else 0
            place = generator.randrange(start, len(damaged))
            damaged[place] = generator.choice((0, 255, 127, 128, damaged[place] ^ 1 << generator.randrange(8)))
            places.append(place)
        paths.append(tmp_path / f"changed-{len(paths)}-{'-'.join(map(str, places))}{suffix}")
        paths[-1].write_bytes(damaged)
    read_all(paths, tmp_path)
