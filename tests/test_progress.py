"""What long queries show of their progress: on a terminal, in a notebook, and nowhere else. Each in a process of its own, ended
by a time limit."""

import os
import pty
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import nanuk as pl

ROOT = Path(__file__).resolve().parent.parent
BAR = re.compile(r"[\r\n]\[[#.]{30}\] +\d+%  ")

# A third of the square of n pairs: more than any machine joins in the time given.
LONG = """
import nanuk as pl

n = 40_000
left = pl.select(k=pl.int_range(n) % 3, a=pl.int_range(n)).lazy()
query = left.join(left, on="k").filter((pl.col("a") * pl.col("a_right")) % 1_000_003 == 7).select(pl.len())
def run():
    try:
        query.collect(time_limit=2.5)
    except TimeoutError:
        pass
"""


def shown(command, **environment):
    """What a command writes to a terminal that is its standard error."""
    master, slave = pty.openpty()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=slave, env={**os.environ, **environment}) as process:
        os.close(slave)
        text = b""
        while True:
            try:
                got = os.read(master, 65536)
            except OSError:
                got = b""
            if not got:
                break
            text += got
        process.stdout.read()
    os.close(master)
    return text.decode()


def python(code):
    return [sys.executable, "-c", LONG + textwrap.dedent(code)]


def test_a_bar_on_a_terminal_that_is_erased():
    text = shown(python("run()"))
    assert len(BAR.findall(text)) > 1, text
    assert text.endswith("\r\x1b[K")
    assert "Error" not in text


def test_short_queries_show_nothing():
    assert shown(python("for i in range(10): left.sort('a').collect()")) == ""


@pytest.mark.parametrize(
    ("code", "environment"), [("pl.Config.set_progress(False); run()", {}), ("run()", {"NANUK_PROGRESS": "0"})]
)
def test_switched_off(code, environment):
    assert shown(python(code), **environment) == ""


def test_what_is_no_terminal_shows_nothing_unless_asked():
    for environment, is_shown in (({}, False), ({"NANUK_PROGRESS": "1"}, True)):
        process = subprocess.run(
            python("run()"), capture_output=True, text=True, env={**os.environ, **environment}, check=True
        )
        assert bool(BAR.search(process.stderr)) == is_shown
    process = subprocess.run(
        python("with pl.Config(progress=True): run()\nrun()"), capture_output=True, text=True, check=True
    )
    assert process.stderr.count("\n\x1b[K") == 1


def test_a_notebook(tmp_path):
    package = tmp_path / "IPython"
    package.mkdir()
    (package / "__init__.py").write_text("class Shell: kernel = 1\ndef get_ipython(): return Shell()\n")
    (package / "display.py").write_text(
        "class Handle:\n    def update(self, data, raw): print(data['text/plain'])\n"
        "def display(data, raw, display_id): print(data['text/plain']); return Handle()\n"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])}
    process = subprocess.run(
        python("import IPython; run(); print('end')"), capture_output=True, text=True, env=environment, check=True
    )
    lines = process.stdout.split("\n")
    assert re.match(r"\[[#.]{30}\] +\d+%", lines[0])
    assert lines[-3:] == ["", "end", ""]
    assert process.stderr == ""


def test_a_function_that_fails_ends_the_query():
    process = subprocess.run(
        python(
            """
            from nanuk import _nanuk
            _nanuk.set_progress(lambda line, fraction: 1 / 0)
            try:
                query.collect(time_limit=600)
            except ZeroDivisionError:
                print("ended", pl.select(pl.int_range(3).sum()).item())
            """
        ),
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert process.stdout == "ended 3\n", process.stderr


def shell():
    for place in (os.environ.get("NANUK_SHELL"), ROOT / "build" / "cli" / "nanuk", shutil.which("nanuk")):
        if place and Path(place).exists():
            return str(place)
    return None


@pytest.mark.skipif(shell() is None or "LD_PRELOAD" in os.environ, reason="no shell here")
def test_the_shell(tmp_path):
    path = tmp_path / "x.parquet"
    pl.select(k=pl.int_range(40_000) % 3, a=pl.int_range(40_000)).write_parquet(path)
    query = f"select count(*) from '{path}' l join '{path}' r on l.k = r.k where (l.a * r.a) % 1000003 = 7"
    text = shown([shell(), query], NANUK_TIME_LIMIT="2.5")
    assert BAR.search(text)
    assert re.search(r"\r\x1b\[Kerror: the query took longer than its time limit of 2.5 s", text)
    assert shown([shell(), query], NANUK_TIME_LIMIT="2", NANUK_PROGRESS="0").startswith("error")
