"""Exceptions of the program pass through np2tf as they are: once, and with no context of np2tf's."""

from __future__ import annotations

import importlib
import io
import sys
import textwrap
import types
import warnings
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import np2tf
from np2tf.arrays.front import numpy_state

PROGRAM = """
    import numpy as np

    class Field:
        __array_ufunc__ = None
        def __init__(self, d): self.d = d
        def __add__(self, o): return Field(self.d + o)
        def __call__(self, x): print("called"); return self.d * x

    class Moody:
        def __init__(self): self.x = np.ones(3)
        @property
        def y(self): print("asked"); raise LookupError("no y")

    def combine(h, x):  # an unknown callee, and NumPy refuses its operand
        for k in range(3):
            h = h + x
        return h(1.5), np.sum(h)

    def index(x, k):  # a run-time error in compiled code
        for i in range(3):
            x = x + x[k]
        return x

    def raising(x, stop):  # an exception that the text raises
        for k in range(3):
            x = x * 2
            if x.sum() > stop:
                raise ValueError("too large")
        return x

    def shapes(x, y):  # an error while tracing
        for k in range(3):
            x = x + y
        return x @ y

    def moody(m):
        for k in range(3):
            m.x = m.x + m.y
        return m.x

    def talking(x, n):
        for k in range(1, n):
            x[k] = x[k - 1] + 1
        print("first", x.sum())
        print("second", x.sum())
        return np.where(x > 1, x, -x)

    def caused(x):
        try:
            for k in range(3):
                x = x + x[9]
        except IndexError as error:
            raise KeyError("handled") from error
        return x

    def logs(x):
        for k in range(3):
            x = np.log(x) + 1.0
        return x
"""


@pytest.fixture(scope="module")
def modules(tmp_path_factory: pytest.TempPathFactory) -> tuple[types.ModuleType, types.ModuleType]:
    """The program as it is, and translated."""
    path = tmp_path_factory.mktemp("exceptions") / "program_of_exceptions.py"
    path.write_text(textwrap.dedent(PROGRAM))
    plain = types.ModuleType("plain")
    exec(compile(path.read_text(), str(path), "exec"), vars(plain))
    return plain, np2tf.import_module(path)


CALLS: dict[str, Callable[[types.ModuleType], Any]] = {
    "callee": lambda m: m.combine(m.Field(np.ones(3)), 1.0),
    "index": lambda m: m.index(np.arange(3.0), 5),
    "raise": lambda m: m.raising(np.ones(3), 5.0),
    "shapes": lambda m: m.shapes(np.ones(3), np.ones(4)),
    "property": lambda m: m.moody(m.Moody()),
    "cause": lambda m: m.caused(np.ones(3)),
}


def _outcome(call: Callable[[], Any]) -> Any:
    """Return what a call prints, and the exception with the exceptions behind it."""
    output = io.StringIO()
    with redirect_stdout(output), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            call()
        except Exception as error:
            chain, current = [], error
            while current is not None:
                chain.append((type(current), str(current), current.__suppress_context__))
                current = current.__cause__ or current.__context__  # type: ignore[assignment]
            return output.getvalue(), chain
    return output.getvalue(), None


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("tier", ["compile", "auto"])
def test_a_call_that_raises(name: str, tier: str, modules: tuple[types.ModuleType, types.ModuleType]) -> None:
    plain, translated = modules
    expected = _outcome(lambda: CALLS[name](plain))
    assert expected[1] is not None
    with np2tf.config.using(tier=tier):
        for _ in range(3):
            assert _outcome(lambda: CALLS[name](translated)) == expected


def test_the_context_is_the_programs(modules: tuple[types.ModuleType, types.ModuleType]) -> None:
    """An exception that is being handled where the call stands is the context, as without np2tf."""

    def call(module: types.ModuleType) -> None:
        try:
            raise OSError("outer")
        except OSError:
            module.combine(module.Field(np.ones(3)), 1.0)

    plain, translated = modules
    with np2tf.config.using(tier="compile"):
        assert _outcome(lambda: call(translated)) == _outcome(lambda: call(plain))


