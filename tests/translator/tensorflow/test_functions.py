"""rules/tensorflow is what is measured: each function is NumPy's for every example, or known to differ."""

from __future__ import annotations

import ast
import inspect
from typing import Any

import numpy as np
import pytest

from np2tf.core import rules
from np2tf.translator.tensorflow.numpy_table import RESULTS, helpers_with, table

#: Examples whose call is refused before it comes to TensorFlow, for a parameter or an attribute.
REFUSED = {
    "add: np.add.reduce(a, axis=0)",
    "multiply: np.multiply.outer(v, v)",
    "maximum: np.maximum.accumulate(a)",
    "divide: np.divide(a, b, where=b > 1, out=np.zeros(a.shape, np.result_type(a, 1.0)))",
    "max: np.max(a, initial=0)",
    "empty: np.empty((2, 3)).shape",
    "empty_like: np.empty_like(a).shape",
    "linspace: np.linspace(v, 2, 4)",
    "einsum: np.einsum('...,...', a, b)",
    "pad: np.pad(v, 2, mode='edge')",
    "bincount: np.bincount(k, minlength=5)",
    "bincount: np.bincount(k, weights=v)",
    "fft.fft: np.fft.fft(a, 4, axis=0)",
    "fft.fft2: np.fft.fft2(s, norm='ortho')",
}
#: The translation counts as NumPy 2.3 and later; before, counts are Python numbers.
NEWER = {"count_nonzero: np.count_nonzero(a)"} if isinstance(np.count_nonzero(()), int) else set()


def silent(why: str) -> bool:
    """True if TensorFlow gives a value that differs from NumPy's, and no error."""
    return "is ('raised'" not in why


def test_functions_are_numpys(results: dict[str, Any]) -> None:
    """Values, dtypes and shapes are NumPy's for float64, float32, int64 and int32."""
    told = {
        example: {dtype: why for dtype, why in differing.items() if dtype != "bool"}
        for example, differing in results["functions"].items()
    }
    assert {example: why for example, why in told.items() if why and example not in REFUSED | NEWER} == {}


def test_truth_values_differ_as_known(results: dict[str, Any]) -> None:
    """Of truth values only mathematical functions silently give another dtype; those calls are refused."""
    floats = {name for name, function in table().functions.items() if function.result == "float"}
    differing = {
        example.partition(":")[0]
        for example, told in results["functions"].items()
        if example not in REFUSED | NEWER and silent(told.get("bool", "is ('raised'"))
    }
    assert differing <= floats
    assert differing, "tf.experimental.numpy has become equal: the refusal of truth values can go"


@pytest.mark.parametrize("example", sorted(REFUSED))
def test_no_entry_is_stale(example: str, results: dict[str, Any]) -> None:
    """The example of every refused function differs from NumPy."""
    assert results["functions"][example]


def test_tables_fit() -> None:
    """Every function has a rule, a known result, and its helper, which takes its parameters."""
    for name, function in table().functions.items():
        rule = rules.find(f"numpy.{name}")
        assert rule is not None, name
        assert rule.chapter != "removed", name
        assert function.result in RESULTS, name
        if function.helper:
            text = helpers_with([function.helper])[function.helper]
            parsed = ast.parse(text).body[0]
            assert isinstance(parsed, ast.FunctionDef)
            taken = [parameter.arg for parameter in (*parsed.args.args, *parsed.args.kwonlyargs)]
            wanted = [
                parameter
                for parameter in function.parameters
                if parameter != "_" and not parameter.startswith("*")
            ]
            assert set(wanted) <= set(taken) or function.only_with_arrays, name
    for helper in table().writes.values():
        assert helpers_with([helper])
    assert inspect.getdoc(helpers_with)
