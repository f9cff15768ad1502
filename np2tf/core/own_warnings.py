"""np2tf's own warnings: they reach the user, and never end a program that works without np2tf."""

from __future__ import annotations

import os
import sys
import warnings
from types import FrameType

#: The folder of np2tf, whose frames are not the user's.
PACKAGE_FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def warn_at(text: str, category: type[Warning], path: str, line: int) -> None:
    """Warn at a place in the user's file.

    A filter that turns all warnings into errors is meant for the program's own warnings: np2tf's is shown. A
    filter that names the category, which is np2tf's, is obeyed.
    """
    try:
        warnings.warn_explicit(text, category, path, line)
    except category as error:
        if any(action == "error" and kind is category for action, _, kind, *_ in warnings.filters):
            raise
        _show(error, category, path, line)
    except Exception:  # a stream that is closed, or a function of the program's that shows warnings
        return


def _show(warning: Warning, category: type[Warning], path: str, line: int) -> None:
    try:
        warnings.showwarning(warning, category, path, line)
    except Exception:
        return


def program_place() -> tuple[str, int]:
    """Return file and line of the innermost frame that belongs neither to np2tf nor to an import."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if str(frame.f_globals.get("__name__", "")).partition(".")[0] not in ("np2tf", "importlib"):
            return frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back
    return "<unknown>", 0
