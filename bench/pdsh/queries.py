"""The 22 queries of PDS-H, written from the TPC-H specification with the lazy DataFrame API.

Every query is a function of one object that carries the module under test and the tables, so this one file runs
unchanged on nanuk and on Polars:

    t.pl        the module (nanuk or polars)
    t.lineitem, t.orders, ...   the eight tables as LazyFrames
    t.scale     the scale factor (query 11 has a threshold that depends on it)
    t.number(s) a literal of the tables' numeric type: Decimal in the decimal schema, float in the float schema

Parameters are the validation values of the specification. Joins follow the order of the FROM clause (moved only
where two neighbours share no key), and WHERE is one filter after them: finding a better plan is the engine's work.
"""

from datetime import date


def q1(t):
    """Pricing summary of what was shipped up to 90 days before the end of the data."""
    pl, col = t.pl, t.pl.col
    discounted = col("l_extendedprice") * (1 - col("l_discount"))
    return (
        t.lineitem.filter(col("l_shipdate") <= date(1998, 9, 2))
        .group_by("l_returnflag", "l_linestatus")
        .agg(
            col("l_quantity").sum().alias("sum_qty"),
            col("l_extendedprice").sum().alias("sum_base_price"),
            discounted.sum().alias("sum_disc_price"),
            (discounted * (1 + col("l_tax"))).sum().alias("sum_charge"),
            col("l_quantity").mean().alias("avg_qty"),
            col("l_extendedprice").mean().alias("avg_price"),
            col("l_discount").mean().alias("avg_disc"),
            pl.len().alias("count_order"),
        )
        .sort("l_returnflag", "l_linestatus")
    )


def q2(t):
    """For each brass part of size 15, the European suppliers with the lowest cost."""
    col = t.pl.col
    offers = (
        t.part.join(t.partsupp, left_on="p_partkey", right_on="ps_partkey")
        .join(t.supplier, left_on="ps_suppkey", right_on="s_suppkey")
        .join(t.nation, left_on="s_nationkey", right_on="n_nationkey")
        .join(t.region, left_on="n_regionkey", right_on="r_regionkey")
        .filter(col("p_size") == 15, col("p_type").str.ends_with("BRASS"), col("r_name") == "EUROPE")
    )
    cheapest = offers.group_by("p_partkey").agg(col("ps_supplycost").min().alias("min_cost"))
    return (
        offers.join(cheapest, on="p_partkey")
        .filter(col("ps_supplycost") == col("min_cost"))
        .select("s_acctbal", "s_name", "n_name", "p_partkey", "p_mfgr", "s_address", "s_phone", "s_comment")
        .sort("s_acctbal", "n_name", "s_name", "p_partkey", descending=[True, False, False, False])
        .head(100)
    )


def q3(t):
    """The ten open orders of the building segment with the largest revenue."""
    col = t.pl.col
    return (
        t.customer.join(t.orders, left_on="c_custkey", right_on="o_custkey")
        .join(t.lineitem, left_on="o_orderkey", right_on="l_orderkey")
        .filter(
            col("c_mktsegment") == "BUILDING",
            col("o_orderdate") < date(1995, 3, 15),
            col("l_shipdate") > date(1995, 3, 15),
        )
        .group_by("o_orderkey", "o_orderdate", "o_shippriority")
        .agg((col("l_extendedprice") * (1 - col("l_discount"))).sum().alias("revenue"))
        .select(col("o_orderkey").alias("l_orderkey"), "revenue", "o_orderdate", "o_shippriority")
        .sort("revenue", "o_orderdate", descending=[True, False])
        .head(10)
    )


def q4(t):
    """Orders of a quarter with at least one late line, by priority."""
    pl, col = t.pl, t.pl.col
    late = t.lineitem.filter(col("l_commitdate") < col("l_receiptdate"))
    return (
        t.orders.filter(col("o_orderdate") >= date(1993, 7, 1), col("o_orderdate") < date(1993, 10, 1))
        .join(late, left_on="o_orderkey", right_on="l_orderkey", how="semi")
        .group_by("o_orderpriority")
        .agg(pl.len().alias("order_count"))
        .sort("o_orderpriority")
    )


