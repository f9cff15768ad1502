"""Warnings of np2tf's own in a program that it runs: one line each, and each once."""

from __future__ import annotations

import re
import warnings

_shown: set[str] = set()
_format = warnings.formatwarning


def warn_in_one_line() -> None:
    """From now on np2tf's warnings are shown so; all others as Python, or the program, shows them."""
    warnings.formatwarning = _formatted


def _formatted(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, line: str | None = None
) -> str:
    if category.__module__.partition(".")[0] != "np2tf":
        return _format(message, category, filename, lineno, line)
    # Some texts begin with the place, as findings do.
    text = re.sub(rf"{re.escape(filename)}:{lineno}(?::\d+)?: ", "", " ".join(str(message).split()), count=1)
    told = f"{filename}:{lineno}: {category.__name__}: {text}\n"
    if told in _shown:
        return ""
    _shown.add(told)
    return told
