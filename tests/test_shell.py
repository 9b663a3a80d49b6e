"""The shell `nanuk`: queries, scripts and files from the command line, and a session at a pseudo-terminal."""

import json
import os
import pathlib
import pty
import select
import shutil
import signal
import subprocess
import sys
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]


def program():
    """Beside the build that is tested, else the installed one."""
    for place in (os.environ.get("NANUK_SHELL"), ROOT / "build" / "cli" / "nanuk", shutil.which("nanuk")):
        if place and pathlib.Path(place).exists():
            return str(place)
    return None


SHELL = program()
pytestmark = [
    pytest.mark.skipif(SHELL is None, reason="the shell is not built"),
    pytest.mark.skipif("LD_PRELOAD" in os.environ, reason="the shell is no sanitized program"),
]


def run(*args, text=None, **more):
    return subprocess.run([SHELL, *map(str, args)], input=text, capture_output=True, text=True, timeout=60, **more)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "o'clock.parquet"
    done = run("select * from (values (1, 'x', 1.5), (2, 'y', null), (3, 'a,b', 2.5)) as v(n, s, p)", "-o", path)
    assert done.returncode == 0, done.stderr
    return path


def quoted(path):
    return "'" + str(path).replace("'", "''") + "'"


def test_version_and_help():
    assert run("--version").stdout.startswith("nanuk ")
    assert "usage:" in run("--help").stdout


def test_a_query_prints_a_table(table):
    done = run(f"select n, s from {quoted(table)} where n > 1 order by n")
    assert done.returncode == 0
    assert "shape: (2, 2)" in done.stdout and "a,b" in done.stdout


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("csv", 'n,s,p\n1,x,1.5\n2,y,\n3,"a,b",2.5\n'),
        ("ndjson", '{"n":1,"s":"x","p":1.5}\n{"n":2,"s":"y","p":null}\n{"n":3,"s":"a,b","p":2.5}\n'),
        (
            "markdown",
            "| n | s   | p    |\n|---|-----|------|\n| 1 | x   | 1.5  |\n| 2 | y   | null |\n| 3 | a,b | 2.5  |\n",
        ),
    ],
)
def test_formats(table, form, expected):
    assert run(f"select * from {quoted(table)} order by n", "-m", form).stdout == expected


def test_json_is_json():
    text = """select 1 as i, 'quote " and \\ and é' as s, [1, null, 3] as l, date '2024-02-29' as d, null as n"""
    done = run(text, "-m", "json")
    assert json.loads(done.stdout) == [
        {"i": 1, "s": 'quote " and \\ and é', "l": [1, None, 3], "d": "2024-02-29", "n": None}
    ]


def test_a_file_shows_its_schema_and_rows(table):
    done = run(table)
    assert done.returncode == 0
    assert "3 rows, 3 columns" in done.stdout and "String" in done.stdout and "a,b" in done.stdout


def test_output_goes_to_a_file_in_the_format_of_its_name(table, tmp_path):
    assert run(f"select n from {quoted(table)} order by n", "-o", tmp_path / "x.csv").stdout == ""
    assert (tmp_path / "x.csv").read_text() == "n\n1\n2\n3\n"
    assert "3 rows" in run(tmp_path / "x.csv").stdout


def test_scripts_keep_their_tables_and_stop_at_an_error(tmp_path):
    script = tmp_path / "s.sql"
    script.write_text(
        "-- a comment; with a semicolon\ncreate table t as select 'a;b' as x;\n"
        "select x from t; select y from t; select 7;"
    )
    done = run("-f", script, "-m", "csv")
    assert done.returncode == 1
    assert done.stdout == "Response\nCREATE TABLE t\nx\na;b\n"
    assert 'unable to find column "y"' in done.stderr and "^" in done.stderr


def test_standard_input_is_a_script():
    done = run("-m", "csv", text="select 1 as a; select 2 as b")
    assert (done.returncode, done.stdout) == (0, "a\n1\nb\n2\n")


def test_explain_analyze_and_timer(table):
    assert "scan Parquet" in run("--explain", f"select n from {quoted(table)}").stdout
    assert "scan Parquet" in run("--analyze", f"select n from {quoted(table)}").stdout
    assert run("--timer", "select 1").stderr.endswith(" s\n")


