"""Config: how tables print, and what queries may take. Options of printing live in environment variables of Polars' names,
so that child processes share them; printing reads them once and again whenever one is set here."""

from __future__ import annotations

import os

from nanuk import _nanuk

# Option name -> environment variable, for options that are kept there.
_VARIABLES = {
    "set_ascii_tables": "POLARS_FMT_TABLE_FORMATTING",
    "set_tbl_cell_alignment": "POLARS_FMT_TABLE_CELL_ALIGNMENT",
    "set_tbl_cell_numeric_alignment": "POLARS_FMT_TABLE_CELL_NUMERIC_ALIGNMENT",
    "set_tbl_cols": "POLARS_FMT_MAX_COLS",
    "set_tbl_rows": "POLARS_FMT_MAX_ROWS",
    "set_tbl_column_data_type_inline": "POLARS_FMT_TABLE_INLINE_COLUMN_DATA_TYPE",
    "set_tbl_dataframe_shape_below": "POLARS_FMT_TABLE_DATAFRAME_SHAPE_BELOW",
    "set_tbl_formatting": "POLARS_FMT_TABLE_FORMATTING",
    "set_tbl_hide_column_data_types": "POLARS_FMT_TABLE_HIDE_COLUMN_DATA_TYPES",
    "set_tbl_hide_column_names": "POLARS_FMT_TABLE_HIDE_COLUMN_NAMES",
    "set_tbl_hide_dtype_separator": "POLARS_FMT_TABLE_HIDE_COLUMN_SEPARATOR",
    "set_tbl_hide_dataframe_shape": "POLARS_FMT_TABLE_HIDE_DATAFRAME_SHAPE_INFORMATION",
    "set_tbl_width_chars": "POLARS_TABLE_WIDTH",
    "set_fmt_str_lengths": "POLARS_FMT_STR_LEN",
    "set_fmt_table_cell_list_len": "POLARS_FMT_TABLE_CELL_LIST_LEN",
    "set_verbose": "POLARS_VERBOSE",
    "warn_unstable": "POLARS_WARN_UNSTABLE",
    "set_expr_depth_warning": "POLARS_MAX_EXPR_DEPTH",
    "set_engine_affinity": "POLARS_ENGINE_AFFINITY",
    "set_streaming_chunk_size": "POLARS_IDEAL_MORSEL_SIZE",
}
# Options that the process keeps: name -> its value when nothing was set.
_DIRECT = {
    "set_fmt_float": "mixed",
    "set_float_precision": None,
    "set_thousands_separator": "",
    "set_decimal_separator": ".",
    "set_trim_decimal_zeros": True,
    "set_memory_limit": None,
    "set_total_memory_limit": None,
    "set_time_limit": None,
    "set_spill_folder": None,
    "set_progress": None,
}
# Options of _DIRECT that the library keeps too, in the order of its arguments.
_LIMITS = ("set_memory_limit", "set_total_memory_limit", "set_time_limit", "set_spill_folder")
_ALIGNMENTS = ("LEFT", "CENTER", "RIGHT")
_FORMATS = (
    "ASCII_FULL", "ASCII_FULL_CONDENSED", "ASCII_NO_BORDERS", "ASCII_BORDERS_ONLY", "ASCII_BORDERS_ONLY_CONDENSED",
    "ASCII_HORIZONTAL_ONLY", "ASCII_MARKDOWN", "MARKDOWN", "UTF8_FULL", "UTF8_FULL_CONDENSED", "UTF8_NO_BORDERS",
    "UTF8_BORDERS_ONLY", "UTF8_HORIZONTAL_ONLY", "NOTHING",
)  # fmt: skip

_direct = dict(_DIRECT)
_cached: dict | None = None


def _changed() -> None:
    global _cached
    _cached = None


def _set_limit(option: str, value) -> None:
    """Raises what the library raises for an unfit value, and then changes nothing."""
    limits = {name: _direct[name] for name in _LIMITS} | {option: value}
    _nanuk.set_context(*limits.values())
    _direct[option] = value


