"""Expressions that are NumPy names are found, and no other expressions."""

from __future__ import annotations

import libcst as cst
import pytest

from np2tf.translator.facts.facts import Facts

OPTIONAL = "try:\n import numpy as np\nexcept ImportError:\n np = None\n"


def names(source: str) -> dict[str, str | None]:
    """Return every dotted expression of a program and what it stands for (the last of equal expressions
    counts).
    """
    module = cst.parse_module(source)
    facts = Facts.of(module)
    found: dict[str, str | None] = {}
    for kind in (cst.Name, cst.Attribute):
        for node in facts.nodes(kind):
            qualified = facts.imports.numpy_name(node)
            if qualified is not None:
                found[module.code_for_node(node)] = qualified
    return found


@pytest.mark.parametrize(
    ("source", "spelled", "meaning"),
    [
        ("import numpy\nnumpy.sin", "numpy.sin", "numpy.sin"),
        ("import numpy as np\nnp.linalg.norm", "np.linalg.norm", "numpy.linalg.norm"),
        ("import numpy.linalg\nnumpy.linalg.norm", "numpy.linalg.norm", "numpy.linalg.norm"),
        ("import numpy.linalg as la\nla.norm", "la.norm", "numpy.linalg.norm"),
        ("from numpy import sin as s\ns", "s", "numpy.sin"),
        ("from numpy import random\nrandom.rand", "random.rand", "numpy.random.rand"),
        ("from numpy.linalg import norm\nnorm", "norm", "numpy.linalg.norm"),
        ("from numpy import *\ncos", "cos", "numpy.cos"),
        ("import numpy as np\ndef f():\n return np.pi", "np.pi", "numpy.pi"),
        ("def f():\n import numpy as np\n return np.pi", "np.pi", "numpy.pi"),
        ("import numpy as np\ndef f(x=np.pi): pass", "np.pi", "numpy.pi"),
        ("import numpy as np\ndef f(np=np.pi): pass", "np.pi", "numpy.pi"),
        ("import numpy as np\nclass A:\n np = 1\n def f(self): return np.pi", "np.pi", "numpy.pi"),
        ("import numpy as np\n[x for x in np.e]", "np.e", "numpy.e"),
        ("import numpy as np\n[np for np in np.e]", "np.e", "numpy.e"),
        ("import numpy as np\nf(np=np.pi)", "np.pi", "numpy.pi"),
        ("import numpy as np\nimport numpy as np\nnp.pi", "np.pi", "numpy.pi"),
        ("import numpy as np\nx.np.pi\nnp.e", "np.e", "numpy.e"),
        ("def f():\n global np\n import numpy as np\nnp.pi", "np.pi", "numpy.pi"),
        ("import numpy as np\nf'{np.pi:.3f}'", "np.pi", "numpy.pi"),
        ("import numpy as np\n@np.vectorize\ndef f(): pass", "np.vectorize", "numpy.vectorize"),
        (f"{OPTIONAL}np.pi", "np.pi", "numpy.pi"),
        ("np = None\ntry:\n import numpy as np\nexcept ImportError: pass\nnp.pi", "np.pi", "numpy.pi"),
        (f"np: object\n{OPTIONAL}np.pi".replace(" as np", "\n np = numpy"), "np.pi", "numpy.pi"),
        ("np = None\ndef f():\n global np\n import numpy as np\nnp.pi", "np.pi", "numpy.pi"),
    ],
)
def test_resolved(source: str, spelled: str, meaning: str) -> None:
    """Every way to spell a NumPy name."""
    assert names(source).get(spelled) == meaning


@pytest.mark.parametrize(
    "source",
    [
        "np.sin",
        "import numpie as np\nnp.sin",
        "from .numpy import sin\nsin",
        "from . import numpy\nnumpy.sin",
        "import numpy as np\ndef f(np): return np.sin",
        "import numpy as np\nlambda np: np.sin",
        "import numpy as np\ndef f():\n np = 3\n return np.sin",
        "import numpy as np\ndef f():\n for np in x: np.sin",
        "import numpy as np\ndef f():\n with x as np: np.sin",
        "import numpy as np\ndef f():\n try: pass\n except E as np: np.sin",
        "import numpy as np\n[np.sin for np in x]",
        "import numpy as np\nx.np.sin",
        "import numpy as np\nf(x).np.sin",
        "import numpy as np\ndef f():\n (np := 3).x\n return np.sin",
        "import numpy as np\ndef f():\n match x:\n  case np: np.sin",
        "from numpy import *\ndef f(sin): return sin",
        "from numpy import *\nint",
        "from numpy import *\nfrom math import *\nsin",
        "from numpy.linalg import *\nsin",
    ],
)
def test_not_numpy(source: str) -> None:
    """Shadowed, rebound, or never NumPy's."""
    assert not {spelled for spelled in names(source) if spelled.endswith(("sin", "int"))}


def test_a_call_ends_a_name() -> None:
    """`np.abs(r).max` is not `numpy.abs.max`."""
    assert set(names("import numpy as np\nnp.abs(r).max")) == {"np", "np.abs"}


@pytest.mark.parametrize(
    "source",
    [
        "import numpy as np\nnp = 3\nnp.sin",
        "try:\n import numpy as np\nexcept ImportError:\n import math as np\nnp.sin",
        "try:\n import numpy as np\nexcept ImportError:\n np = None\nif slow: np = other\nnp.sin",
        "import numpy as np\nimport math as np\nnp.sin",
        "import numpy as np\ndel np\nnp.sin",
        "import numpy as np\ndef f():\n global np\n np = 3\nnp.sin",
        "import numpy as np\nimport numpy.linalg as np\nnp.sin",
    ],
)
def test_ambiguous(source: str) -> None:
    """A name with two meanings resolves to neither, and is told."""
    facts = Facts.of(cst.parse_module(source))
    assert [
        facts.imports.numpy_name(node) for node in facts.nodes(cst.Attribute) if node.attr.value == "sin"
    ] == [None]
    assert "np" in facts.imports.ambiguous.values()


@pytest.mark.parametrize(
    ("use", "meaning"),
    [
        ("if np: pass", "asks"),
        ("if a or (b and np): pass", "asks"),
        ("x = not np", "asks"),
        ("np is not None", "asks"),
        ("x = np and np.pi", "asks"),
        ("bool(np)", "asks"),
        ("x = 1 if np else 2", "asks"),
        ("f(np)", "ambiguous"),
        ("xp = np", "ambiguous"),
        ("x = np or math", "ambiguous"),
        ("x = 1 if y else np", "ambiguous"),
        ("np is sys", "ambiguous"),
    ],
)
def test_optional_import(use: str, meaning: str) -> None:
    """A name that is None without NumPy keeps its text where the code asks for that, and is ambiguous where
    the name itself is a value.
    """
    facts = Facts.of(cst.parse_module(OPTIONAL + use))
    for name in facts.nodes(cst.Name):
        facts.imports.numpy_name(name)
    assert bool(facts.imports.tests_for_none) == (meaning == "asks")
    assert bool(facts.imports.ambiguous) == (meaning == "ambiguous")