def q5(t):
    """Revenue between customers and suppliers of the same Asian nation."""
    col = t.pl.col
    return (
        t.customer.join(t.orders, left_on="c_custkey", right_on="o_custkey")
        .join(t.lineitem, left_on="o_orderkey", right_on="l_orderkey")
        .join(t.supplier, left_on=["l_suppkey", "c_nationkey"], right_on=["s_suppkey", "s_nationkey"])
        .join(t.nation, left_on="c_nationkey", right_on="n_nationkey")
        .join(t.region, left_on="n_regionkey", right_on="r_regionkey")
        .filter(
            col("r_name") == "ASIA",
            col("o_orderdate") >= date(1994, 1, 1),
            col("o_orderdate") < date(1995, 1, 1),
        )
        .group_by("n_name")
        .agg((col("l_extendedprice") * (1 - col("l_discount"))).sum().alias("revenue"))
        .sort("revenue", descending=True)
    )


def q6(t):
    """Revenue that small discounts on small quantities cost in a year."""
    col = t.pl.col
    return t.lineitem.filter(
        col("l_shipdate") >= date(1994, 1, 1),
        col("l_shipdate") < date(1995, 1, 1),
        col("l_discount").is_between(t.number("0.05"), t.number("0.07")),
        col("l_quantity") < 24,
    ).select((col("l_extendedprice") * col("l_discount")).sum().alias("revenue"))


def q7(t):
    """Trade between France and Germany by year."""
    col = t.pl.col
    supplier_nation = t.nation.select("n_nationkey", col("n_name").alias("supp_nation"))
    customer_nation = t.nation.select("n_nationkey", col("n_name").alias("cust_nation"))
    return (
        t.supplier.join(t.lineitem, left_on="s_suppkey", right_on="l_suppkey")
        .join(t.orders, left_on="l_orderkey", right_on="o_orderkey")
        .join(t.customer, left_on="o_custkey", right_on="c_custkey")
        .join(supplier_nation, left_on="s_nationkey", right_on="n_nationkey")
        .join(customer_nation, left_on="c_nationkey", right_on="n_nationkey")
        .filter(
            ((col("supp_nation") == "FRANCE") & (col("cust_nation") == "GERMANY"))
            | ((col("supp_nation") == "GERMANY") & (col("cust_nation") == "FRANCE")),
            col("l_shipdate").is_between(date(1995, 1, 1), date(1996, 12, 31)),
        )
        .with_columns(
            col("l_shipdate").dt.year().alias("l_year"),
            (col("l_extendedprice") * (1 - col("l_discount"))).alias("volume"),
        )
        .group_by("supp_nation", "cust_nation", "l_year")
        .agg(col("volume").sum().alias("revenue"))
        .sort("supp_nation", "cust_nation", "l_year")
    )


def q8(t):
    """Brazil's share of the American market for one part type, by year."""
    pl, col = t.pl, t.pl.col
    customer_nation = t.nation.select("n_nationkey", "n_regionkey")
    supplier_nation = t.nation.select("n_nationkey", col("n_name").alias("nation"))
    return (
        t.part.join(t.lineitem, left_on="p_partkey", right_on="l_partkey")
        .join(t.supplier, left_on="l_suppkey", right_on="s_suppkey")
        .join(t.orders, left_on="l_orderkey", right_on="o_orderkey")
        .join(t.customer, left_on="o_custkey", right_on="c_custkey")
        .join(customer_nation, left_on="c_nationkey", right_on="n_nationkey")
        .join(supplier_nation, left_on="s_nationkey", right_on="n_nationkey")
        .join(t.region, left_on="n_regionkey", right_on="r_regionkey")
        .filter(
            col("r_name") == "AMERICA",
            col("o_orderdate").is_between(date(1995, 1, 1), date(1996, 12, 31)),
            col("p_type") == "ECONOMY ANODIZED STEEL",
        )
        .with_columns(
            col("o_orderdate").dt.year().alias("o_year"),
            (col("l_extendedprice") * (1 - col("l_discount"))).alias("volume"),
        )
        .group_by("o_year")
        .agg(
            (pl.when(col("nation") == "BRAZIL").then(col("volume")).otherwise(0).sum() / col("volume").sum()).alias(
                "mkt_share"
            )
        )
        .sort("o_year")
    )


