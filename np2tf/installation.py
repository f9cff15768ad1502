"""Whether TensorFlow can be used. Where it cannot, programs run on NumPy, with one warning.

It may be missing or half installed, its import may fail for any reason, or its version may not fit np2tf.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType

from np2tf.own_warnings import program_place, warn_at

REMEDY = "pip install 'np2tf[tf]'"


class TensorFlowMissingError(ImportError):
    """Raised if something needs TensorFlow that cannot do without it, and TensorFlow cannot be imported."""


class TensorFlowWarning(UserWarning):
    """Warns that TensorFlow cannot be imported, so that a program runs on NumPy."""


class Installation:
    """The TensorFlow of this process.

    Attributes:
        problem: the reason why it cannot be used; empty as long as none is known.
    """

    def __init__(self) -> None:
        self.problem = ""
        self._has_warned = False

    @property
    def may_have_tensorflow(self) -> bool:
        """Return whether the process has begun to import TensorFlow, and nothing is known against it."""
        return "tensorflow" in sys.modules and not self.problem

    def note(self, error: Exception) -> None:
        """Record that importing TensorFlow, or the half of np2tf that needs it, has failed."""
        if not self.problem:
            lines = str(error).splitlines() or [""]
            self.problem = f"{type(error).__name__}: {lines[0]}"

    def warn(self) -> None:
        """Warn once that the program runs on NumPy."""
        if not self._has_warned:
            self._has_warned = True
            text = f"TensorFlow cannot be imported ({self.problem}), so the program runs on NumPy: {REMEDY}"
            warn_at(text, TensorFlowWarning, *program_place())

    @contextmanager
    def needed(self) -> Iterator[None]:
        """Import something that needs TensorFlow within the with block.

        Raises:
            TensorFlowMissingError: if that fails because of TensorFlow.
        """
        try:
            yield
        except TensorFlowMissingError:
            raise
        except Exception as error:
            if not _is_of_tensorflow(error):
                raise
            self.note(error)
            raise TensorFlowMissingError(
                f"TensorFlow cannot be imported ({self.problem}): {REMEDY}", name="tensorflow"
            ) from error


def _is_of_tensorflow(error: Exception) -> bool:
    """Return whether an exception arose in TensorFlow, or because a part of it is missing."""
    owner = getattr(getattr(error, "obj", None), "__name__", None)  # of an attribute that a version lacks
    names = [getattr(error, "name", None), owner, *_modules_of(error.__traceback__)]
    return any(str(name).partition(".")[0] in ("tensorflow", "keras") for name in names)


def _modules_of(traceback: TracebackType | None) -> Iterator[str]:
    while traceback is not None:
        yield str(traceback.tb_frame.f_globals.get("__name__", ""))
        traceback = traceback.tb_next


installation = Installation()
