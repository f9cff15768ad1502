"""Imports are found in a file's bytes: in every spelling, and in the lines of other statements."""

from __future__ import annotations

import pytest

from np2tf.translator.sources.names_between_files import from_imports, names_of_numpy


@pytest.mark.parametrize(
    ("text", "statements"),
    [
        ("from a import b", [("a", [("b", "b")])]),
        ("from . import b, c as d  # e", [(".", [("b", "b"), ("c", "d")])]),
        ("from ..a.b import (\n    c,  # d, e\n    f as g,\n)\n", [("..a.b", [("c", "c"), ("f", "g")])]),
        ("from a import b, \\\n    c\nx = d\n", [("a", [("b", "b"), ("c", "c")])]),
        ("from a import b, \\\r\n    c\r\nx = d\r\n", [("a", [("b", "b"), ("c", "c")])]),
        ("try: from a import b\nexcept ImportError: pass\n", [("a", [("b", "b")])]),
        ("x = 1; from a import b; from c import d\n", [("c", [("d", "d")])]),
        ("    from a import *\n", [("a", [("*", "*")])]),
        ("# from a import b\nx = 'from a import b'\nyield from a\n", []),
    ],
)
def test_from_imports(text: str, statements: list[tuple[str, list[tuple[str, str]]]]) -> None:
    assert [tuple(statement) for statement in from_imports(text.encode())] == statements


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("import numpy as np\n", {"np", "numpy"}),
        ("import os, numpy as np, sys\n", {"os", "np", "numpy", "sys"}),
        ("import numpy \\\n    as np\n", {"np", "numpy"}),
        ("try: import numpy as np\nexcept ImportError: np = None\n", {"np", "numpy"}),
        ("import numpy.linalg as la\n", {"la", "numpy"}),
        ("from numpy import sin, cos as c\n", {"sin", "cos", "c"}),
        ("from numpy.linalg import (\n    norm,\n    det as d,\n)\n", {"norm", "det", "d"}),
        ("from numpy import *\n", {"*"}),
        ("import numpy\nxp = numpy\n", {"numpy"}),
        ("x = np.zeros(3)  # numpy\nfrom jax import numpy\n", set()),
        ("import jax\n", set()),
    ],
)
def test_names_of_numpy(text: str, names: set[str]) -> None:
    assert names_of_numpy(text.encode()) == names