def q9(t):
    """Profit on green parts by nation and year."""
    col = t.pl.col
    return (
        t.part.join(t.lineitem, left_on="p_partkey", right_on="l_partkey")
        .join(t.supplier, left_on="l_suppkey", right_on="s_suppkey")
        .join(t.partsupp, left_on=["p_partkey", "l_suppkey"], right_on=["ps_partkey", "ps_suppkey"])
        .join(t.orders, left_on="l_orderkey", right_on="o_orderkey")
        .join(t.nation, left_on="s_nationkey", right_on="n_nationkey")
        .filter(col("p_name").str.contains("green", literal=True))
        .select(
            col("n_name").alias("nation"),
            col("o_orderdate").dt.year().alias("o_year"),
            (col("l_extendedprice") * (1 - col("l_discount")) - col("ps_supplycost") * col("l_quantity")).alias(
                "amount"
            ),
        )
        .group_by("nation", "o_year")
        .agg(col("amount").sum().alias("sum_profit"))
        .sort("nation", "o_year", descending=[False, True])
    )


def q10(t):
    """The twenty customers who returned most in a quarter."""
    col = t.pl.col
    return (
        t.customer.join(t.orders, left_on="c_custkey", right_on="o_custkey")
        .join(t.lineitem, left_on="o_orderkey", right_on="l_orderkey")
        .join(t.nation, left_on="c_nationkey", right_on="n_nationkey")
        .filter(
            col("o_orderdate") >= date(1993, 10, 1),
            col("o_orderdate") < date(1994, 1, 1),
            col("l_returnflag") == "R",
        )
        .group_by("c_custkey", "c_name", "c_acctbal", "c_phone", "n_name", "c_address", "c_comment")
        .agg((col("l_extendedprice") * (1 - col("l_discount"))).sum().alias("revenue"))
        .select("c_custkey", "c_name", "revenue", "c_acctbal", "n_name", "c_address", "c_phone", "c_comment")
        .sort("revenue", descending=True)
        .head(20)
    )


def q11(t):
    """Parts that make up more than a small share of Germany's stock."""
    col = t.pl.col
    fraction = t.number(f"{0.0001 / t.scale:.10f}".rstrip("0"))
    stock = (
        t.partsupp.join(t.supplier, left_on="ps_suppkey", right_on="s_suppkey")
        .join(t.nation, left_on="s_nationkey", right_on="n_nationkey")
        .filter(col("n_name") == "GERMANY")
        .with_columns((col("ps_supplycost") * col("ps_availqty")).alias("value"))
    )
    threshold = stock.select((col("value").sum() * fraction).alias("threshold"))
    return (
        stock.group_by("ps_partkey")
        .agg(col("value").sum())
        .join(threshold, how="cross")
        .filter(col("value") > col("threshold"))
        .select("ps_partkey", "value")
        .sort("value", descending=True)
    )


def q12(t):
    """Late lines by ship mode, split by whether the order was urgent."""
    pl, col = t.pl, t.pl.col
    urgent = col("o_orderpriority").is_in(["1-URGENT", "2-HIGH"])
    return (
        t.orders.join(t.lineitem, left_on="o_orderkey", right_on="l_orderkey")
        .filter(
            col("l_shipmode").is_in(["MAIL", "SHIP"]),
            col("l_commitdate") < col("l_receiptdate"),
            col("l_shipdate") < col("l_commitdate"),
            col("l_receiptdate") >= date(1994, 1, 1),
            col("l_receiptdate") < date(1995, 1, 1),
        )
        .group_by("l_shipmode")
        .agg(
            pl.when(urgent).then(1).otherwise(0).sum().alias("high_line_count"),
            pl.when(urgent).then(0).otherwise(1).sum().alias("low_line_count"),
        )
        .sort("l_shipmode")
    )


def q13(t):
    """How many customers have how many orders."""
    pl, col = t.pl, t.pl.col
    orders = t.orders.filter(~col("o_comment").str.contains("special.*requests"))
    return (
        t.customer.join(orders, left_on="c_custkey", right_on="o_custkey", how="left")
        .group_by("c_custkey")
        .agg(col("o_orderkey").count().alias("c_count"))
        .group_by("c_count")
        .agg(pl.len().alias("custdist"))
        .sort("custdist", "c_count", descending=[True, True])
    )


def q14(t):
    """Share of a month's revenue from promoted parts, in percent."""
    pl, col = t.pl, t.pl.col
    revenue = col("l_extendedprice") * (1 - col("l_discount"))
    promoted = pl.when(col("p_type").str.starts_with("PROMO")).then(revenue).otherwise(0)
    return (
        t.lineitem.join(t.part, left_on="l_partkey", right_on="p_partkey")
        .filter(col("l_shipdate") >= date(1995, 9, 1), col("l_shipdate") < date(1995, 10, 1))
        .select((t.number("100.00") * promoted.sum() / revenue.sum()).alias("promo_revenue"))
    )


