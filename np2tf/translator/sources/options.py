"""The options of a translation."""

from __future__ import annotations

from dataclasses import dataclass

from np2tf.translator.sources.names_between_files import Reexport

LINE_LENGTH = 88
"""The default limit for the length of lines that the translator makes; ruff and Black have the same."""


@dataclass(frozen=True)
class Options:
    """Options of `np2tf.convert`.

    Attributes:
        jit: decorate functions that can be compiled with `@np2tf.jit`, and lower their control flow.
        everything: compile every function that can be compiled, even if that does not seem to pay off; used
            for files that compiled code calls.
        eager: also prepare functions that cannot be compiled, for a transform that runs them operation by
            operation: their calls reach translated functions.
        line_length: the length from which lines are broken that the translator makes or changes. Changed
            lines are broken only if ruff's and Black's formatters would leave those of the source.
    """

    jit: bool = True
    everything: bool = False
    eager: bool = False
    line_length: int = LINE_LENGTH
    as_source: bool = False
    """The translation takes the place of the source, as that of `np2tf convert` does: only what is compiled
    is lowered.
    """
    numpy_only: bool = True
    """With `as_source`: leave functions that only work on lists of their own or on other libraries' values,
    and files that no array comes into.
    """
    docs: bool = False
    """Also translate code in pages and docstrings."""
    passed_on: tuple[str, ...] = ()
    """The names of this file that other files of the project read, where NumPy's names stay bound; `*` means
    all names.
    """
    reexports: tuple[Reexport, ...] = ()
    """The names of NumPy that this file imports from other files of the project."""
    target: str = "np2tf"
    """What the translation runs on: `np2tf`, or `tf` for TensorFlow alone."""

    @property
    def leaves_foreign(self) -> bool:
        """True if functions that use other libraries' values stay as they are, with their names of NumPy."""
        return self.as_source and self.numpy_only and self.target == "np2tf"
