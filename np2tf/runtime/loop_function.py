"""What is known of a loop that is a function of its own as well."""

from __future__ import annotations

from typing import NamedTuple


class LoopFunction(NamedTuple):
    """A loop as a function.

    It takes `parameters`, and then the first and last number of the range, and its step if it has one.
    """

    key: str
    """What the instrumented code calls it."""
    name: str
    """Its name in the tree, which nothing else has."""
    of: str
    """The name of the function that it is taken from."""
    text: str
    """Its definition; line k of the text is line `down` + k of the file."""
    down: int
    parameters: tuple[str, ...]
    results: tuple[str, ...]
    has_step: bool
    breaks: bool