class _Full(io.StringIO):
    """A stream that takes some texts only."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.left = count

    def write(self, text: str) -> int:
        if not self.left:
            raise BlockingIOError("full")
        self.left -= 1
        return super().write(text)


def test_an_effect_that_raises_is_not_repeated(
    modules: tuple[types.ModuleType, types.ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The stream's own exception ends the call; what was printed before is printed once."""
    translated = modules[1]
    with np2tf.config.using(tier="compile"):
        translated.talking(np.ones(3), 3)
        before = translated.talking.compiled_count + translated.talking.graph_count
        assert before
        stream = _Full(2)
        monkeypatch.setattr(sys, "stdout", stream)
        with pytest.raises(BlockingIOError, match="full") as caught:
            translated.talking(np.ones(3), 3)
        monkeypatch.undo()
    assert caught.value.__context__ is None
    assert stream.getvalue() == "first 6.0\n"
    assert translated.talking.compiled_count + translated.talking.graph_count == before


def test_a_module_that_raises_while_it_is_imported(tmp_path: Path) -> None:
    path = tmp_path / "raising_module.py"
    path.write_text("import numpy as np\nx = np.ones(3)\nx[1:] = 2\nraise ValueError('mine')\n")
    with pytest.raises(ValueError, match="mine") as caught:
        np2tf.import_module(path)
    assert caught.value.__context__ is None


# -- warnings that are errors --------------------------------------------------------------------------------

FILTERS: dict[str, dict[str, Any]] = {
    "all": {"action": "error"},
    "category": {"action": "error", "category": RuntimeWarning},
    "message": {"action": "error", "message": "divide by zero"},
    "module": {"action": "error", "category": RuntimeWarning, "module": "program_of_exceptions"},
}


@pytest.mark.parametrize("name", FILTERS)
def test_warnings_that_are_errors(name: str, modules: tuple[types.ModuleType, types.ModuleType]) -> None:
    """NumPy runs the call, so that the warning is raised at its line; other filters change nothing."""
    translated = modules[1]
    with np2tf.config.using(tier="compile"):
        translated.logs(np.array([0.0, 1.0, 2.0]))
        compiled = translated.logs.compiled_count
        with warnings.catch_warnings():
            warnings.filterwarnings(**FILTERS[name])
            with pytest.raises(RuntimeWarning, match="divide by zero encountered in log") as caught:
                translated.logs(np.array([0.0, 1.0, 2.0]))
            assert caught.value.__context__ is None
            assert translated.logs.compiled_count == compiled
            with np.errstate(all="ignore"):  # nothing warns
                translated.logs(np.array([0.0, 1.0, 2.0]))
            assert translated.logs.compiled_count == compiled + 1
        with warnings.catch_warnings():
            warnings.simplefilter("error", DeprecationWarning)
            warnings.filterwarnings("ignore", "divide by zero")
            translated.logs(np.array([0.0, 1.0, 2.0]))
        assert translated.logs.compiled_count == compiled + 2


def test_warnings_that_are_errors_in_a_loop_that_could_go_on_compiled() -> None:
    replacement = importlib.import_module("np2tf.staging.host.replacement")
    with np2tf.config.using(tier="auto", jit="on"):
        assert replacement.is_possible()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert not replacement.is_possible()
            with np.errstate(all="ignore"):
                assert replacement.is_possible()


def test_the_order_of_filters_counts() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert numpy_state.warnings_are_errors()
        warnings.simplefilter("ignore", RuntimeWarning)
        assert not numpy_state.warnings_are_errors()
        warnings.simplefilter("error", ArithmeticWarning)
        assert not numpy_state.warnings_are_errors()
        warnings.filterwarnings("error", "overflow")
        assert numpy_state.warnings_are_errors()
        warnings.resetwarnings()
        assert not numpy_state.warnings_are_errors()


class ArithmeticWarning(RuntimeWarning):
    """A class below NumPy's, whose filters do not concern NumPy's warnings."""
