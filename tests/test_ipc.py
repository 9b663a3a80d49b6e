"""Arrow layouts that pyarrow writes and Polars does not read: growing dictionaries, list views, run-end encoding."""

import pyarrow as pa
import pyarrow.ipc as ipc
import pytest

import nanuk as pl


def written(schema, batches, stream, **options):
    sink = pa.BufferOutputStream()
    make = ipc.new_stream if stream else ipc.new_file
    with make(sink, schema, options=ipc.IpcWriteOptions(**options)) as writer:
        for batch in batches:
            writer.write_batch(batch)
    return sink.getvalue().to_pybytes()


def read(data, stream):
    return (pl.read_ipc_stream if stream else pl.read_ipc)(data)


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("compression", [None, "lz4"])
def test_dictionary_that_grows(stream, compression):
    schema = pa.schema([("c", pa.dictionary(pa.int32(), pa.utf8())), ("i", pa.int64())])
    entries = ["a", "b", None, "a text that is not inline", "e"]
    parts = [([0, 1], 2), ([2, 0, None], 3), ([3], 4), ([4, 3, 0, 1], 5)]
    batches = [
        pa.record_batch(
            [
                pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), pa.array(entries[:n])),
                pa.array(range(len(codes))),
            ],
            schema=schema,
        )
        for codes, n in parts
    ]
    data = written(schema, batches, stream, emit_dictionary_deltas=True, compression=compression)
    want = [entries[code] if code is not None else None for codes, _ in parts for code in codes]
    assert read(data, stream)["c"].to_list() == want


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("large", [False, True])
def test_list_views(stream, large):
    items = pa.array([1, 2, None, 4, 5, 6], pa.int16())
    offsets, sizes = [4, 0, 0, 2, 1, 6], [2, 3, 0, 2, 2, 0]
    kind, width = (pa.LargeListViewArray, pa.int64()) if large else (pa.ListViewArray, pa.int32())
    array = kind.from_arrays(
        pa.array(offsets, width), pa.array(sizes, width), items, mask=pa.array([False] * 4 + [True, False])
    )
    texts = kind.from_arrays(pa.array(offsets, width), pa.array(sizes, width), items.cast(pa.utf8()))
    batch = pa.record_batch({"l": array, "t": texts})
    frame = read(written(batch.schema, [batch, batch.slice(1, 3)], stream), stream)
    assert frame["l"].to_list() == array.to_pylist() + array.slice(1, 3).to_pylist()
    assert frame["t"].to_list() == texts.to_pylist() + texts.slice(1, 3).to_pylist()
    assert frame["l"].dtype == pl.List(pl.Int16)


@pytest.mark.parametrize("ends", [pa.int16(), pa.int32(), pa.int64()])
def test_run_ends(ends):
    values = ["a", None, "a text that is not inline"]
    array = pa.RunEndEncodedArray.from_arrays(pa.array([2, 3, 7], ends), pa.array(values))
    batch = pa.record_batch({"r": array, "i": pa.array(range(7))})
    frame = read(written(batch.schema, [batch], False), False)
    assert frame["r"].to_list() == ["a", "a", None] + values[2:] * 4
    assert frame["i"].to_list() == list(range(7))


def test_other_libraries_hand_them_over():
    array = pa.RunEndEncodedArray.from_arrays(pa.array([2, 5, 7], pa.int32()), pa.array([1, None, 3]))
    assert pl.from_arrow(pa.table({"r": array.slice(1, 5)}))["r"].to_list() == [1, None, None, None, 3]


@pytest.mark.parametrize(
    "kind", [pa.float16(), pa.month_day_nano_interval(), pa.dense_union([pa.field("a", pa.int8())])]
)
def test_types_without_counterpart(kind):
    schema = pa.schema([("fine", pa.int8()), ("odd", kind)])
    with pytest.raises(pl.exceptions.InvalidOperationError, match="odd"):
        read(written(schema, [], False), False)