def _apply_limits() -> None:
    from nanuk.progress import switch

    switch(_direct["set_progress"])
    _nanuk.set_context(*(_direct[name] for name in _LIMITS))


def _int(variable: str) -> int:
    """A number of the environment; 0, the default, when there is none."""
    try:
        value = int(os.environ[variable])
    except (KeyError, ValueError):
        return 0
    return value


def format_options() -> dict:
    """The options as the C library takes them."""
    global _cached
    if _cached is None:
        get = os.environ.get

        def limit(variable: str) -> int:
            """Where 0 is a limit of its own and a negative number means none."""
            text = get(variable)
            if text is None:
                return 0
            number = _int(variable)
            return -1 if number < 0 else number

        def flag(variable: str) -> bool:
            return get(variable) == "1"

        precision = _direct["set_float_precision"]
        _cached = {
            "max_rows": limit("POLARS_FMT_MAX_ROWS"),
            "max_columns": limit("POLARS_FMT_MAX_COLS"),
            "max_string": _int("POLARS_FMT_STR_LEN"),
            "max_list": limit("POLARS_FMT_TABLE_CELL_LIST_LEN"),
            "width": limit("POLARS_TABLE_WIDTH"),
            "float_precision": 0 if precision is None else precision + 1,
            "float_full": _direct["set_fmt_float"] == "full",
            "hide_shape": flag("POLARS_FMT_TABLE_HIDE_DATAFRAME_SHAPE_INFORMATION"),
            "hide_names": flag("POLARS_FMT_TABLE_HIDE_COLUMN_NAMES"),
            "hide_dtypes": flag("POLARS_FMT_TABLE_HIDE_COLUMN_DATA_TYPES"),
            "hide_separator": flag("POLARS_FMT_TABLE_HIDE_COLUMN_SEPARATOR"),
            "dtype_inline": flag("POLARS_FMT_TABLE_INLINE_COLUMN_DATA_TYPE"),
            "shape_below": flag("POLARS_FMT_TABLE_DATAFRAME_SHAPE_BELOW"),
            "style": get("POLARS_FMT_TABLE_FORMATTING"),
            "alignment": get("POLARS_FMT_TABLE_CELL_ALIGNMENT"),
            "numeric_alignment": get("POLARS_FMT_TABLE_CELL_NUMERIC_ALIGNMENT"),
            "thousands_separator": _direct["set_thousands_separator"] or None,
            "decimal_separator": None if _direct["set_decimal_separator"] == "." else _direct["set_decimal_separator"],
        }
    return _cached


def _set_variable(option: str, value) -> None:
    variable = _VARIABLES[option]
    if value is None:
        os.environ.pop(variable, None)
    else:
        os.environ[variable] = str(int(value)) if isinstance(value, bool) else str(value)
    _changed()


