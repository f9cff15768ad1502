"""Names of NumPy's modules that the program binds anew: translated code sees what NumPy's does."""

from __future__ import annotations

import contextlib
import importlib
import io
import pickle
import subprocess
import sys
import textwrap
import types
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest

import np2tf
from np2tf import tnp
from np2tf.staging.host.jit import JittedFunction

ROOT = Path(__file__).resolve().parents[3]
HEAD = """
    import numpy as np
    import numpy.linalg as la
    from numpy import mean

    def total(x):
        s = 0.0
        for i in range(x.shape[0]):
            s = s + np.sum(x * i)
        return s

    def plain(x):
        return np.sum(x)

    def length(x):
        r = x[0] * 0.0
        for i in range(x.shape[0]):
            if x[i] > 0.5:
                r = r + np.linalg.norm(x) * x[i]
        return r

    def drawn(x):
        for i in range(3):
            x = x * np.random.uniform(1.0, 2.0)
        return x

    def through(x):
        return total(x) * 2.0

    def called(f, x):
        s = 0.0
        for i in range(3):
            s = s + f(x) * i
        return s

    def mine(x, *a, **k):
        print("mine")
        return 7.0

    X = np.array([1.0, 2.0, 4.0])
    sum_ = np.sum
"""
#: The source of a module after `HEAD`; tests compare the result of `main()` and the text that it prints.
PROGRAMS = {
    "a function": """
        def main():
            before = total(X), plain(X), through(X)
            np.sum = mine
            now = total(X), plain(X), through(X), np.sum(X), np.sum is mine
            np.sum = sum_
            return before, now, total(X), plain(X), through(X), np.sum is sum_
    """,
    "at import": """
        np.sum = mine
        def main():
            now = total(X), plain(X)
            np.sum = sum_
            return now, total(X), plain(X)
    """,
    "in a submodule": """
        def main():
            old, before = np.linalg.norm, length(X)
            la.norm = lambda x: 3.0
            now = length(X), la.norm(X), np.linalg.norm(X)
            np.linalg.norm = old
            return before, now, length(X), la.norm(X)
    """,
    "random numbers": """
        def main():
            np.random.seed(5)
            before, old = drawn(X), np.random.uniform
            np.random.uniform = lambda a, b: 10.0
            now = drawn(X)
            np.random.uniform = old
            return before, now, drawn(X)
    """,
    "by setattr, and back by delattr": """
        def main():
            setattr(np, "added", 3)
            had = hasattr(np, "added"), getattr(np, "added"), np.added
            delattr(np, "added")
            return had, hasattr(np, "added"), getattr(np, "added", None)
    """,
    "a class": """
        class Other(np.ndarray):
            pass

        def main():
            old, before = np.matrix, np.matrix([[1.0]])
            np.matrix = Other
            now = np.matrix, isinstance(before, np.matrix), issubclass(np.matrix, np.ndarray)
            np.matrix = old
            return now[0] is Other, now[1:], np.matrix is old, isinstance(before, np.matrix)
    """,
    "a constant": """
        def area(r):
            s = r * 0.0
            for i in range(r.shape[0]):
                s = s + np.pi * r[i]
            return s

        def main():
            before, old = area(X), np.pi
            np.pi = 3.0
            now = area(X), np.pi
            np.pi = old
            return before, now, area(X)
    """,
    "another function of NumPy's": """
        def main():
            before = total(X)
            np.sum = np.mean
            now = total(X), plain(X), mean(X)
            np.sum = sum_
            return before, now, total(X)
    """,
    "a universal function": """
        def curve(x):
            s = x * 0.0
            for i in range(3):
                s = s + np.sin(x)
            return s

        def main():
            before, old = curve(X), np.sin
            np.sin = np.cos
            now = curve(X)
            np.sin = old
            return before, now, curve(X), np.sin(0.0)
    """,
    "names that NumPy 2 does not have": """
        def main():
            np.float = np.float64
            np.product = np.prod
            told = np.float(1.0), type(np.float(1)).__name__, np.product(X)
            np.product = mine
            told = told, np.product(X)
            del np.float, np.product
            return told, hasattr(np, "product")
    """,
    "deleted": """
        def main():
            before = plain(X)
            del np.sum
            told = hasattr(np, "sum")
            try:
                total(X)
            except AttributeError as error:
                told = told, str(error)
            np.sum = sum_
            return before, told, total(X)
    """,
    "a saved name is NumPy's own": """
        def main():
            np.sum = mine
            now = called(sum_, X), called(np.sum, X)
            np.sum = sum_
            return now, called(np.sum, X)
    """,
    "for a block, by unittest.mock": """
        from unittest import mock

        def main():
            before = total(X), length(X)
            with mock.patch.object(np, "sum", mine), mock.patch("numpy.linalg.norm", lambda x: 2.0):
                now = total(X), plain(X), length(X)
            return before, now, total(X), plain(X), length(X)
    """,
    "many times": """
        def main():
            told = []
            for k in range(4):
                np.sum = lambda x, k=k: 10.0 * k
                told.append(total(X))
                np.sum = sum_
                told.append(total(X))
            return told
    """,
}


def _outcome(folder: Path) -> tuple[str, str]:
    sys.modules.pop("rebinding", None)
    importlib.invalidate_caches()
    with contextlib.redirect_stdout(io.StringIO()) as told:
        main = importlib.import_module("rebinding").main
        first = main()
        return repr((first, main())), told.getvalue()


