"""Data of a loop that is available as a function."""

from __future__ import annotations

from typing import NamedTuple

#: The name that code with watched loops reads.
WATCH = "_np2tf_watch"
#: A loop over a range of fewer numbers is not watched, because watching would cost more than it could gain.
SHORT = 16


class LoopFunction(NamedTuple):
    """A loop as a function.

    The function takes `parameters`, and then the first and last number of the range, and its step if it has
    one; for a `while` it takes the maximal number of iterations.
    """

    key: str
    """The loop's name in the instrumented code."""
    name: str
    """The function's name in the tree, which nothing else has."""
    of: str
    """The name of the function that contains the loop."""
    text: str
    """The source of the function."""
    lines: tuple[int, ...]
    """The lines of the file for the lines of the text."""
    parameters: tuple[str, ...]
    results: tuple[str, ...]
    kind: str
    """The iterable: "range", "steps" (a range with a step), "while", or a kind of
    `np2tf.imports.loops.items`.
    """
    tells: bool
    """True if the function's last result says whether the loop has ended for a reason of its own."""
    items: int = 0
    """The number of arrays that the elements come from; the function takes them before the first and last
    number.
    """
    says_numpy: bool = True
    """True if the loop's text shows work on arrays."""
    in_module: bool = False
    """True if the loop is outside of functions."""

    @property
    def line(self) -> int:
        """The line of the loop in its file."""
        return self.lines[0]
