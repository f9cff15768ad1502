"""A straight-line program as one jitted function, compared with NumPy's run of the same lines."""

from __future__ import annotations

import re
from dataclasses import dataclass
from unittest.mock import patch

import numpy as np
from differential import alike, load, observe
from machine_twins import quiet

import np2tf
from np2tf.runtime import compiled
from np2tf.staging import StagingError

_HEAD = {
    "numpy": "import numpy as np\nfrom machine_twins import _At as at\n",
    "twin": "import np2tf\nfrom np2tf import tnp as np\nat = np.at\n",
}


@dataclass
class Found:
    """How the compiled function ran, and what differs."""

    ran: str
    difference: str | None


def compare_compiled(given: dict[str, np.ndarray], lines: list[str], names: list[str], xla: bool) -> Found:
    """Run the lines on NumPy and compiled; a line that cannot be staged, and what rests on it, is left
    out.
    """
    while True:
        refused = _refused_line(given, lines, names, xla)
        if refused is None:
            break
        lines = _without(lines, refused)
    with quiet():
        wanted = observe(_function("numpy", given, lines, names), _arguments(given))
    if wanted.error is not None:
        # A line that was left out had been needed for another to be valid.
        return Found("host", None)
    with np2tf.config.using(jit="on", tier="compile"), patch.object(compiled, "xla_pays", lambda ops: xla):
        found = observe(_function("twin", given, lines, names), _arguments(given))
    if not alike(found.result, wanted.result):
        found.aliases = wanted.aliases
    how = "host" if found.ran == "fallback" else "compiled" if xla else "graph"
    difference = found.differs_from(wanted)
    return Found(how, None if difference is None else f"{difference}\n{_text('twin', given, lines, names)}")


def _arguments(given: dict[str, np.ndarray]) -> tuple[np.ndarray, ...]:
    return tuple(array.copy() for array in given.values())


def _text(side: str, given: dict[str, np.ndarray], lines: list[str], names: list[str]) -> str:
    bound = {match[1] for line in lines if (match := re.match(r"(\w+) = ", line))} | set(given)
    results = ", ".join(name for name in names if name in bound)
    body = "".join(f"    {line}\n" for line in lines)
    decorator = "@np2tf.jit\n" if side == "twin" else ""
    return f"{_HEAD[side]}\n{decorator}def f({', '.join(given)}):\n{body}    return ({results},)\n"


def _function(side: str, given: dict[str, np.ndarray], lines: list[str], names: list[str]) -> object:
    return load(_text(side, given, lines, names))["f"]


def _refused_line(given: dict[str, np.ndarray], lines: list[str], names: list[str], xla: bool) -> int | None:
    """The index of a line that cannot be staged, None if all can (or it is none of the lines)."""
    function = _function("twin", given, lines, names)
    with (
        np2tf.config.using(jit="strict", tier="compile"),
        patch.object(compiled, "xla_pays", lambda ops: xla),
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
    """The lines without one of them, and without those that use a name that it alone binds."""
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