@pytest.mark.parametrize(
    "args", [["selec 1 x"], ["no-such-file"], ["select * from 'no-such-file.parquet'"], ["-f", "no-such-script"]]
)
def test_errors_end_with_1(args):
    done = run(*args)
    assert done.returncode == 1 and done.stderr and not done.stdout


def test_bad_options_end_with_2():
    assert run("--no-such-option").returncode == 2
    assert run("-m", "nonsense", "select 1 x").returncode == 2


@pytest.mark.parametrize("ignored", [False, True])
def test_a_closed_pipe_is_quiet(ignored):
    rows = ", ".join(f"({i}, 'some text that fills the pipe')" for i in range(1000))
    query = f"select * from (values {rows}) a(n, s), (values (1), (2), (3), (4), (5), (6)) b(m)"
    command = [SHELL, query, "-m", "csv"]
    handler = (lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN)) if ignored else None
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(command, **pipes, restore_signals=not ignored, preexec_fn=handler) as process:
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=60) in (0, -signal.SIGPIPE)


class Session:
    """A shell at a pseudo-terminal."""

    def __init__(self, home):
        environment = {**os.environ, "HOME": str(home), "TERM": "xterm", "COLUMNS": "100", "LC_ALL": "C.UTF-8"}
        environment.pop("NANUK_HISTORY", None)
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.execve(SHELL, [SHELL], environment)
        self.text = ""
        self.expect("nanuk> ")

    def send(self, keys):
        self.text = ""
        os.write(self.terminal, keys.encode())

    def expect(self, wanted, seconds=20):
        end = time.monotonic() + seconds
        while wanted not in self.text:
            ready, _, _ = select.select([self.terminal], [], [], max(end - time.monotonic(), 0))
            assert ready, f"{wanted!r} is not in {self.text!r}"
            try:
                self.text += os.read(self.terminal, 65536).decode(errors="replace")
            except OSError:
                raise AssertionError(f"the session ended before {wanted!r}: {self.text!r}") from None

    def end(self):
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            try:
                os.read(self.terminal, 65536)
            except OSError:
                break
        _, status = os.waitpid(self.pid, 0)
        os.close(self.terminal)
        return os.waitstatus_to_exitcode(status)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="pseudo-terminals of Linux")
def test_a_session(tmp_path):
    session = Session(tmp_path)
    session.send("select 40 + 2 as answer;\n")
    session.expect("│ 42")
    session.expect("nanuk> ")
    # A statement of several lines.
    session.send("create table t as\n")
    session.expect("...> ")
    session.send("select 'x' as c;\n")
    session.expect("CREATE TABLE t")
    session.send(".tables\n")
    session.expect("│ t")
    session.send(".schema t\n")
    session.expect("String")
    # An error is told, and the session goes on.
    session.send("select nope from t;\n")
    session.expect("unable to find column")
    session.expect("nanuk> ")
    session.send(".mode csv\n")
    session.expect("nanuk> ")
    # The arrow key brings the line before, which is edited: 5 becomes 57.
    session.send("select 5 as five;\n")
    session.expect("five\r\n5\r\n")
    session.send("\x1b[A\x1b[A")
    session.expect("mode csv")
    session.send("\x1b[B")
    session.expect("as five;")
    session.send("\x01" + "\x06" * len("select 5") + "7\n")
    session.expect("five\r\n57\r\n")
    session.send(".quit\n")
    assert session.end() == 0
    assert "five" in (tmp_path / ".nanuk_history").read_text()


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="pseudo-terminals of Linux")
def test_end_of_input_ends_a_session_and_history_is_kept(tmp_path):
    session = Session(tmp_path)
    session.expect("nanuk> ")
    session.send("select 1 as kept;\n")
    session.expect("kept")
    session.expect("nanuk> ")
    session.send("\x04")
    assert session.end() == 0
    session = Session(tmp_path)
    session.expect("nanuk> ")
    session.send("\x1b[A")
    session.expect("as kept;")
    session.send("\n")
    session.expect("│ 1")
    session.expect("nanuk> ")
    session.send("\x04")
    assert session.end() == 0
