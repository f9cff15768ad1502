"""One function translated, while the rest of a text stays on NumPy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from np2tf.cli.configuration import Configurations
from np2tf.cli.editor.translations import function_at, translation_of, with_function

TEXT = '''"""A module."""

from __future__ import annotations

import numpy as np

COUNT = 3


class Filter:
    def apply(self, x):
        for i in range(1, COUNT):
            x[i] = x[i] - np.sin(x[i - 1])
        return x


def half(x):
    return np.cos(x) / 2


def both(x):
    y = Filter().apply(x)
    while y.max() > 0.1:
        y = half(y) - 1
    return y
'''


def translated(text: str, name: str) -> str | None:
    """A text with one function translated."""
    return with_function(text, translation_of(Path("a.py"), text, Configurations()).text, name)


def result_of(text: str) -> Any:
    names: dict[str, Any] = {"__name__": "a"}
    exec(compile(text, "a.py", "exec", dont_inherit=True), names)
    return np.asarray(names["both"](np.linspace(0, 1, 5)))


@pytest.mark.parametrize("name", ["Filter.apply", "both"])
def test_the_module_computes_the_same(name: str) -> None:
    """Each function alone, and one after the other."""
    one = translated(TEXT, name)
    assert one is not None
    assert "import numpy as np\nimport np2tf\n" in one
    assert "np.cos(x) / 2" in one
    np.testing.assert_allclose(result_of(one), result_of(TEXT), rtol=1e-12)


def test_a_function_that_stays_as_it_is() -> None:
    text = "import numpy as np\n\n\ndef f(x):\n    return x\n\n\ny = np.sin(f(1))\n"
    assert translated(text, "f") is None
    assert translated(text, "g") is None


def test_two_functions_of_one_name() -> None:
    text = "import numpy as np\n\n\ndef f(x):\n    return np.sin(x)\n\n\ndef f(x):\n    return np.cos(x)\n"
    assert translated(text, "f") is None


@pytest.mark.parametrize(
    "after",
    [
        "from np2tf.tnp import sin\n\n\ndef f(x):\n    return sin(x) + 1\n",
        "from numpy import sin\n\n\ndef helper(x):\n    return x\n\n\ndef f(x):\n    return helper(sin(x))\n",
    ],
)
def test_a_function_that_needs_more_than_imports(after: str) -> None:
    """A name of the source has one meaning for all functions, and nothing but imports is added."""
    assert with_function("from numpy import sin\n\n\ndef f(x):\n    return sin(x)\n", after, "f") is None


def test_line_ends_stay() -> None:
    one = translated(TEXT.replace("\n", "\r\n"), "both")
    assert one is not None
    assert "\n" not in one.replace("\r\n", "")


def test_the_function_around_a_line() -> None:
    lines = TEXT.split("\n")
    assert function_at(TEXT, lines.index("    def apply(self, x):") + 1) == "Filter.apply"
    assert function_at(TEXT, lines.index("    return y") + 1) == "both"
    assert function_at(TEXT, 1) == ""
    assert function_at("def f(", 1) == ""
