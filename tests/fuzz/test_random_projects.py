"""Random packages do what they do on NumPy: results, state, and every effect, as often and in its order."""

from __future__ import annotations

import contextlib
import importlib
import io
import linecache
import logging
import os
import re
import sys
import types
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import np2tf
from np2tf.staging.host.jit import JittedFunction
from tests.helpers.differential import described
from tests.helpers.random_projects import project
from tests.helpers.selections import every_second
from tests.helpers.smaller_programs import smaller

TIERS = ("compile", "auto")
CALLS = 4
MODULES = ("pk.base", "pk.models", "pk.main")
RTOL = 1e-9
_NUMBER = re.compile(r"-?\d+\.\d+(?:e[-+]\d+)?")


class _Told(logging.Handler, io.TextIOBase):
    """The output of a program, in order: text, log records, warnings."""

    def __init__(self) -> None:
        logging.Handler.__init__(self)
        self.events: list[tuple[Any, ...]] = []

    def write(self, text: str) -> int:
        if self.events and self.events[-1][0] == "text":
            text = self.events.pop()[1] + text
        self.events.append(("text", text))
        return len(text)

    def emit(self, record: logging.LogRecord) -> None:
        place = record.funcName, record.lineno, os.path.basename(record.pathname)
        self.events.append(("log", record.name, record.levelname, record.getMessage(), *place))

    def warn(self, message: Any, category: Any, filename: str, lineno: int, *details: Any) -> None:
        if str(message).startswith("w: "):
            self.events.append(
                ("warning", str(message), category.__name__, lineno, os.path.basename(filename))
            )


@contextlib.contextmanager
def _listening() -> Iterator[_Told]:
    told, logger = _Told(), logging.getLogger("pk")
    logger.handlers, logger.propagate = [told], False
    logger.setLevel(logging.INFO)
    with warnings.catch_warnings(), contextlib.redirect_stdout(told), np.errstate(all="ignore"):  # type: ignore[type-var]
        warnings.simplefilter("always")
        warnings.showwarning = told.warn
        yield told
    logger.handlers = []
    logging.disable(logging.NOTSET)
    logging.getLogger("pk.base").disabled = False


def _forget() -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "pk"]:
        del sys.modules[name]
    importlib.invalidate_caches()
    linecache.clearcache()


def _state(module: types.ModuleType) -> dict[str, Any]:
    """Return the state of a module: its values, the values its classes hold, and the values its functions
    keep.
    """
    found: dict[str, Any] = {}
    for name, value in vars(module).items():
        if name.startswith("__") or name in ("np2tf", "tnp", "np") or isinstance(value, types.ModuleType):
            continue
        if isinstance(value, type):
            held = {
                key: attribute
                for key, attribute in vars(value).items()
                if isinstance(attribute, (int, float, list, dict))
            }
            found[name] = {
                key: _plain(attribute) for key, attribute in held.items() if not key.startswith("_")
            }
        elif not isinstance(value, logging.Logger):
            found[name] = _plain(value)
    return found


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return ("dict", *[(key, _plain(item)) for key, item in value.items()])
    if isinstance(value, (list, tuple)):
        return (type(value).__name__, *map(_plain, value))
    if isinstance(value, logging.Logger):
        return "logger"
    if callable(value) and not type(value).__module__.startswith("pk"):
        function = value.__wrapped__ if isinstance(value, JittedFunction) else value
        cells = [cell.cell_contents for cell in getattr(function, "__closure__", None) or ()]
        kept = [getattr(value, "calls", None), getattr(function, "__defaults__", None), *cells]
        return (
            "function",
            *[_plain(item) for item in kept if isinstance(item, (int, float, tuple, np.ndarray))],
        )
    if type(value).__module__.startswith("pk") and not isinstance(value, tuple):
        return (
            "object",
            type(value).__name__,
            *[(key, _plain(attribute)) for key, attribute in sorted(vars(value).items())],
        )
    return described(value)


def _run() -> list[tuple[Any, ...]]:
    """Results, effects and state after each call of `main`."""
    done = []
    main = importlib.import_module("pk.main").main
    with _listening() as told:
        for _ in range(CALLS):
            try:
                result = _plain(main())
            except Exception as error:
                result = type(error).__name__, str(error)
            state = {name: _state(sys.modules[name]) for name in MODULES}
            done.append((result, told.events[:], state))
            told.events.clear()
    return done


def _write(sources: dict[str, str], folder: Path) -> None:
    (folder / "pk").mkdir(exist_ok=True)
    for name, text in sources.items():
        (folder / "pk" / name).write_text(text)
    _forget()