def q15(t):
    """The supplier with the largest revenue of a quarter."""
    col = t.pl.col
    revenue = (
        t.lineitem.filter(col("l_shipdate") >= date(1996, 1, 1), col("l_shipdate") < date(1996, 4, 1))
        .group_by(col("l_suppkey").alias("supplier_no"))
        .agg((col("l_extendedprice") * (1 - col("l_discount"))).sum().alias("total_revenue"))
        .filter(col("total_revenue") == col("total_revenue").max())
    )
    return (
        t.supplier.join(revenue, left_on="s_suppkey", right_on="supplier_no")
        .select("s_suppkey", "s_name", "s_address", "s_phone", "total_revenue")
        .sort("s_suppkey")
    )


def q16(t):
    """How many suppliers without complaints offer each kind of part."""
    col = t.pl.col
    complaints = t.supplier.filter(col("s_comment").str.contains("Customer.*Complaints")).select("s_suppkey")
    return (
        t.partsupp.join(t.part, left_on="ps_partkey", right_on="p_partkey")
        .filter(
            col("p_brand") != "Brand#45",
            ~col("p_type").str.starts_with("MEDIUM POLISHED"),
            col("p_size").is_in([49, 14, 23, 45, 19, 3, 36, 9]),
        )
        .join(complaints, left_on="ps_suppkey", right_on="s_suppkey", how="anti")
        .group_by("p_brand", "p_type", "p_size")
        .agg(col("ps_suppkey").n_unique().alias("supplier_cnt"))
        .sort("supplier_cnt", "p_brand", "p_type", "p_size", descending=[True, False, False, False])
    )


def q17(t):
    """Yearly revenue lost if small orders of one kind of part were refused."""
    col = t.pl.col
    bought = t.lineitem.join(t.part, left_on="l_partkey", right_on="p_partkey").filter(
        col("p_brand") == "Brand#23", col("p_container") == "MED BOX"
    )
    average = t.lineitem.group_by("l_partkey").agg((0.2 * col("l_quantity").mean()).alias("small"))
    return (
        bought.join(average, on="l_partkey")
        .filter(col("l_quantity") < col("small"))
        .select((col("l_extendedprice").sum() / t.number("7.0")).alias("avg_yearly"))
    )


def q18(t):
    """The hundred largest among orders of more than 300 pieces."""
    col = t.pl.col
    large = t.lineitem.group_by("l_orderkey").agg(col("l_quantity").sum().alias("pieces")).filter(col("pieces") > 300)
    return (
        t.customer.join(t.orders, left_on="c_custkey", right_on="o_custkey")
        .join(t.lineitem, left_on="o_orderkey", right_on="l_orderkey")
        .join(large, left_on="o_orderkey", right_on="l_orderkey", how="semi")
        .group_by("c_name", "c_custkey", "o_orderkey", "o_orderdate", "o_totalprice")
        .agg(col("l_quantity").sum().alias("sum_qty"))
        .sort("o_totalprice", "o_orderdate", descending=[True, False])
        .head(100)
    )


def q19(t):
    """Revenue from air-shipped parts of three brands in fitting containers."""
    col = t.pl.col

    def kind(brand, containers, least, most_size):
        return (
            (col("p_brand") == brand)
            & col("p_container").is_in(containers)
            & col("l_quantity").is_between(least, least + 10)
            & col("p_size").is_between(1, most_size)
        )

    return (
        t.lineitem.join(t.part, left_on="l_partkey", right_on="p_partkey")
        .filter(
            kind("Brand#12", ["SM CASE", "SM BOX", "SM PACK", "SM PKG"], 1, 5)
            | kind("Brand#23", ["MED BAG", "MED BOX", "MED PKG", "MED PACK"], 10, 10)
            | kind("Brand#34", ["LG CASE", "LG BOX", "LG PACK", "LG PKG"], 20, 15),
            col("l_shipmode").is_in(["AIR", "AIR REG"]),
            col("l_shipinstruct") == "DELIVER IN PERSON",
        )
        .select((col("l_extendedprice") * (1 - col("l_discount"))).sum().alias("revenue"))
    )


