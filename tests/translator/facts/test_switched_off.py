"""`# np2tf: off` keeps functions and classes as they are, for every door."""

from __future__ import annotations

import pytest

from np2tf import Options, convert

_FUNCTION = "def f(x):{}\n    for i in range(3):\n        x[i] = np.sin(x[i])\n    return x\n"
_OTHER = "\n\ndef g(x):\n    return np.cos(x)\n"


@pytest.mark.parametrize(
    "text",
    [
        _FUNCTION.format("  # np2tf: off"),
        _FUNCTION.format("  # np2tf:off  # slow"),
        "# np2tf: off\n" + _FUNCTION.format(""),
        "# np2tf: off\n@decorated\n" + _FUNCTION.format(""),
        "@decorated  # np2tf: off\n" + _FUNCTION.format(""),
        "@decorated\n# np2tf: off\n" + _FUNCTION.format(""),
        "class A:  # np2tf: off\n    def f(self, x):\n        return np.sin(x) * np.cos(x)\n",
    ],
)
@pytest.mark.parametrize("target", ["np2tf", "tf"])
def test_what_is_switched_off_stays(text: str, target: str) -> None:
    """It keeps its text to the last character, and nothing is reported of it; its neighbours change."""
    result = convert(f"import numpy as np\n\n\n{text}{_OTHER}", Options(target=target))
    assert text in result.text
    assert "tnp.cos(x)" in result.text
    assert result.diagnostics == []


@pytest.mark.parametrize("comment", ["# np2tf: offline", "# np2tf off", "#: off"])
def test_other_comments_switch_nothing_off(comment: str) -> None:
    text = convert(f"import numpy as np\n\n\n{comment}\n{_FUNCTION.format('')}").text
    assert "np2tf.jit" in text