class Config:
    """Options of printing, set for the process or, as a context manager or decorator, for a while.

    `Config(tbl_rows=20)` sets options by name, with or without "set_". Raises AttributeError for an unknown one.
    """

    def __init__(self, *, restore_defaults: bool = False, apply_on_context_enter: bool = False, **options) -> None:
        self._original = self.save()
        self._options = None
        if restore_defaults:
            self.restore_defaults()
        if apply_on_context_enter:
            self._options = options
        else:
            self._apply(options)

    def _apply(self, options: dict) -> None:
        for option, value in options.items():
            name = option if option.startswith("set_") or hasattr(self, option) else f"set_{option}"
            if not hasattr(self, name):
                msg = f"`Config` has no option {name!r}"
                raise AttributeError(msg)
            getattr(self, name)(value)

    def __enter__(self) -> Config:
        if self._options is not None:
            self._original = self.save()
            self._apply(self._options)
        return self

    def __exit__(self, exc_type, exc_val, exc_tb) -> None:
        self.restore_defaults()
        self.load(self._original)
        self._original = ""

    def __call__(self, function):
        import functools

        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            with self:
                return function(*args, **kwargs)

        return wrapped

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Config) and self._original == other._original and self._options == other._options

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None

    @classmethod
    def load(cls, cfg: str) -> type[Config]:
        """Set the options that save() wrote.

        Raises ValueError when the text is no such thing.
        """
        import json

        try:
            options = json.loads(cfg)
        except json.JSONDecodeError as error:
            msg = "invalid Config string (did you mean to use `load_from_file`?)"
            raise ValueError(msg) from error
        for variable, value in options.get("environment", {}).items():
            if value is None:
                os.environ.pop(variable, None)
            else:
                os.environ[variable] = value
        for option, value in options.get("direct", {}).items():
            if option in _DIRECT:
                _direct[option] = value
        _apply_limits()
        _changed()
        return cls

    @classmethod
    def load_from_file(cls, file) -> type[Config]:
        """Set the options that save_to_file() wrote.

        Raises ValueError when the file cannot be read.
        """
        try:
            with open(file, encoding="utf-8") as source:
                text = source.read()
        except OSError as error:
            msg = f"invalid Config file (did you mean to use `load`?)\n{error}"
            raise ValueError(msg) from error
        return cls.load(text)

    @classmethod
    def restore_defaults(cls) -> type[Config]:
        """All options as they were before any was set."""
        for variable in _VARIABLES.values():
            os.environ.pop(variable, None)
        _direct.update(_DIRECT)
        _apply_limits()
        _changed()
        return cls

    @classmethod
    def save(cls, *, if_set: bool = False) -> str:
        """The options as JSON; with `if_set` only those that are set."""
        import json

        environment = {v: os.environ.get(v) for v in sorted(set(_VARIABLES.values()))}
        if if_set:
            environment = {name: value for name, value in environment.items() if value is not None}
        return json.dumps({"environment": environment, "direct": _direct}, separators=(",", ":"))

    @classmethod
    def save_to_file(cls, file) -> None:
        """Write the options to a file, for load_from_file()."""
        with open(file, "w", encoding="utf-8") as target:
            target.write(cls.save())

    @classmethod
    def state(cls, *, if_set: bool = False, env_only: bool = False) -> dict:
        """The options by environment variable, and those that have none by name."""
        options = {v: os.environ.get(v) for v in sorted(set(_VARIABLES.values()))}
        if if_set:
            options = {name: value for name, value in options.items() if value is not None}
        if not env_only:
            options |= _direct
        return options

    @classmethod
    def reload_env_vars(cls) -> type[Config]:
        """Read the environment variables again."""
        _changed()
        return cls

    # ---- Options ----

    @classmethod
    def set_ascii_tables(cls, active: bool | None = True) -> type[Config]:
        """Draw tables with ASCII characters."""
        if active is None:
            _set_variable("set_tbl_formatting", None)
        else:
            _set_variable("set_tbl_formatting", "ASCII_FULL_CONDENSED" if active else "UTF8_FULL_CONDENSED")
        return cls

    @classmethod
    def set_decimal_separator(cls, separator: str | None = None) -> type[Config]:
        """The mark between a number's whole part and the rest.

        Raises TypeError unless it is one character.
        """
        if separator is not None and (not isinstance(separator, str) or len(separator) != 1):
            msg = f"`separator` must be a single character; found {separator!r}"
            raise TypeError(msg)
        _direct["set_decimal_separator"] = separator or "."
        _changed()
        return cls

    @classmethod
    def set_thousands_separator(cls, separator: str | bool | None = None) -> type[Config]:
        """The mark between groups of three digits; True for the usual one.

        Raises TypeError unless it is one character.
        """
        if separator is True:
            _direct["set_decimal_separator"], separator = ".", ","
        elif isinstance(separator, str) and len(separator) > 1:
            msg = f"`separator` must be a single character; found {separator!r}"
            raise TypeError(msg)
        _direct["set_thousands_separator"] = separator or ""
        _changed()
        return cls

    @classmethod
    def set_float_precision(cls, precision: int | None = None) -> type[Config]:
        """Digits behind the point of floats."""
        _direct["set_float_precision"] = precision
        _changed()
        return cls

    @classmethod
    def set_fmt_float(cls, fmt: str | None = "mixed") -> type[Config]:
        """How floats print: "mixed" or "full".

        Raises ValueError for anything else.
        """
        if fmt is not None and fmt not in ("mixed", "full"):
            msg = f"invalid value {fmt!r} for `fmt`: expected 'mixed' or 'full'"
            raise ValueError(msg)
        _direct["set_fmt_float"] = fmt or "mixed"
        _changed()
        return cls

    @classmethod
    def set_trim_decimal_zeros(cls, active: bool | None = True) -> type[Config]:
        """Leave out zeros at the end of Decimals."""
        _direct["set_trim_decimal_zeros"] = bool(active)
        _changed()
        return cls

    @classmethod
    def set_fmt_str_lengths(cls, n: int | None) -> type[Config]:
        """Characters of a text that are shown.

        Raises ValueError when n is not positive.
        """
        if n is not None and n <= 0:
            raise ValueError("number of characters must be > 0")
        _set_variable("set_fmt_str_lengths", n)
        return cls

    @classmethod
    def set_fmt_table_cell_list_len(cls, n: int | None) -> type[Config]:
        """Items of a list that are shown."""
        _set_variable("set_fmt_table_cell_list_len", n)
        return cls

    @classmethod
    def set_tbl_cell_alignment(cls, format: str | None) -> type[Config]:
        """How cells are aligned: "LEFT", "CENTER" or "RIGHT".

        Raises ValueError for anything else.
        """
        if format is not None and format not in _ALIGNMENTS:
            msg = f"invalid alignment: {format!r}"
            raise ValueError(msg)
        _set_variable("set_tbl_cell_alignment", format)
        return cls

    @classmethod
    def set_tbl_cell_numeric_alignment(cls, format: str | None) -> type[Config]:
        """How cells with numbers are aligned: "LEFT", "CENTER" or "RIGHT".

        Raises KeyError for anything else.
        """
        if format is not None and format not in _ALIGNMENTS:
            msg = f"invalid alignment: {format!r}"
            raise KeyError(msg)
        _set_variable("set_tbl_cell_numeric_alignment", format)
        return cls

    @classmethod
    def set_tbl_cols(cls, n: int | None) -> type[Config]:
        """Columns that are shown; all when negative."""
        _set_variable("set_tbl_cols", n)
        return cls

    @classmethod
    def set_tbl_rows(cls, n: int | None) -> type[Config]:
        """Rows that are shown; all when negative."""
        _set_variable("set_tbl_rows", n)
        return cls

    @classmethod
    def set_tbl_column_data_type_inline(cls, active: bool | None = True) -> type[Config]:
        """Show a column's dtype beside its name."""
        _set_variable("set_tbl_column_data_type_inline", active)
        return cls

    @classmethod
    def set_tbl_dataframe_shape_below(cls, active: bool | None = True) -> type[Config]:
        """Show the shape below the table."""
        _set_variable("set_tbl_dataframe_shape_below", active)
        return cls

    @classmethod
    def set_tbl_formatting(cls, format: str | None = None, rounded_corners: bool | None = False) -> type[Config]:
        """The style of tables: one of Polars' names, such as "ASCII_MARKDOWN" or "NOTHING".

        Raises ValueError for anything else.
        """
        if format is not None and format not in _FORMATS:
            msg = f"invalid table format name: {format!r}\nExpected one of: {', '.join(_FORMATS)}"
            raise ValueError(msg)
        _set_variable("set_tbl_formatting", format)
        return cls

    @classmethod
    def set_tbl_hide_column_data_types(cls, active: bool | None = True) -> type[Config]:
        """Leave out dtypes."""
        _set_variable("set_tbl_hide_column_data_types", active)
        return cls

    @classmethod
    def set_tbl_hide_column_names(cls, active: bool | None = True) -> type[Config]:
        """Leave out column names."""
        _set_variable("set_tbl_hide_column_names", active)
        return cls

    @classmethod
    def set_tbl_hide_dtype_separator(cls, active: bool | None = True) -> type[Config]:
        """Leave out the line between names and dtypes."""
        _set_variable("set_tbl_hide_dtype_separator", active)
        return cls

    @classmethod
    def set_tbl_hide_dataframe_shape(cls, active: bool | None = True) -> type[Config]:
        """Leave out the shape."""
        _set_variable("set_tbl_hide_dataframe_shape", active)
        return cls

    @classmethod
    def set_tbl_width_chars(cls, width: int | None) -> type[Config]:
        """Characters that a table may be wide; no limit when negative."""
        _set_variable("set_tbl_width_chars", width)
        return cls

    @classmethod
    def set_verbose(cls, active: bool | None = True) -> type[Config]:
        """Kept for scripts that set it."""
        _set_variable("set_verbose", active)
        return cls

    @classmethod
    def warn_unstable(cls, active: bool | None = True) -> type[Config]:
        """Kept for scripts that set it."""
        _set_variable("warn_unstable", active)
        return cls

    @classmethod
    def set_expr_depth_warning(cls, limit: int) -> type[Config]:
        """Kept for scripts that set it: depth costs nothing here.

        Raises ValueError when it is negative.
        """
        if limit < 0:
            raise ValueError("limit should be positive")
        _set_variable("set_expr_depth_warning", limit)
        return cls

    @classmethod
    def set_engine_affinity(cls, engine: str | None = None) -> type[Config]:
        """The engine that "auto" stands for; nanuk has one.

        Raises ValueError for an unknown name.
        """
        if engine is not None and engine not in ("auto", "in-memory", "streaming", "gpu"):
            msg = f"invalid engine: {engine!r}"
            raise ValueError(msg)
        _set_variable("set_engine_affinity", engine)
        return cls

    @classmethod
    def set_streaming_chunk_size(cls, size: int | None) -> type[Config]:
        """Kept for scripts that set it.

        Raises ValueError when it is below 1.
        """
        if size is not None and size < 1:
            raise ValueError("number of rows per chunk must be >= 1")
        _set_variable("set_streaming_chunk_size", size)
        return cls

    # ---- Limits, which Polars does not have ----

    @classmethod
    def set_memory_limit(cls, n_bytes: int | None = None) -> type[Config]:
        """Bytes that a query may hold before it writes to disk what it can, or fails with MemoryError.

        None stands for NANUK_MEMORY_LIMIT, or for no limit. `collect(memory_limit=...)` sets it for one query.
        Raises ValueError unless it is positive.
        """
        _set_limit("set_memory_limit", n_bytes)
        return cls

    @classmethod
    def set_total_memory_limit(cls, n_bytes: int | None = None) -> type[Config]:
        """Bytes that all frames and queries of the process may hold together; None: NANUK_TOTAL_MEMORY_LIMIT, or any.

        Raises ValueError unless it is positive.
        """
        _set_limit("set_total_memory_limit", n_bytes)
        return cls

    @classmethod
    def set_time_limit(cls, seconds: float | None = None) -> type[Config]:
        """Seconds after which a query fails with TimeoutError; None: NANUK_TIME_LIMIT, or no limit.

        `collect(time_limit=...)` sets it for one query. Raises ValueError unless it is positive.
        """
        _set_limit("set_time_limit", seconds)
        return cls

    @classmethod
    def set_spill_folder(cls, path: str | os.PathLike | None = None) -> type[Config]:
        """The folder where queries write what memory is short for; None: NANUK_SPILL_FOLDER, TMPDIR, or /tmp.

        Raises FileNotFoundError when there is no such folder.
        """
        _set_limit("set_spill_folder", None if path is None else os.path.abspath(os.fspath(path)))
        return cls

    @classmethod
    def set_progress(cls, active: bool | None = None) -> type[Config]:
        """Show how far queries have come that run for more than a second, on standard error or in the notebook.

        None, the default: where standard error is a terminal and in notebooks, unless NANUK_PROGRESS is 0; 1 stands for
        everywhere.
        """
        from nanuk.progress import switch

        _direct["set_progress"] = active
        switch(active)
        return cls


__all__ = ["Config"]
