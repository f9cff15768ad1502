"""Modules that are imported translated and get NumPy's names from other modules of their package."""

from __future__ import annotations

import importlib
import math
import sys
import warnings
from collections.abc import Iterator
from functools import reduce
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import np2tf
from np2tf import tnp
from np2tf.loading.code.reexported_names import check
from np2tf.staging.host.jit import JittedFunction

FILES = {
    "__init__": "",
    "compat": """
from numpy.linalg import norm
try:
    import numpy as np
except ImportError:
    np = None

""",
    "work": """
from .compat import norm, np as xp

def total(x):
    y = xp.zeros(3)
    for i in range(3):
        y[i] = norm(x) * i
    return y

def is_there():
    return xp is not None
""",
    "by_star": """
from reexporting_package.common import *

def total(x):
    y = np.zeros(3)
    for i in range(3):
        y[i] = np.sum(x) * i
    return y

def is_numpys(x):
    return type(x) in (list, np.ndarray), type(x) is np.ndarray, isinstance(x, np.ndarray)
""",
    "common": "import numpy as np\nONE = np.ones(1)\n",
}


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The name of the package, whose modules are imported translated."""
    name = "reexporting_package"
    (tmp_path / name).mkdir()
    for module, text in FILES.items():
        (tmp_path / name / f"{module}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    with np2tf.translating(name):
        yield name
    for module in [module for module in sys.modules if module.partition(".")[0] == name]:
        del sys.modules[module]


def loaded(name: str) -> ModuleType:
    importlib.invalidate_caches()
    return importlib.import_module(name)


@pytest.mark.parametrize(("module", "expected"), [("work", [0, 5, 10]), ("by_star", [0, 7, 14])])
def test_they_are_translated(package: str, module: str, expected: list[int]) -> None:
    program = loaded(f"{package}.{module}")
    assert isinstance(program.total, JittedFunction)
    np.testing.assert_array_equal(program.total(np.array([3.0, 4.0])), expected)


def test_names_that_may_be_none_are_asked_for(package: str) -> None:
    program = loaded(f"{package}.work")
    assert program.is_there() is True
    assert program.xp is np


def test_classes_are_numpys(package: str) -> None:
    """Where the other module has `tnp` in NumPy's place, because it is translated, too."""
    assert loaded(f"{package}.common").np is tnp
    assert loaded(f"{package}.by_star").is_numpys(np.ones(2)) == (True, True, True)


@pytest.mark.parametrize(("module", "origin"), [("work", "compat"), ("by_star", "common")])
def test_a_program_binds_another_object(package: str, module: str, origin: str) -> None:
    """The module runs as it is, with a warning."""
    other = ModuleType("other")
    other.zeros = lambda n: [0] * n  # type: ignore[attr-defined]
    other.sum = sum  # type: ignore[attr-defined]
    loaded(f"{package}.{origin}").np = other  # type: ignore[attr-defined]
    with pytest.warns(np2tf.TranslationWarning, match="NP2TF941.*import as numpy is <module 'other'>"):
        program = loaded(f"{package}.{module}")
    assert type(program.total([3, 4])) is list


def test_without_numpy(package: str) -> None:
    """None is not NumPy; the module asks for it."""
    loaded(f"{package}.compat").np = None  # type: ignore[attr-defined]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        program = loaded(f"{package}.work")
    assert program.is_there() is False


@pytest.mark.parametrize(
    ("value", "name", "or_none"),
    [
        (np, "numpy", False),
        (tnp, "numpy", False),
        (np.linalg, "numpy.linalg", False),
        (tnp.linalg.norm, "numpy.linalg.norm", False),
        (None, "numpy", True),
        (np.exceptions.AxisError, "numpy.exceptions.AxisError", False),
        (np.testing.assert_allclose, "numpy.testing.assert_allclose", False),
        (np.linalg.LinAlgError, "numpy.linalg.LinAlgError", False),
    ],
)
def test_check(value: object, name: str, or_none: bool) -> None:
    numpys = check(value, name, or_none)
    assert numpys is (None if value is None else reduce(getattr, name.split(".")[1:], np))


@pytest.mark.parametrize(("value", "name"), [(None, "numpy"), (math, "numpy"), (np.cos, "numpy.sin")])
def test_check_refuses(value: object, name: str) -> None:
    with pytest.raises(ImportError, match=f"import as {name} is"):
        check(value, name, False)
