"""NumPy's warnings about the form of a call, such as deprecations, in NumPy's own words."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from np2tf.tnp._warnings.value_warnings import warn_where


def ask_numpy(question: Callable[[], Any]) -> Any:
    """Return the result of `question`. NumPy's warnings in it are reported at the code that called tnp."""
    reports: dict[tuple[str, type[Warning]], None] = {}
    try:
        with warnings.catch_warnings(record=True) as records:
            warnings.simplefilter("always")
            try:
                return question()
            finally:
                reports = dict.fromkeys((str(record.message), record.category) for record in records)
    finally:
        for message, category in reports:
            warn_where(True, message, category)