def q20(t):
    """Canadian suppliers with far more forest parts in stock than a year's sales need."""
    col = t.pl.col
    forest = t.part.filter(col("p_name").str.starts_with("forest")).select("p_partkey")
    sold = (
        t.lineitem.filter(col("l_shipdate") >= date(1994, 1, 1), col("l_shipdate") < date(1995, 1, 1))
        .group_by("l_partkey", "l_suppkey")
        .agg((t.number("0.5") * col("l_quantity").sum()).alias("half_sold"))
    )
    stocked = (
        t.partsupp.join(forest, left_on="ps_partkey", right_on="p_partkey", how="semi")
        .join(sold, left_on=["ps_partkey", "ps_suppkey"], right_on=["l_partkey", "l_suppkey"])
        .filter(col("ps_availqty") > col("half_sold"))
    )
    return (
        t.supplier.join(t.nation, left_on="s_nationkey", right_on="n_nationkey")
        .filter(col("n_name") == "CANADA")
        .join(stocked, left_on="s_suppkey", right_on="ps_suppkey", how="semi")
        .select("s_name", "s_address")
        .sort("s_name")
    )


def q21(t):
    """Saudi suppliers who alone kept orders of several suppliers waiting."""
    pl, col = t.pl, t.pl.col
    late = t.lineitem.filter(col("l_receiptdate") > col("l_commitdate"))
    shared = (
        t.lineitem.group_by("l_orderkey")
        .agg(col("l_suppkey").n_unique().alias("suppliers"))
        .filter(col("suppliers") > 1)
    )
    one_late = (
        late.group_by("l_orderkey").agg(col("l_suppkey").n_unique().alias("suppliers")).filter(col("suppliers") == 1)
    )
    return (
        t.supplier.join(late, left_on="s_suppkey", right_on="l_suppkey")
        .join(t.orders, left_on="l_orderkey", right_on="o_orderkey")
        .join(t.nation, left_on="s_nationkey", right_on="n_nationkey")
        .filter(col("o_orderstatus") == "F", col("n_name") == "SAUDI ARABIA")
        .join(shared, on="l_orderkey", how="semi")
        .join(one_late, on="l_orderkey", how="semi")
        .group_by("s_name")
        .agg(pl.len().alias("numwait"))
        .sort("numwait", "s_name", descending=[True, False])
        .head(100)
    )


def q22(t):
    """Well-off customers of some countries who have not ordered."""
    pl, col = t.pl, t.pl.col
    customer = t.customer.with_columns(col("c_phone").str.slice(0, 2).alias("cntrycode")).filter(
        col("cntrycode").is_in(["13", "31", "23", "29", "30", "18", "17"])
    )
    average = customer.filter(col("c_acctbal") > 0).select(col("c_acctbal").mean().alias("average"))
    return (
        customer.join(average, how="cross")
        .filter(col("c_acctbal") > col("average"))
        .join(t.orders, left_on="c_custkey", right_on="o_custkey", how="anti")
        .group_by("cntrycode")
        .agg(pl.len().alias("numcust"), col("c_acctbal").sum().alias("totacctbal"))
        .sort("cntrycode")
    )


QUERIES = {number: globals()[f"q{number}"] for number in range(1, 23)}

# The columns that say in which order the answer must come; rows that tie in them may come in any order.
ORDER = {
    1: ["l_returnflag", "l_linestatus"],
    2: ["s_acctbal", "n_name", "s_name", "p_partkey"],
    3: ["revenue", "o_orderdate"],
    4: ["o_orderpriority"],
    5: ["revenue"],
    6: [],
    7: ["supp_nation", "cust_nation", "l_year"],
    8: ["o_year"],
    9: ["nation", "o_year"],
    10: ["revenue"],
    11: ["value"],
    12: ["l_shipmode"],
    13: ["custdist", "c_count"],
    14: [],
    15: ["s_suppkey"],
    16: ["supplier_cnt", "p_brand", "p_type", "p_size"],
    17: [],
    18: ["o_totalprice", "o_orderdate"],
    19: [],
    20: ["s_name"],
    21: ["numwait", "s_name"],
    22: ["cntrycode"],
}

