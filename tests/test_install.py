"""The installed package and library: light to import, nothing of ours leaks out, the C example runs."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]
PREFIX = ROOT / "build" / "prefix"
TABLES = ROOT / "build" / "tpch" / "sf0.01"

under_sanitizer = "LD_PRELOAD" in os.environ


def python(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_import_loads_no_other_library():
    loaded = python("import sys, nanuk; print(*sys.modules)").split()
    assert not {"numpy", "pandas", "pyarrow", "polars"} & set(loaded)


def test_import_is_light():
    """What is seldom needed is loaded when it is asked for: of ours the core alone, of the library small modules only."""
    loaded = python("import sys; before = set(sys.modules); import nanuk; print(*set(sys.modules) - before)").split()
    heavy = {
        "asyncio",
        "concurrent",
        "ctypes",
        "decimal",
        "inspect",
        "json",
        "re",
        "socket",
        "threading",
        "typing",
        "zoneinfo",
    }
    assert not heavy & set(loaded)
    ours = {name for name in loaded if name.split(".")[0] == "nanuk"}
    assert not ours & {
        f"nanuk.{name}" for name in ("config", "convert", "csv", "io", "selectors", "sql_context", "temporal")
    }
    assert len(ours) <= 30 and len(loaded) <= 60


def test_only_the_public_api_is_exported():
    names = (ROOT / "include" / "nanuk.symbols").read_text().split()
    assert names and all(name.startswith("nk_") and not name.startswith("nk__") for name in names)


def test_module_exports_its_entry_only():
    if not shutil.which("nm"):
        pytest.skip("nm is missing")
    path = python("import nanuk._nanuk as module; print(module.__file__)").strip()
    listing = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True, check=True).stdout
    names = {line.split()[-1] for line in listing.splitlines()}
    assert {name for name in names if not name.startswith(("_", "__"))} <= {"PyInit__nanuk"}


@pytest.mark.skipif(under_sanitizer, reason="builds against the plain library")
@pytest.mark.skipif(not (PREFIX / "lib" / "pkgconfig" / "nanuk.pc").exists(), reason="the C library is not installed")
def test_c_example_runs_against_the_installed_library(tmp_path):
    environment = dict(os.environ, PKG_CONFIG_PATH=str(PREFIX / "lib" / "pkgconfig"))
    flags = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "nanuk"], env=environment, capture_output=True, text=True, check=True
    ).stdout.split()
    program = tmp_path / "quickstart"
    source = ROOT / "examples" / "quickstart.c"
    compiler = [os.environ.get("CC", "cc"), "-std=c17", "-Wall", "-Wextra", "-Werror"]
    subprocess.run([*compiler, "-o", program, source, *flags, f"-Wl,-rpath,{PREFIX / 'lib'}"], check=True)
    done = subprocess.run([program, TABLES], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "shape: " in done.stdout

    missing = subprocess.run([program, tmp_path], capture_output=True, text=True)
    assert missing.returncode == 1 and "lineitem" in missing.stderr
