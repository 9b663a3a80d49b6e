"""Categories: the texts that Categoricals of one name share, and what an Enum is made of."""

from __future__ import annotations

from nanuk.datatypes import DataType, DataTypeClass, UInt8, UInt16, UInt32, _quoted


class Categories:
    """A named set of texts that grows as columns are made; without a name, the global one.

    Two with the same name, namespace and physical dtype are the same set.

    Raises TypeError for a physical dtype other than UInt8, UInt16 or UInt32.
    """

    __slots__ = ("_name", "_namespace", "_physical")

    def __init__(self, name: str | None = None, namespace: str = "", physical=UInt32) -> None:
        if name is not None and not isinstance(name, str):
            msg = f"the name of Categories must be a string, not {type(name).__name__!r}"
            raise TypeError(msg)
        if physical not in (UInt8, UInt16, UInt32):
            raise TypeError("Categorical physical must be one of pl.UInt(8|16|32)")
        self._name = name or ""
        self._namespace = namespace if self._name else ""
        self._physical = (physical if isinstance(physical, DataTypeClass) else type(physical)) if self._name else UInt32

    def __class_getitem__(cls, item):
        raise TypeError("type 'Categories' is not subscriptable")

    @staticmethod
    def random(namespace: str = "", physical=UInt32) -> Categories:
        """A new set under a random name."""
        import uuid

        return Categories(str(uuid.uuid4()), namespace, physical)

    @property
    def _dtype_text(self) -> str:
        if not self._name:
            return "Categorical"
        return f"Categorical({_quoted(self._name)}, {_quoted(self._namespace)}, {self._physical.__name__})"

    def name(self) -> str:
        """The name; empty for the global set."""
        return self._name

    def namespace(self) -> str:
        """The namespace."""
        return self._namespace

    def physical(self) -> DataType:
        """The dtype of codes."""
        return self._physical()

    def is_global(self) -> bool:
        """Whether this is the set without a name."""
        return not self._name

    def to_series(self):
        """All texts in the order of their codes, as a Series of String."""
        import nanuk

        return nanuk._nanuk.categories(self._dtype_text)

    def to_dict(self) -> dict:
        """Each text and its code."""
        return {text: code for code, text in enumerate(self)}

    def __iter__(self):
        return iter(self.to_series().to_list())

    def __contains__(self, item) -> bool:
        texts = self.to_series().to_list()
        return 0 <= item < len(texts) if isinstance(item, int) else item in texts

    def __getitem__(self, key):
        """The code of a text, or the text of a code.

        Raises KeyError for an unknown text, IndexError for an unknown code and TypeError for any other key.
        """
        texts = self.to_series().to_list()
        if isinstance(key, str):
            if key not in texts:
                raise KeyError(key)
            return texts.index(key)
        if isinstance(key, int):
            if not 0 <= key < len(texts):
                msg = f"category index out of range: {key}"
                raise IndexError(msg)
            return texts[key]
        msg = f"invalid key type {type(key)}; expected str or int"
        raise TypeError(msg)

    def __repr__(self) -> str:
        if self._physical is UInt32 and not self._namespace:
            return f'Categories("{self._name}")' if self._name else "Categories()"
        return f'Categories(name="{self._name}", namespace="{self._namespace}", physical=pl.{self._physical.__name__})'

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Categories) and self._dtype_text == other._dtype_text

    def __hash__(self) -> int:
        return hash(self._dtype_text)

    def __reduce__(self):
        return (Categories, (self._name or None, self._namespace, self._physical))


def enum_categories(categories) -> tuple:
    """The texts of an Enum from a list, a Series, a text, or a class of Python's enum with texts as values.

    Raises TypeError for what is no text, ValueError for a text that occurs twice.
    """
    import enum

    if isinstance(categories, str):
        categories = [categories]
    elif isinstance(categories, type) and issubclass(categories, enum.Enum):
        for name, member in categories.__members__.items():
            if not isinstance(member.value, str):
                msg = f"Enum categories must be strings; `{categories.__name__}.{name}` values are {member.value!r}"
                raise TypeError(msg)
        categories = [member.value for member in categories]
    elif hasattr(categories, "to_list"):
        categories = categories.to_list()
    texts = tuple(categories)
    seen = set()
    for text in texts:
        if text is None:
            raise TypeError("Enum categories must not contain null values")
        if not isinstance(text, str):
            import nanuk

            msg = f"Enum categories must be strings; found data of type {nanuk.Series([text], strict=False).dtype}"
            raise TypeError(msg)
        if text in seen:
            msg = f"Enum categories must be unique; found duplicate {text!r}"
            raise ValueError(msg)
        seen.add(text)
    return tuple(str.__str__(text) if type(text) is str else str(getattr(text, "value", text)) for text in texts)