# The columns each query reads, by table: the input of the decode floor.
COLUMNS = {
    1: {"lineitem": "l_returnflag l_linestatus l_quantity l_extendedprice l_discount l_tax l_shipdate"},
    2: {
        "part": "p_partkey p_mfgr p_size p_type",
        "supplier": "s_suppkey s_name s_address s_nationkey s_phone s_acctbal s_comment",
        "partsupp": "ps_partkey ps_suppkey ps_supplycost",
        "nation": "n_nationkey n_name n_regionkey",
        "region": "r_regionkey r_name",
    },
    3: {
        "customer": "c_custkey c_mktsegment",
        "orders": "o_orderkey o_custkey o_orderdate o_shippriority",
        "lineitem": "l_orderkey l_extendedprice l_discount l_shipdate",
    },
    4: {
        "orders": "o_orderkey o_orderdate o_orderpriority",
        "lineitem": "l_orderkey l_commitdate l_receiptdate",
    },
    5: {
        "customer": "c_custkey c_nationkey",
        "orders": "o_orderkey o_custkey o_orderdate",
        "lineitem": "l_orderkey l_suppkey l_extendedprice l_discount",
        "supplier": "s_suppkey s_nationkey",
        "nation": "n_nationkey n_name n_regionkey",
        "region": "r_regionkey r_name",
    },
    6: {"lineitem": "l_quantity l_extendedprice l_discount l_shipdate"},
    7: {
        "supplier": "s_suppkey s_nationkey",
        "lineitem": "l_orderkey l_suppkey l_extendedprice l_discount l_shipdate",
        "orders": "o_orderkey o_custkey",
        "customer": "c_custkey c_nationkey",
        "nation": "n_nationkey n_name",
    },
    8: {
        "part": "p_partkey p_type",
        "supplier": "s_suppkey s_nationkey",
        "lineitem": "l_orderkey l_partkey l_suppkey l_extendedprice l_discount",
        "orders": "o_orderkey o_custkey o_orderdate",
        "customer": "c_custkey c_nationkey",
        "nation": "n_nationkey n_name n_regionkey",
        "region": "r_regionkey r_name",
    },
    9: {
        "part": "p_partkey p_name",
        "supplier": "s_suppkey s_nationkey",
        "lineitem": "l_orderkey l_partkey l_suppkey l_quantity l_extendedprice l_discount",
        "partsupp": "ps_partkey ps_suppkey ps_supplycost",
        "orders": "o_orderkey o_orderdate",
        "nation": "n_nationkey n_name",
    },
    10: {
        "customer": "c_custkey c_name c_address c_nationkey c_phone c_acctbal c_comment",
        "orders": "o_orderkey o_custkey o_orderdate",
        "lineitem": "l_orderkey l_extendedprice l_discount l_returnflag",
        "nation": "n_nationkey n_name",
    },
    11: {
        "partsupp": "ps_partkey ps_suppkey ps_availqty ps_supplycost",
        "supplier": "s_suppkey s_nationkey",
        "nation": "n_nationkey n_name",
    },
    12: {
        "orders": "o_orderkey o_orderpriority",
        "lineitem": "l_orderkey l_shipdate l_commitdate l_receiptdate l_shipmode",
    },
    13: {"customer": "c_custkey", "orders": "o_orderkey o_custkey o_comment"},
    14: {"lineitem": "l_partkey l_extendedprice l_discount l_shipdate", "part": "p_partkey p_type"},
    15: {
        "supplier": "s_suppkey s_name s_address s_phone",
        "lineitem": "l_suppkey l_extendedprice l_discount l_shipdate",
    },
    16: {
        "partsupp": "ps_partkey ps_suppkey",
        "part": "p_partkey p_brand p_type p_size",
        "supplier": "s_suppkey s_comment",
    },
    17: {"lineitem": "l_partkey l_quantity l_extendedprice", "part": "p_partkey p_brand p_container"},
    18: {
        "customer": "c_custkey c_name",
        "orders": "o_orderkey o_custkey o_orderdate o_totalprice",
        "lineitem": "l_orderkey l_quantity",
    },
    19: {
        "lineitem": "l_partkey l_quantity l_extendedprice l_discount l_shipinstruct l_shipmode",
        "part": "p_partkey p_brand p_container p_size",
    },
    20: {
        "supplier": "s_suppkey s_name s_address s_nationkey",
        "nation": "n_nationkey n_name",
        "partsupp": "ps_partkey ps_suppkey ps_availqty",
        "part": "p_partkey p_name",
        "lineitem": "l_partkey l_suppkey l_quantity l_shipdate",
    },
    21: {
        "supplier": "s_suppkey s_name s_nationkey",
        "lineitem": "l_orderkey l_suppkey l_commitdate l_receiptdate",
        "orders": "o_orderkey o_orderstatus",
        "nation": "n_nationkey n_name",
    },
    22: {"customer": "c_custkey c_phone c_acctbal", "orders": "o_custkey"},
}
