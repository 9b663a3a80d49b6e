"""Random input frames: small pools of values per column, so that keys meet, with nulls, NaN, zeros and extremes.

A column is a dtype as text and a list of Python values; it renders as source. Extremes of one column share a sign:
sums and means over them then do not cancel, and two engines that add in different orders still agree.
"""

from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from decimal import Decimal

INTEGERS = {
    "pl.Int8": 7,
    "pl.Int16": 15,
    "pl.Int32": 31,
    "pl.Int64": 63,
    "pl.UInt8": 8,
    "pl.UInt16": 16,
    "pl.UInt32": 32,
    "pl.UInt64": 64,
}
TEXTS = [
    "", "a", "A", "b", "ab", "abc", "aXb", "é", "日本語", "exactly12byt", "exactly13byte", "x\0y", "%_.*", "12", "-7",
    "1.5", " a ", "a text that is longer than twelve bytes", "a text that is longer than twelve bytez", "\n",
]  # fmt: skip
DTYPES = [
    *INTEGERS, "pl.Int64", "pl.Int64", "pl.Int32", "pl.Float64", "pl.Float64", "pl.Float32", "pl.Boolean", "pl.String",
    "pl.String", "pl.Date", "pl.Datetime('us')", "pl.Duration('us')", "pl.Decimal(10, 2)", "pl.Decimal(15, 2)",
    "pl.Binary", "pl.Time",
]  # fmt: skip


def literal(value):
    """A Python value as source; nan and inf are names of the environment that runs the text."""
    if isinstance(value, float):
        return "nan" if value != value else repr(value)
    if isinstance(value, datetime):
        return repr(value).removeprefix("datetime.")
    if isinstance(value, (date, time, timedelta)):
        return repr(value).removeprefix("datetime.")
    return repr(value)


def value_pool(rng, dtype):
    """A few values of a dtype, from which a column draws."""
    n = rng.choice([1, 2, 3, 5, 12])
    if dtype in INTEGERS:
        bits, unsigned = INTEGERS[dtype], dtype.startswith("pl.U")
        pool = [rng.randint(0 if unsigned else -5, 9) for _ in range(n)]
        if rng.random() < 0.3:
            top = (1 << bits) - 1
            low = 0 if unsigned else -(1 << bits)
            pool += rng.choice([[top], [top, top - 1], [low], [low, low + 1]])
        return pool
    if dtype.startswith("pl.Float"):
        pool = [rng.randint(-40, 40) / 4 for _ in range(n)]
        if rng.random() < 0.4:
            pool += rng.sample([float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 1e15], 2)
        return pool
    if dtype == "pl.Boolean":
        return rng.choice([[True], [False], [True, False], [True, False]])
    if dtype == "pl.String":
        return rng.sample(TEXTS, n)
    if dtype == "pl.Binary":
        return [text.encode() for text in rng.sample(TEXTS, n)] + [b"\xff\x00"]
    if dtype == "pl.Date":
        return [date(1970, 1, 1) + timedelta(days=rng.choice([0, -1, 59, 365, 11016, rng.randint(-20000, 40000)]))
                for _ in range(n)]  # fmt: skip
    if dtype.startswith("pl.Datetime"):
        return [datetime(1970, 1, 1) + timedelta(days=rng.randint(-20000, 40000), microseconds=rng.choice([0, 1, -1]))
                for _ in range(n)]  # fmt: skip
    if dtype.startswith("pl.Duration"):
        return [timedelta(days=rng.randint(-400, 400), microseconds=rng.choice([0, 1, 86399999999])) for _ in range(n)]
    if dtype == "pl.Time":
        return [time(rng.randint(0, 23), rng.randint(0, 59), rng.randint(0, 59), rng.choice([0, 1])) for _ in range(n)]
    if dtype.startswith("pl.Decimal"):
        pool = [Decimal(rng.randint(-2000, 2000)) / 100 for _ in range(n)]
        return pool + [Decimal("99999999.99")] if rng.random() < 0.2 else pool
    raise ValueError(dtype)


@dataclass
class Column:
    dtype: str
    values: list


@dataclass
class Frame:
    """Columns of equal length; `repeat` lays the values out that many times, for inputs of many batches."""

    columns: dict = field(default_factory=dict)
    repeat: int = 1

    @property
    def height(self):
        return max((len(column.values) for column in self.columns.values()), default=0) * self.repeat

    def source(self):
        """The text of an expression that builds this frame eagerly."""
        times = f" * {self.repeat}" if self.repeat > 1 else ""
        data = ", ".join(
            f"{name!r}: [{', '.join(map(literal, column.values))}]{times}" for name, column in self.columns.items()
        )
        schema = ", ".join(f"{name!r}: {column.dtype}" for name, column in self.columns.items())
        return f"pl.DataFrame({{{data}}}, schema={{{schema}}})"


def random_frame(rng, names, like=None):
    """A frame with these column names; with `like`, most columns share a dtype of that frame, so that joins can."""
    height = rng.choice([0, 1, 2, 5, 8, 13, 13, 20, 20, 30, 30, 30])
    frame = Frame(repeat=rng.choice([1, 1, 1, 1, 1, 400]))
    for name in names:
        dtype = rng.choice(DTYPES)
        pool = None
        if like and like.columns and rng.random() < 0.6:
            model = rng.choice(list(like.columns.values()))
            dtype = model.dtype
            pool = [value for value in model.values if value is not None]
        pool = (pool or []) + value_pool(rng, dtype)
        nulls = rng.choice([0, 0, 0.1, 0.4, 1 if rng.random() < 0.2 else 0])
        values = [None if rng.random() < nulls else rng.choice(pool) for _ in range(height)]
        frame.columns[name] = Column(dtype, values)
    return frame
