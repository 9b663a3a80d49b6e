"""How many examples hypothesis tries: profiles by name."""

from __future__ import annotations

import os

_EXAMPLES = {"fast": 100, "balanced": 1_000, "expensive": 10_000}
_VARIABLE = "POLARS_HYPOTHESIS_PROFILE"


def _examples(profile) -> int:
    if isinstance(profile, int):
        return profile
    if profile not in _EXAMPLES:
        msg = f"`profile` must be one of {', '.join(map(repr, _EXAMPLES))} or a number, got {profile!r}"
        raise ValueError(msg)
    return _EXAMPLES[profile]


def load_profile(profile="fast", *, set_environment: bool = False) -> None:
    """Try as many examples as a profile says: "fast", "balanced", "expensive" or a number.

    Raises ValueError for another.
    """
    from hypothesis import settings

    name = f"nanuk.{profile}"
    settings.register_profile(name, max_examples=_examples(profile), print_blob=True, deadline=None)
    settings.load_profile(name)
    if set_environment:
        set_profile(profile)


def set_profile(profile) -> None:
    """Name a profile in the environment, for tests that load it.

    Raises ValueError for an unknown one.
    """
    _examples(profile)
    os.environ[_VARIABLE] = str(profile)
