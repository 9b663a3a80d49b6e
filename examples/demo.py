"""The main job, on the TPC-H tables: a lazy query over Parquet, its answer, its plan, and what each node did.

    python examples/demo.py build/tpch/sf1

It asks for the revenue of 1995 by the priority of the order; examples/quickstart.c asks the same in C.
"""

import sys
from datetime import date
from pathlib import Path

import nanuk as pl

folder = Path(sys.argv[1] if len(sys.argv) > 1 else "build/tpch/sf1")

lineitem = pl.scan_parquet(folder / "lineitem.parquet")
orders = pl.scan_parquet(folder / "orders.parquet")

query = (
    lineitem.join(orders, left_on="l_orderkey", right_on="o_orderkey")
    .filter(pl.col("l_shipdate") >= date(1995, 1, 1), pl.col("l_shipdate") < date(1996, 1, 1))
    .group_by("o_orderpriority")
    .agg(
        pl.len().alias("lines"),
        (pl.col("l_extendedprice") * (1 - pl.col("l_discount"))).sum().alias("revenue"),
    )
    .sort("o_orderpriority")
)

print(query.collect())
print("\nThe optimised plan, with what each node did:\n")
print(query.explain(analyze=True))
