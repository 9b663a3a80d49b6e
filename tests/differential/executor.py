"""A process that runs rendered plans on one engine, so that a crash or a hang of the engine is only an outcome.

    python executor.py polars          reads pickled requests on stdin, writes pickled outcomes on stdout
    python executor.py polars:in-memory   the same with collect(engine="in-memory")
    python executor.py polars:unoptimized   and without optimisations

An outcome is ("ok", [(name, dtype)], [rows]) or ("error", class name, message); the parent adds ("crash", ...) and
("timeout", ...). Requests and outcomes are length-prefixed.
"""

import importlib
import os
import pickle
import struct
import sys
import warnings


def run(request, pl, options):
    # Imported late: this file runs as a script, the package may not be importable before its folder is on the path.
    from differential.plans import environment

    names = environment(pl)
    for name, (source, path) in request["frames"].items():
        names[name] = pl.scan_parquet(path) if path else eval(source, names).lazy()
    answer = eval(request["plan"], names).collect(**options)
    return "ok", [(name, str(dtype)) for name, dtype in answer.schema.items()], [tuple(row) for row in answer.rows()]


def main():
    module, _, engine = sys.argv[1].partition(":")
    requests = sys.stdin.buffer
    outcomes = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints must not disturb the protocol
    warnings.simplefilter("ignore")
    pl = importlib.import_module(module)
    if engine == "unoptimized":
        options = {"optimizations": pl.QueryOptFlags.none()}
    else:
        options = {"engine": engine} if engine else {}
    while header := requests.read(8):
        request = pickle.loads(requests.read(struct.unpack("<q", header)[0]))
        try:
            outcome = run(request, pl, options)
        except BaseException as error:  # Polars' panics are no Exceptions
            outcome = ("error", type(error).__name__, str(error)[:500])
        try:
            data = pickle.dumps(outcome)
        except Exception as error:
            data = pickle.dumps(("error", "Unpicklable", repr(error)))
        outcomes.write(struct.pack("<q", len(data)) + data)
        outcomes.flush()


if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    main()
