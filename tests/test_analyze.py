"""What a run is said to be bound by, and the advice: from files that are made to deserve it."""

import pytest

import nanuk as pl

N = 400_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("analyze")
    i = pl.int_range(N)
    frame = pl.select(k=i * 7919 % N, v=i, s="text" + i.cast(pl.String))
    frame.write_parquet(path / "unsorted.parquet", row_group_size=20_000)
    frame.sort("k").write_parquet(path / "sorted.parquet", row_group_size=20_000)
    frame.write_parquet(path / "bare.parquet", row_group_size=20_000, statistics=False)
    return path


def found(query):
    return query.analyze().to_dict()


def scan_of(result):
    return next(node["scan"] for node in result["nodes"] if "scan" in node)


def test_shares_and_counters(folder):
    lf = pl.scan_parquet(folder / "sorted.parquet")
    analysis = lf.filter(pl.col("k") < 1000).group_by(pl.col("v") % 7).agg(pl.len()).analyze()
    result = analysis.to_dict()
    assert result["bound_by"] in ("reading", "decompression", "decoding", "computing", "one thread")
    assert set(result["thread_seconds"]) == {"read", "decompress", "decode", "compute", "unused"}
    assert result["seconds"] > 0
    assert all(seconds >= 0 for seconds in result["thread_seconds"].values())
    assert result["threads"] == pl.thread_pool_size()
    scan = scan_of(result)
    assert scan["groups"] == 20
    assert scan["groups_pruned"] == 19
    assert 0 < scan["bytes_read"] < scan["bytes_file"]
    assert result["memory"]["bytes_peak"] > 0
    assert result["memory"]["bytes_limit"] is None
    assert result["device"]["helps"] == "unknown"
    assert len(result["pipelines"]) >= 2
    assert all(p["seconds"] >= p["seconds_end"] >= 0 for p in result["pipelines"])
    assert analysis.advice == result["advice"] != []
    text = str(analysis)
    assert f"bound by {result['bound_by']}" in text
    assert "left out 19 of 20 row groups" in text
    assert all(sentence in text for sentence in result["advice"])
    assert "<pre>" in analysis._repr_html_()


def test_unsorted_files(folder):
    advice = found(pl.scan_parquet(folder / "unsorted.parquet").filter(pl.col("k") < 1000))["advice"]
    assert any("Sort by k before writing" in sentence and "0 of 20 row groups" in sentence for sentence in advice)
    advice = found(pl.scan_parquet(folder / "sorted.parquet").filter(pl.col("k") < 1000))["advice"]
    assert not any("Sort by" in sentence for sentence in advice)


def test_files_without_statistics(folder):
    advice = found(pl.scan_parquet(folder / "bare.parquet").filter(pl.col("k") < 1000))["advice"]
    assert any("20 of 20 row groups have no statistics of k" in sentence for sentence in advice)


def test_joins_that_grow():
    side = pl.select(k=pl.int_range(4000) % 10, v=pl.int_range(4000)).lazy()
    result = found(side.join(side, on="k").select(pl.col("v") + pl.col("v_right")))
    joins = [node for node in result["nodes"] if "growth" in node]
    assert joins[0]["rows_out"] == 1_600_000
    assert joins[0]["growth"] >= 200
    assert any("keys repeat on both sides" in sentence for sentence in result["advice"])


def test_limits_and_errors(folder):
    lf = pl.scan_parquet(folder / "sorted.parquet")
    assert lf.analyze(memory_limit=1 << 30).to_dict()["memory"]["bytes_limit"] == 1 << 30
    with pytest.raises(MemoryError):
        lf.sort("s").analyze(memory_limit=100_000)
    with pytest.raises(pl.exceptions.ColumnNotFoundError):
        lf.select("nope").analyze()
