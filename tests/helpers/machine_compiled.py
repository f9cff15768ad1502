"""Runs a straight-line program as one jitted function, and compares it with NumPy's run of the same lines."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import numpy as np

import np2tf
from np2tf.core.errors import StagingError
from np2tf.staging.compile import concrete_function
from tests.helpers.differential import Outcome, alike, load, observe
from tests.helpers.machine_counterparts import quiet

_HEAD = {
    "numpy": "import numpy as np\nfrom tests.helpers.machine_counterparts import _At as at\n",
    "twin": "import np2tf\nfrom np2tf import tnp as np\nat = np.at\n",
}


@dataclass
class Found:
    """The way in which the compiled function ran, and the differences."""

    ran: str
    difference: str | None


def compare_compiled(given: dict[str, np.ndarray], lines: list[str], names: list[str], xla: bool) -> Found:
    """Run the lines on NumPy and compiled, without lines that cannot be staged and lines that depend on
    them.
    """
    while True:
        refused = _refused_line(given, lines, names, xla)
        if refused is None:
            break
        lines = _without(lines, refused)
    with quiet():
        wanted = observe(_function("numpy", given, lines, names), _arguments(given))
    if wanted.error is not None:
        # Another line needs the line that was left out.
        return Found("host", None)
    with (
        np2tf.config.using(jit="on", tier="compile"),
        patch.object(concrete_function, "xla_pays", lambda ops: xla),
    ):
        found = observe(_function("twin", given, lines, names), _arguments(given))
        if found.ran != "compiled":
            # NumPy's own arrays treat np2tf's keys differently from NumPy's
            # (tests/arrays/dispatch/test_interop.py).
            compiled_arguments = _arguments(given)
            found = observe(_function("twin", given, lines, names), compiled_arguments)
    if not alike(found.result, wanted.result):
        found.aliases = wanted.aliases
    how = "host" if found.ran != "compiled" else "compiled" if xla else "graph"
    difference = _difference(found, wanted, _names(given, lines, names))
    return Found(how, None if difference is None else f"{difference}\n{_text('twin', given, lines, names)}")


def _difference(found: Outcome, wanted: Outcome, names: list[str]) -> str | None:
    """Return the first difference, in short form."""
    if found.error is None and wanted.error is None:
        for name, compiled_value, numpy_value in zip(names, found.result[1:], wanted.result[1:], strict=True):
            if not alike(compiled_value, numpy_value):
                return f"{name}: {numpy_value} on NumPy, {compiled_value} compiled"
        if alike(found.arguments, wanted.arguments) and found.aliases != wanted.aliases:
            differ = [
                pair for a, b, pair in zip(found.aliases, wanted.aliases, _pairs(names, wanted)) if a != b
            ]
            return f"sharing memory on one side only: {differ[:3]}"
    return found.differs_from(wanted)


def _pairs(names: list[str], wanted: Outcome) -> list[tuple[str, str]]:
    """Return the pairs of names that `differential.sharing` compares, in its order."""
    held = [
        name for name, argument in zip(names, wanted.result[1:], strict=True) for _ in _arrays_in(argument)
    ]
    given = [f"argument {k}" for k, argument in enumerate(wanted.arguments[1:]) for _ in _arrays_in(argument)]
    every = [*held, *given]
    return [(a, b) for k, a in enumerate(every) for b in every[k + 1 :]]


def _arrays_in(description: Any) -> list[Any]:
    if type(description) is tuple and description[0] in ("list", "tuple"):
        return [array for item in description[1:] for array in _arrays_in(item)]
    return [description] if type(description) is tuple and description[0] == "array" else []


def _arguments(given: dict[str, np.ndarray]) -> tuple[np.ndarray, ...]:
    return tuple(array.copy() for array in given.values())


def _text(side: str, given: dict[str, np.ndarray], lines: list[str], names: list[str]) -> str:
    results = ", ".join(_names(given, lines, names))
    body = "".join(f"    {line}\n" for line in lines)
    decorator = "@np2tf.jit\n" if side == "twin" else ""
    return f"{_HEAD[side]}\n{decorator}def f({', '.join(given)}):\n{body}    return ({results},)\n"


def _names(given: dict[str, np.ndarray], lines: list[str], names: list[str]) -> list[str]:
    """Return the names that hold a value at the end: the results."""
    bound = {match[1] for line in lines if (match := re.match(r"(\w+) = ", line))} | set(given)
    return [name for name in dict.fromkeys(names) if name in bound]


def _function(side: str, given: dict[str, np.ndarray], lines: list[str], names: list[str]) -> object:
    return load(_text(side, given, lines, names))["f"]


def _refused_line(given: dict[str, np.ndarray], lines: list[str], names: list[str], xla: bool) -> int | None:
    """Return the index of a line that cannot be staged; None if all can (or none of the lines is the
    reason).
    """
    function = _function("twin", given, lines, names)
    with (
        np2tf.config.using(jit="strict", tier="compile"),
        patch.object(concrete_function, "xla_pays", lambda ops: xla),
        quiet(),
    ):
        try:
            function(*_arguments(given))  # type: ignore[operator]
        except StagingError as error:
            return _line_of(error, _text("twin", given, lines, names), lines)
        except Exception:
            return None
    return None


def _line_of(error: BaseException, text: str, lines: list[str]) -> int | None:
    first = text.split("\n").index(next(line for line in text.split("\n") if line.startswith("def f("))) + 1
    traceback = error.__traceback__
    if error.__cause__ is not None:
        traceback = error.__cause__.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code.co_name == "f":
            place = traceback.tb_lineno - first - 1
            return place if 0 <= place < len(lines) else None
        traceback = traceback.tb_next
    return None


def _without(lines: list[str], refused: int) -> list[str]:
    """Return the lines without one line, and without lines that use a name which only that line binds."""
    kept = [line for k, line in enumerate(lines) if k != refused]
    match = re.match(r"(\w+) = ", lines[refused])
    if match is None:
        return kept
    lost = {match[1]}
    made: list[str] = lines[:refused]
    for line in lines[refused + 1 :]:
        target = re.match(r"(\w+) = (.*)", line)
        used = set(re.findall(r"\b\w+\b", target[2] if target else line))
        if used & lost:
            lost |= {target[1]} if target else set()
        else:
            lost -= {target[1]} if target else set()
            made.append(line)
    return made
