"""Golden fixtures with a `main()`: original and translation, compiled or not, return the same."""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Iterator
from types import ModuleType

import numpy as np
import pytest

import np2tf
from np2tf.staging.host.jit import UnjittedWarning
from tests.helpers.differential import alike, described, load, promoted
from tests.helpers.golden import Case, cases

#: case -> why its translation does not return what the original does. An entry that has become wrong fails.
GAPS: dict[str, str] = {
    "refused/value_of_in_place": "the value of an in-place call is used: refused with a diagnostic",
}
#: Sources with names that NumPy 2 has removed: their translations are compared with one another.
NUMPY_1 = frozenset({"names/removed", "names/removed_builtin_hidden", "names/removed_with_arguments"})
#: A branch gives its variable one type: a float, which Python would keep, becomes a np.float64.
PROMOTED = frozenset({"control/for_return_and_break", "control/return_two_branches"})
#: name of a way to run the translation -> settings
WAYS = {
    "host": {"jit": "off"},
    "tensors": {"jit": "off", "eager": "tensorflow"},
    "compiled": {"jit": "on", "tier": "compile"},
}


#: Sources with a `main` that no translation can be made of. (test_what_fails_is_listed holds the list.)
FAILED = frozenset({"refused/syntax_error"})


def _has_main(case: Case) -> bool:
    return b"\ndef main(" in case.source.read_bytes()


CASES = [case for case in cases() if _has_main(case) and case.name not in FAILED]


def _returned(data: bytes) -> tuple[object, str]:
    """Run `main` of a module; return its result and the text that it prints."""
    printed = io.StringIO()
    with (
        warnings.catch_warnings(),
        np.errstate(all="ignore"),
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(printed),
    ):
        warnings.simplefilter("ignore", UnjittedWarning)
        result = described(load(data)["main"]())
    return result, printed.getvalue()


@pytest.fixture
def numpy_as_it_was() -> Iterator[None]:
    """Take back what a fixture assigns to NumPy's own modules: other tests of this process read them."""
    modules = (np, np.random)
    before = [dict(vars(module)) for module in modules]
    yield
    for module, names in zip(modules, before, strict=True):
        for name in vars(module).keys() - names.keys():
            if not isinstance(vars(module)[name], ModuleType):  # NumPy loads submodules when first asked for
                delattr(module, name)
        vars(module).update(names)


@pytest.mark.usefixtures("numpy_as_it_was")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_execution(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """Values, dtypes, shapes and types are equal."""
    monkeypatch.chdir(case.source.parent)
    with np2tf.config.using(jit="off"):
        expected = _returned((case.expected if case.name in NUMPY_1 else case.source).read_bytes())
    wrong = []
    for way, settings in WAYS.items():
        with np2tf.config.using(**settings):
            try:
                found = _returned(case.expected.read_bytes())
            except Exception as error:
                found = error, ""
        if case.name in PROMOTED:
            found, expected = promoted(found), promoted(expected)
        if not alike(found, expected):
            wrong.append(f"{way}: {found!r} instead of {expected!r}")
    if case.name in GAPS:
        assert wrong, f"{case.name} is right: take it off the list"
    else:
        assert not wrong, "\n".join(wrong)


def test_what_fails_is_listed() -> None:
    """The list of failures is exact. (Every worker imports this file, and one worker runs this test.)"""
    assert {case.name for case in cases() if _has_main(case) and case.translated().failed} == FAILED


def test_gaps_are_cases():
    assert set(GAPS) <= {case.name for case in CASES}


def test_most_fixtures_are_executed():
    assert len(CASES) >= 60