def difference(sources: dict[str, str], tier: str, folder: Path) -> str | None:
    """Return the difference from NumPy, None if there is none."""
    _write(sources, folder)
    with patch.object(sys, "path", [str(folder), *sys.path]), patch.object(sys, "dont_write_bytecode", True):
        try:
            wanted = _run()
            _forget()
            with np2tf.config.using(tier=tier), np2tf.translating("pk"):
                found = _run()
        finally:
            _forget()
    for k, (translated_run, numpy_run) in enumerate(zip(found, wanted)):
        for part, a, b in zip(("result", "effects"), translated_run, numpy_run):
            problem = _unlike(a, b)
            if problem:
                return f"call {k}, {part}: {problem}"
        for module, held in numpy_run[2].items():
            for name, b in held.items():
                problem = _unlike(translated_run[2][module].get(name), b)
                if problem:
                    return f"call {k}, state: {module}.{name}: {problem}"
    return None


def _unlike(a: Any, b: Any) -> str | None:
    """The first difference of two descriptions; floats may differ by rounding."""
    if isinstance(a, str) and isinstance(b, str):
        translated_numbers, numpy_numbers = _NUMBER.findall(a), _NUMBER.findall(b)
        close = (
            np.allclose(
                [float(n) for n in translated_numbers],
                [float(n) for n in numpy_numbers],
                rtol=1e-9,
                atol=1.1e-3,
            )
            if len(translated_numbers) == len(numpy_numbers)
            else False
        )
        return (
            None
            if a == b or (close and _NUMBER.sub("#", a) == _NUMBER.sub("#", b))
            else f"{b!r} on NumPy, {a!r} translated"
        )
    if isinstance(a, dict) and isinstance(b, dict):
        a, b = tuple(a.items()), tuple(b.items())
    if isinstance(a, (tuple, list)) and isinstance(b, (tuple, list)):
        if a and b and a[0] in ("array", "number") and b[0] in ("array", "number"):
            is_equal = a[:3] == b[:3] and np.allclose(a[3], b[3], rtol=RTOL, atol=RTOL, equal_nan=True)
            return None if is_equal else f"{b} on NumPy, {a} translated"
        if len(a) != len(b):
            return f"{b} on NumPy, {a} translated"
        return next((found for found in map(_unlike, a, b) if found), None)
    return None if a == b else f"{b!r} on NumPy, {a!r} translated"


def judge(seed: int, tier: str, folder: Path) -> None:
    """Compare; what differs is printed with as few statements as show it."""
    made = project(seed)
    problem = difference(made.sources, tier, folder)
    if problem is None:
        return
    kind = problem.split(":")[0].split(", ")[1]
    sources = dict(made.sources)
    for name in ("main.py", "models.py", "base.py", "main.py"):

        def fails(text: str, name: str = name) -> bool:
            try:
                found = difference({**sources, name: text}, tier, folder)
            except Exception:  # no program any more
                return False
            return found is not None and found.split(":")[0].split(", ")[1] == kind

        sources[name] = smaller(sources[name], fails, seconds=20)
    shown = difference(sources, tier, folder)
    told = "".join(f"# {name}\n{text}\n" for name, text in sources.items())
    pytest.fail(f"seed {seed}, {tier}: {shown}\n\n{told}", pytrace=False)


#: programs that run with the other tests, and in one test
PROGRAMS, CHUNK = 100, 20
#: tier -> one program of how many runs in it there; compiling takes the most time
SHARE = {"compile": 20, "auto": 10}


@pytest.mark.parametrize("start", every_second(range(0, PROGRAMS, CHUNK)))
@pytest.mark.parametrize("tier", TIERS)
def test_random_projects(tier: str, start: int, tmp_path: Path) -> None:
    for seed in range(start, start + CHUNK):
        if seed % SHARE[tier] == 0:
            judge(seed, tier, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("start", range(0, PROGRAMS + 2000, 100))
@pytest.mark.parametrize("tier", TIERS)
def test_many_random_projects(tier: str, start: int, tmp_path: Path) -> None:
    for seed in range(start, start + 100):
        judge(seed, tier, tmp_path)


def test_projects_are_the_same_every_time_and_tell_much(tmp_path: Path) -> None:
    made = [project(seed).sources for seed in range(30)]
    assert made == [project(seed).sources for seed in range(30)]
    told = 0
    with (
        patch.object(sys, "path", [str(tmp_path), *sys.path]),
        patch.object(sys, "dont_write_bytecode", True),
    ):
        for sources in made:
            _write(sources, tmp_path)
            for result, events, _ in _run():
                assert result[0] == "list", result
                told += len(events)
        _forget()
    assert told > 200
