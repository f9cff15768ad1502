"""Lines that are aligned to a bracket stay so where the translation moves the bracket."""

from __future__ import annotations

import pytest

from np2tf import Options, convert

CASES = {
    "a function of NumPy": (
        "y = np.where(a,\n             b,  # two\n             # three\n             c)\n",
        "y = tnp.where(a,\n              b,  # two\n              # three\n              c)\n",
    ),
    "a write": (
        "x[1:] = (a[0]\n         + np.sin(b,\n                  c)\n         + b)\n",
        "x = tnp.at(x)[1:].set(a[0]\n                      + tnp.sin(b,\n                                c)\n"
        "                      + b)\n",
    ),
    "a loop's head": (
        "for i in np.arange(1,\n                   2):\n    print(i)\n",
        "for i in tnp.arange(1,\n                    2):\n    print(i)\n",
    ),
    "brackets in a text": (
        'y = np.foo("(", a,\n           b)\nz = np.sin(f"({a}(",\n           b)\n',
        'y = np.foo("(", a,\n           b)\nz = tnp.sin(f"({a}(",\n            b)\n',
    ),
    "no alignment": (
        "y = np.where(\n    a, b,\n  c)\nz = np.sin(a,\n    b)\n",
        "y = tnp.where(\n    a, b,\n  c)\nz = tnp.sin(a,\n    b)\n",
    ),
    "a hanging indent of the same width": (
        "u = abs(\n    np.sin(a)\n)\nnp.x = foo(np.sin(1),\n           2)\n",
        "u = abs(\n    tnp.sin(a)\n)\nnp.x = foo(tnp.sin(1),\n           2)\n",
    ),
    "no edit": ("y = min(a,\n        b)\nz = np.e\n", "y = min(a,\n        b)\nz = tnp.e\n"),
}


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("name", CASES)
def test_alignment(name: str, depth: int) -> None:
    before, after = (_at_depth(text, depth) for text in CASES[name])
    text = convert(f"import numpy as np\n{before}", Options(jit=False)).text
    assert text[text.index("\n", text.rindex("import")) + 1 :] == after


def _at_depth(text: str, depth: int) -> str:
    for head in ("def f(a, b, c, x):", "class A:")[:depth]:
        text = f"{head}\n" + "".join(f"    {line}\n" for line in text.splitlines())
    return text
