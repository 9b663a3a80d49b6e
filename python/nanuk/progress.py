"""Progress of queries that run long: a line of the terminal that is written over, or a text in a notebook that changes. The
library calls `show` about ten times a second from the first second on, and once more at the end."""

from __future__ import annotations

import os
import sys

from nanuk import _nanuk

_display = None


def _in_notebook() -> bool:
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell is not None and hasattr(shell, "kernel")


def _is_wanted() -> bool:
    setting = os.environ.get("NANUK_PROGRESS")
    if setting:
        return setting != "0"
    return _in_notebook() or (sys.stderr is not None and sys.stderr.isatty())


def _show_in_notebook(line: str | None) -> None:
    global _display
    from IPython.display import display

    data = {"text/plain": line or ""}
    if _display is None:
        if line is not None:
            _display = display(data, raw=True, display_id=True)
        return
    _display.update(data, raw=True)
    if line is None:
        _display = None


def _show_in_terminal(line: str | None) -> None:
    if line is None:
        text = "\r\x1b[K"
    else:
        try:
            width = os.get_terminal_size(sys.stderr.fileno()).columns
        except (OSError, ValueError, AttributeError):
            width = 80
        text = f"\r{line[: width - 1]}\x1b[K"
    sys.stderr.write(text)
    sys.stderr.flush()


def show(line: str | None, fraction: float) -> None:
    """A line of text and what it says as a number; None when the query has ended."""
    if _in_notebook():
        _show_in_notebook(line)
    elif sys.stderr is not None:
        _show_in_terminal(line)


def switch(active: bool | None) -> None:
    """On, off, or as the environment says."""
    wanted = _is_wanted() if active is None else active
    _nanuk.set_progress(show if wanted else None)
