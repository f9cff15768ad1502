"""NumPy's warnings about the form of a call, such as deprecations, in NumPy's own words."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from np2tf.tnp._warnings.value_warnings import warn_where


def ask_numpy(question: Callable[[], Any]) -> Any:
    """Return the result of `question`. NumPy's warnings in it are reported at the code that called tnp."""
    told: dict[tuple[str, type[Warning]], None] = {}
    try:
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            try:
                return question()
            finally:
                told = dict.fromkeys((str(warning.message), warning.category) for warning in heard)
    finally:
        for message, category in told:
            warn_where(True, message, category)