@pytest.fixture
def numpys() -> Iterator[None]:
    """Whatever fails, NumPy is whole afterwards."""
    modules = np, np.linalg, np.random
    kept = [dict(vars(module)) for module in modules]
    yield
    for module, names in zip(modules, kept):
        for name in set(vars(module)) - names.keys():
            if not isinstance(vars(module)[name], types.ModuleType):  # a submodule that has been imported
                delattr(module, name)
        for name, value in names.items():
            if vars(module).get(name) is not value and not name.startswith("__"):
                setattr(module, name, value)


@pytest.mark.usefixtures("numpys")
@pytest.mark.parametrize("tier", ["compile", "auto"])
@pytest.mark.parametrize("case", PROGRAMS)
def test_programs(case: str, tier: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = textwrap.dedent(HEAD) + textwrap.dedent(PROGRAMS[case])
    (tmp_path / "rebinding.py").write_text(source)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    wanted = _outcome(tmp_path)
    with warnings.catch_warnings(), np2tf.config.using(tier=tier), np2tf.translating("rebinding"):
        warnings.simplefilter("ignore", np2tf.TranslationWarning)
        found = _outcome(tmp_path)
    sys.modules.pop("rebinding", None)
    assert found == wanted


@np2tf.jit(tier="compile")
def _total(x: Any) -> Any:
    return tnp.sum(x * 2.0) + tnp.linalg.norm(x)


@np2tf.jit(tier="compile")
def _mean(x: Any) -> Any:
    return tnp.mean(x * 2.0)


def _counts(function: JittedFunction) -> tuple[int, int]:
    return function.trace_count, function.compiled_count + function.graph_count


def test_what_is_compiled_stays_so_and_is_used_again() -> None:
    """While a patch is there, it sends functions that read the name to the host, and no other functions."""
    x = np.array([3.0, 4.0])
    assert _total(x) == 19.0
    assert _mean(x) == 7.0
    traces = _total.trace_count
    with patch.object(np, "sum", lambda x: 1.0):
        before = _counts(_total)
        assert _total(x) == 6.0
        assert _counts(_total) == before
        ran = _counts(_mean)[1]
        assert _mean(x) == 7.0
        assert _counts(_mean)[1] == ran + 1
    assert _total(x) == 19.0
    assert _counts(_total) == (traces, before[1] + 1)


def test_the_array_type_and_tnps_own_names_come_back() -> None:
    kept = tnp.ndarray, tnp.linalg.LinAlgError, tnp.add_at
    with patch.object(np, "ndarray", list), patch.object(np.linalg, "LinAlgError", KeyError):
        assert (tnp.ndarray, tnp.linalg.LinAlgError) == (list, KeyError)
    with patch.object(np, "add", max):
        assert tnp.add is max
        assert not hasattr(tnp, "add_at")
    assert (tnp.ndarray, tnp.linalg.LinAlgError, tnp.add_at) == kept


def test_what_stands_for_numpys_own_does_not_get_into_numpy() -> None:
    numpy_sum = np.sum
    with patch.object(np, "sum", max):
        tnp.sum = numpy_sum
        assert np.sum is numpy_sum
    with patch.object(np, "sum", max):
        np.sum = np2tf.arrays.front.numpy_functions.provide(numpy_sum, "numpy.sum")
        assert np.sum is numpy_sum
    tnp_sum = tnp.sum
    with patch.object(tnp, "sum", max):
        assert np.sum is max
    assert (np.sum, tnp.sum) == (numpy_sum, tnp_sum)
    assert pickle.loads(pickle.dumps(tnp.sum)) is tnp_sum


def test_numpys_modules_are_otherwise_as_they_were() -> None:
    assert type(np).__name__ == "module"
    assert repr(np).startswith("<module 'numpy' from")
    assert not hasattr(np, "no_such_name")
    # Python 3.10 says no more than the name.
    told = "no attribute 'no_such_name'" if sys.version_info >= (3, 11) else "^no_such_name$"
    with pytest.raises(AttributeError, match=told):
        del np.no_such_name
    with pytest.raises(AttributeError, match="no attribute 'no_such_name'"):
        _ = np.no_such_name
    assert "sum" in dir(np)


@pytest.mark.parametrize(
    "module", [np, np.linalg, tnp, tnp.random, tnp.lib], ids=lambda module: module.__name__
)
def test_modules_are_pickled_by_name(module: types.ModuleType) -> None:
    """As dill and cloudpickle do, who do not know the classes of these."""
    assert pickle.loads(pickle.dumps(module)) is module


BEFORE = """
import numpy as np

class Box:
    def total(self, x):
        return "the box's"

np.fliplr = lambda x: "mine"
np.flipud = Box().total
import np2tf
from np2tf import tnp

@np2tf.jit(tier="compile")
def f(x):
    return tnp.fliplr(x)

x = np.array([1.0, 2.0, 6.0])
print(f(x), tnp.fliplr(x), tnp.flipud(x), tnp.sum(x))
"""


def test_what_was_bound_before_np2tf_was_imported() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", BEFORE], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert done.stdout == "mine mine the box's 9.0\n"


def test_importing_the_op_library_leaves_numpys_modules_alone() -> None:
    code = """
        import types
        import numpy as np
        import np2tf
        from np2tf import tnp
        tnp.linalg.norm(np.ones(2))
        assert type(np) is types.ModuleType and type(np.linalg) is types.ModuleType
        """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True, cwd=ROOT)
