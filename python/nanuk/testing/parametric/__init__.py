"""Strategies for hypothesis: tables, columns and dtypes at random. Needs the package hypothesis."""

from nanuk.testing.parametric.profiles import load_profile, set_profile
from nanuk.testing.parametric.strategies import column, dataframes, dtypes, lists, series

__all__ = ["column", "dataframes", "dtypes", "lists", "load_profile", "series", "set_profile"]
