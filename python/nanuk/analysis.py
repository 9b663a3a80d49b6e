"""What LazyFrame.analyze gives: what a run was bound by, and what would make it faster."""

from __future__ import annotations


class Analysis:
    """What a query's run was bound by. Prints as text; `advice` holds sentences, `to_dict()` all numbers."""

    __slots__ = ("_json", "_text")

    def __init__(self, json_text: str, text: str) -> None:
        self._json = json_text
        self._text = text

    def to_dict(self) -> dict:
        """The numbers: seconds and bytes, by node and by pipeline."""
        import json

        return json.loads(self._json)

    @property
    def advice(self) -> list[str]:
        """What would make the query faster."""
        return self.to_dict()["advice"]

    def __str__(self) -> str:
        return self._text

    __repr__ = __str__

    def _repr_html_(self) -> str:
        import html

        return f"<pre>{html.escape(self._text)}</pre>"
