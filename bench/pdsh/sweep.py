"""All queries on one engine in one process, answers pickled: python -m pdsh.sweep nanuk 0.01 float out.pickle

Tests start this under different environments (one thread, forced spill, tiny batches), which an engine reads once
per process. The file holds {query: answer}, or the exception as text where a query failed.
"""

import os
import pickle
import sys
import traceback

from . import queries, worker


def answers_of(engine, scale, schema, n_threads):
    found = {}
    for query in queries.QUERIES:
        try:
            found[query] = worker.portable(worker.prepare(engine, query, scale, schema, n_threads)())
        except Exception:
            found[query] = traceback.format_exc()
    return found


if __name__ == "__main__":
    engine, scale, schema, path = sys.argv[1:]
    found = answers_of(engine, float(scale), schema, len(os.sched_getaffinity(0)))
    with open(path, "wb") as file:
        pickle.dump(found, file)
