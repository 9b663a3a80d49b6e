"""What importing loads, what names there are, and that lacking ones are listed in one place."""

import subprocess
import sys

import nanuk as pl
import pytest
from nanuk import not_yet


def test_import_loads_no_other_library():
    code = (
        "import sys, nanuk; "
        "print([m for m in ('numpy', 'pandas', 'pyarrow', 'polars', 'hypothesis', 'inspect') if m in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


@pytest.mark.parametrize("name", sorted(pl.__all__))
def test_names_of_the_package_exist(name):
    assert getattr(pl, name) is not None


def test_lacking_names_raise_when_used():
    for family, names in not_yet.FAMILIES.items():
        for name in names:
            with pytest.raises(NotImplementedError, match=name):
                not_yet.stand_in(name)()
            assert family


@pytest.mark.parametrize("name", sorted(not_yet.METHODS))
def test_lacking_methods_raise_when_called(name):
    owner = getattr(pl, name)
    for names in not_yet.METHODS[name].values():
        for method in names:
            assert hasattr(owner, method)


def test_functions_of_the_api_have_a_method():
    """Every function of the engine whose name has no dot is a method of Expr, a function, or used by one of them."""
    import json

    from nanuk import _nanuk

    known = set(dir(pl.Expr)) | set(dir(pl))
    inner = {"and", "or", "not", "when", "as_struct", "concat_list"}
    names = {row["name"] for row in json.loads(_nanuk.functions()) if "." not in row["name"]}
    missing = {name for name in names - known - inner if not name.startswith(("list_", "each"))}
    assert missing <= {"explode_rows", "field"}, missing


def test_selectors_by_pattern():
    frame = pl.DataFrame({"ab": [1], "ac": [2], "b": ["x"]})
    cs = pl.selectors
    assert frame.select(pl.col("^a.$")).columns == ["ab", "ac"]
    assert frame.select(pl.col(pl.Int64)).columns == ["ab", "ac"]
    assert frame.select(cs.matches("c$") | cs.string()).columns == ["ac", "b"]
    assert frame.cast({cs.numeric(): pl.Int8}).dtypes == [pl.Int8, pl.Int8, pl.String]


def test_questions_about_expressions():
    assert pl.lit(1).meta.is_literal()
    assert not pl.lit(1).alias("a").meta.is_literal()
    assert pl.lit(1).alias("a").meta.is_literal(allow_aliasing=True)
    assert str(pl.col("a").alias("b").meta.undo_aliases()) == str(pl.col("a"))
    assert [str(item) for item in (pl.col("a") + pl.col("b")).meta.pop()] == [str(pl.col("b")), str(pl.col("a"))]
    assert pl.col("^a$").meta.is_regex_projection()


def test_strategies_make_what_they_say():
    hypothesis = pytest.importorskip("hypothesis")
    from nanuk.testing.parametric import column, dataframes

    seen = []

    @hypothesis.settings(max_examples=25, deadline=None, database=None)
    @hypothesis.given(dataframes([column("a", dtype=pl.Int8), column("b", dtype=pl.String)], max_size=4))
    def check(frame):
        assert frame.schema == {"a": pl.Int8, "b": pl.String}
        assert frame.height <= 4
        seen.append(frame.height)

    check()
    assert len(set(seen)) > 1
