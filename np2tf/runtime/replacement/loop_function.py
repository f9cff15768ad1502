"""What is known of a loop that is a function of its own as well."""

from __future__ import annotations

from typing import NamedTuple

#: The name that code reads whose loops are watched.
WATCH = "_np2tf_watch"


class LoopFunction(NamedTuple):
    """A loop as a function.

    It takes `parameters`, and then: the first and last number of the range; its step if it has one; of a
    `while` how many rounds it may run at most.
    """

    key: str
    """What the instrumented code calls it."""
    name: str
    """Its name in the tree, which nothing else has."""
    of: str
    """The name of the function that it is taken from."""
    text: str
    """Its definition."""
    lines: tuple[int, ...]
    """The lines of the file that the lines of the text stand for."""
    parameters: tuple[str, ...]
    results: tuple[str, ...]
    kind: str
    """What it is over: "range", "steps" (a range with a step), "while", or of `np2tf.imports.loops.items`."""
    tells: bool
    """Whether it gives, besides the results, whether the loop is over, for a reason of its own."""
    items: int = 0
    """How many arrays its elements come from, which it takes before the first and last number."""
    says_numpy: bool = True
    """Whether its text is that of work on arrays."""
    in_module: bool = False
    """Whether it stands outside of functions."""

    @property
    def line(self) -> int:
        """Where it stands in its file."""
        return self.lines[0]
