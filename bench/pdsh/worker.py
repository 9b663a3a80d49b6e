"""One process of a benchmark: runs one query on one engine and prints a JSON line with its times.

    python -m pdsh.worker --engine polars --query 6 --scale 1 --schema decimal --runs 2 --answer out.pickle

A time spans building the query to holding the answer, planning and footers included; imports and, for the SQL
engines, declaring the tables as views are outside, and so is loading the tables with `--source memory`. `--floor`
replaces the query by the decode floor: each column that the query needs is decompressed and decoded and only its nulls
are counted, table after table, on all threads (no filter, no join; an engine that prunes by statistics or decodes late
may go below it).
"""

import argparse
import importlib
import json
import os
import pickle
import time
from pathlib import Path

from . import queries, tables

DATAFRAME_ENGINES = ("nanuk", "polars")
SQL_ENGINES = ("duckdb", "datafusion")


def thread_environment(n_threads):
    """The environment variables that hold the engines to n_threads."""
    return {"NANUK_MAX_THREADS": str(n_threads), "POLARS_MAX_THREADS": str(n_threads)}


def sql_text(query, scale):
    text = (Path(__file__).parent / "sql" / f"q{query}.sql").read_text()
    return text.replace("{fraction}", f"{0.0001 / scale:.10f}".rstrip("0"))


def prepare(engine, query, scale, schema, n_threads, floor=False, source="parquet"):
    """Returns a function that computes the answer and returns it in the engine's own form."""
    path = tables.folder(scale, schema, source)
    if engine in DATAFRAME_ENGINES:
        t = tables.Tables(importlib.import_module(engine), scale, schema, source)
        if floor:
            return lambda: decode_floor(t, query)
        return lambda: queries.QUERIES[query](t).collect()
    if floor:
        raise ValueError(f"no floor query for {engine}")
    text = sql_text(query, scale)
    if engine == "duckdb":
        import duckdb

        connection = duckdb.connect()
        connection.execute(f"set threads = {n_threads}")
        kind = "table" if source == "memory" else "view"
        for name in tables.TABLES:
            files = f"read_csv('{path}/{name}.csv')" if source == "csv" else f"read_parquet('{path}/{name}.parquet')"
            connection.execute(f"create {kind} {name} as select * from {files}")
        return lambda: connection.sql(text).to_arrow_table()
    if engine == "datafusion":
        import datafusion

        config = datafusion.SessionConfig().with_target_partitions(n_threads)
        context = datafusion.SessionContext(config)
        for name in tables.TABLES:
            if source == "csv":
                context.register_csv(name, f"{path}/{name}.csv")
            elif source == "memory":
                context.register_table(name, context.read_parquet(f"{path}/{name}.parquet").cache())
            else:
                context.register_parquet(name, f"{path}/{name}.parquet")
        return lambda: context.sql(text).to_arrow_table()
    raise ValueError(f"unknown engine {engine}")


def decode_floor(t, query):
    for name, columns in queries.COLUMNS[query].items():
        getattr(t, name).select(columns.split()).select(t.pl.all().null_count()).collect()


def portable(answer):
    """An answer as plain Python: {"columns": [(name, dtype text)], "rows": [tuples]}."""
    if hasattr(answer, "column_names"):  # an Arrow table
        columns = [(field.name, str(field.type)) for field in answer.schema]
        values = [column.to_pylist() for column in answer.columns]
        rows = list(zip(*values))
    else:
        columns = [(name, str(dtype)) for name, dtype in answer.schema.items()]
        rows = [tuple(row) for row in answer.rows()]
    return {"columns": columns, "rows": rows}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--engine", required=True)
    parser.add_argument("--query", type=int, required=True)
    parser.add_argument("--scale", type=float, required=True)
    parser.add_argument("--schema", choices=tables.SCHEMAS, required=True)
    parser.add_argument("--source", choices=tables.SOURCES, default="parquet")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--answer", help="pickle the answer into this file")
    parser.add_argument("--floor", action="store_true")
    arguments = parser.parse_args()

    compute = prepare(
        arguments.engine,
        arguments.query,
        arguments.scale,
        arguments.schema,
        arguments.threads,
        arguments.floor,
        arguments.source,
    )
    times = []
    for _ in range(arguments.runs):
        start = time.perf_counter()
        answer = compute()
        times.append(time.perf_counter() - start)
    if arguments.answer:
        with open(arguments.answer, "wb") as file:
            pickle.dump(portable(answer), file)
    print(json.dumps({"times": times}), flush=True)


if __name__ == "__main__":
    main()
