"""The errors of staging: a class for each code, never compared as text."""

from __future__ import annotations

import ast
import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest

from np2tf.core import errors
from np2tf.core.counts import Fallback
from np2tf.core.diagnostics import codes
from np2tf.core.errors import KINDS, StagingError, TracingTimeError, class_of_code

PACKAGE = Path(__file__).resolve().parents[2] / "np2tf"
CLASSES = {kind.__name__ for kind in KINDS.values()}


def nodes() -> Iterator[tuple[str, ast.AST]]:
    """Every node of the sources, with its place."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            yield f"{path.relative_to(PACKAGE)}:{getattr(node, 'lineno', 0)}", node


def called(node: ast.AST) -> str:
    """The name of what a node calls; of a class that it asks for its own sentence, the name of the class."""
    if not isinstance(node, ast.Call):
        return ""
    function = node.func
    if isinstance(function, ast.Attribute) and function.attr == "of":
        function = function.value
    return function.id if isinstance(function, ast.Name) else ""


def test_every_error_is_made_of_a_class_with_a_code() -> None:
    """The base class is never called."""
    assert [place for place, node in nodes() if called(node) == "StagingError"] == []


def test_every_class_is_used() -> None:
    """There is no class without an error."""
    named = {node.id for _, node in nodes() if isinstance(node, ast.Name)}
    assert CLASSES - named == set()


def is_code_of_the_run_time(node: ast.AST) -> bool:
    """Return whether a node is the text of such a code, or a display of several such texts."""
    if isinstance(node, (ast.Tuple, ast.Set, ast.List)):
        return any(map(is_code_of_the_run_time, node.elts))
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in KINDS


def test_codes_are_not_compared() -> None:
    """`except` and `isinstance` tell errors apart."""
    compared = [
        place
        for place, node in nodes()
        if isinstance(node, ast.Compare) and any(map(is_code_of_the_run_time, (node.left, *node.comparators)))
    ]
    assert compared == []


def test_codes_stand_with_their_classes_only() -> None:
    """No other text of the right column's names a code of a staging error."""
    other_places = [
        place
        for place, node in nodes()
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in KINDS
    ]
    assert {place.partition(":")[0] for place in other_places} == {"core/errors.py"}


@pytest.mark.parametrize("code", sorted(KINDS))
def test_class_is_what_its_code_says(code: str) -> None:
    """The docstring of a class begins with the title of its code; a code has one class."""
    kind = KINDS[code]
    title = codes()[code].title
    assert (kind.__doc__ or "").splitlines()[0] == f"{title[0].upper()}{title[1:]}."
    assert [error_class for error_class in StagingError.__subclasses__() if error_class.code == code] == [
        kind
    ]
    assert kind.__name__.endswith("Error")


@pytest.mark.parametrize("code", sorted(KINDS))
def test_errors_keep_what_they_tell(code: str) -> None:
    """An error can be sent to another process, and made again from a code that was kept."""
    error = class_of_code(code)("why", ("a.py", 3))
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), again.reason, again.place, again.code) == (KINDS[code], "why", ("a.py", 3), code)
    assert str(again) == f"why [{code}]"


def test_sentences_of_classes() -> None:
    """`of` puts words into the sentence of a class."""
    assert errors.UnsupportedDtypeError.of(dtype="object").reason == "TensorFlow has no dtype object"


def test_fallbacks_tell_their_kind() -> None:
    """A fallback keeps the code as text, and gives the class."""
    assert Fallback("f", "why", TracingTimeError.code).kind is TracingTimeError
    assert Fallback("f", "why", "NP2TF905").kind is StagingError
