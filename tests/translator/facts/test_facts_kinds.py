"""The kinds of values that expressions visibly have."""

from __future__ import annotations

import libcst as cst
import pytest

from np2tf.translator.facts.facts import Facts
from np2tf.translator.facts.kinds import Kind


def kind(expression: str, before: str = "", parameters: str = "p") -> Kind:
    """The kind of an expression at the end of a function."""
    body = "".join(f"    {line}\n" for line in before.splitlines())
    source = f"import numpy as np\nG = np.zeros(3)\ndef f({parameters}):\n{body}    return {expression}\n"
    facts = Facts.of(cst.parse_module(source))
    value = facts.nodes(cst.Return)[-1].value
    assert value is not None
    return facts.kinds.kind(value)


@pytest.mark.parametrize(
    ("expression", "before", "expected"),
    [
        ("np.zeros(3)", "", Kind.ARRAY),
        ("x", "x = np.zeros(3)", Kind.ARRAY),
        ("x + 1", "x = np.zeros(3)", Kind.ARRAY),
        ("x[1:]", "x = np.zeros(3)", Kind.ARRAY),
        ("x.T", "x = np.zeros(3)", Kind.ARRAY),
        ("x.copy().reshape(3, 1)", "x = np.zeros(3)", Kind.ARRAY),
        ("x > 0", "x = np.zeros(3)", Kind.ARRAY),
        ("x", "x = np.zeros(3)\nx += 1", Kind.ARRAY),
        ("-x", "x: object = np.ones(3)", Kind.ARRAY),
        ("x", "if p:\n    x = np.ones(3)\nelse:\n    x = np.zeros(3)", Kind.ARRAY),
        ("x", "x = np.zeros(3)\nx = p", Kind.UNKNOWN),
        ("x", "x = np.zeros(3)\nx = 3", Kind.UNKNOWN),
        ("x[0]", "x = np.zeros(3)", Kind.UNKNOWN),
        ("x.sum()", "x = np.zeros(3)", Kind.UNKNOWN),
        ("np.sin(p)", "", Kind.UNKNOWN),
        ("p", "", Kind.UNKNOWN),
        ("p + 1", "", Kind.UNKNOWN),
        ("G", "", Kind.UNKNOWN),
        ("y", "y = y + 1", Kind.UNKNOWN),
        ("3 + 4.0", "", Kind.NUMBER),
        ("n", "n = 3\nn += 1", Kind.NUMBER),
        ("i", "for i in range(3): pass", Kind.NUMBER),
        ("np.pi", "", Kind.NUMBER),
        ("[1]", "", Kind.CONTAINER),
        ("d", "d = {}", Kind.CONTAINER),
        ("d", "d = dict(a=1)", Kind.CONTAINER),
        ("d", "d = collections.defaultdict(list)", Kind.CONTAINER),
        ("[x for x in p]", "", Kind.CONTAINER),
        ("p.shape", "", Kind.STATIC),
        ("p.shape[0]", "", Kind.STATIC),
        ("p.shape[0] // 2 + 1", "", Kind.STATIC),
        ("n", "n = len(p)", Kind.STATIC),
        ("p is None", "", Kind.STATIC),
        ("isinstance(p, int)", "", Kind.STATIC),
        ("p.ndim == 2", "", Kind.STATIC),
        ("'a'", "", Kind.STATIC),
        ("p == 'a'", "", Kind.UNKNOWN),
        ("len(p) > 3 and p is not None", "", Kind.STATIC),
        ("p > 3", "", Kind.UNKNOWN),
        ("not p", "", Kind.UNKNOWN),
        ("len(p)", "len = p", Kind.UNKNOWN),
    ],
)
def test_kind(expression: str, before: str, expected: Kind) -> None:
    """One row per idea; ARRAY only where it is visible, UNKNOWN where in doubt."""
    assert kind(expression, before) is expected


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        ("dict", Kind.CONTAINER),
        ("list[int]", Kind.CONTAINER),
        ("Dict[str, int]", Kind.CONTAINER),
        ("float", Kind.UNKNOWN),
    ],
)
def test_annotated_parameters(annotation: str, expected: Kind) -> None:
    """A parameter annotated as a container is a CONTAINER; any other annotation leaves its kind UNKNOWN."""
    assert kind("p", "", f"p: {annotation}") is expected
