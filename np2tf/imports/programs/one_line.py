"""Shows np2tf's own warnings in one line each, and each warning once, in programs that np2tf runs."""

from __future__ import annotations

import re
import warnings

_shown_lines: set[str] = set()
_MOST_LINES = 1000
_format = warnings.formatwarning


def warn_in_one_line() -> None:
    """Show np2tf's warnings in one line from now on. All other warnings are shown as by Python or the
    program.
    """
    warnings.formatwarning = _format_warning


def _format_warning(
    message: Warning | str, category: type[Warning], filename: str, lineno: int, line: str | None = None
) -> str:
    if category.__module__.partition(".")[0] != "np2tf":
        return _format(message, category, filename, lineno, line)
    # Some texts, such as findings, begin with the place.
    text = re.sub(rf"{re.escape(filename)}:{lineno}(?::\d+)?: ", "", " ".join(str(message).split()), count=1)
    output = f"{filename}:{lineno}: {category.__name__}: {text}\n"
    if output in _shown_lines:
        return ""
    if len(_shown_lines) >= _MOST_LINES:
        _shown_lines.clear()
    _shown_lines.add(output)
    return output
