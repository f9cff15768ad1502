"""Parts of NumPy that np2tf does not have: each name that stays on NumPy is told once, by all imports."""

from __future__ import annotations

import pytest

from np2tf.translator.pipeline import convert

#: Modules of NumPy that compute, each with a name in it.
COMPUTING = [
    ("ma", "array"),
    ("ma", "masked_where"),
    ("emath", "sqrt"),
    ("char", "upper"),
    ("strings", "upper"),
    ("rec", "array"),
    ("ctypeslib", "as_array"),
    ("core", "multiarray"),
    ("polynomial", "Polynomial"),
    ("polynomial.polynomial", "polyfit"),
    ("polynomial.chebyshev", "chebval"),
    ("polynomial.hermite", "hermval"),
    ("polynomial.hermite_e", "hermeval"),
    ("polynomial.laguerre", "lagval"),
    ("polynomial.legendre", "legval"),
    ("lib.stride_tricks", "as_strided"),
    ("lib.scimath", "sqrt"),
    ("lib.format", "read_array"),
    ("lib.npyio", "NpzFile"),
    ("lib.array_utils", "byte_bounds"),
    ("lib", "Arrayterator"),
]
#: Names that compute nothing, and names whose computing runs on TensorFlow.
SILENT = [
    ("testing", "assert_allclose"),
    ("typing", "NDArray"),
    ("exceptions", "AxisError"),
    ("dtypes", "Float64DType"),
    ("f2py", "compile"),
    ("lib", "NumpyVersion"),
    ("lib.mixins", "NDArrayOperatorsMixin"),
    ("lib.introspect", "opt_func_info"),
    ("lib.stride_tricks", "sliding_window_view"),
    ("polynomial.polynomial", "polyval"),
]
FORMS = {
    "attribute": ("import numpy as np", "np.{module}.{name}"),
    "submodule": ("import numpy.{module}", "numpy.{module}.{name}"),
    "alias": ("import numpy.{module} as m", "m.{name}"),
    "from numpy": ("from numpy{parent} import {last}", "{last}.{name}"),
    "from module": ("from numpy.{module} import {name}", "{name}"),
    "renamed": ("from numpy.{module} import {name} as other", "other"),
}


def told(text: str) -> list[tuple[str, int, str]]:
    """The findings of a program."""
    return [(found.code, found.line, dict(found.args).get("name", "")) for found in convert(text).diagnostics]


def program(form: str, module: str, name: str) -> tuple[str, str]:
    """A program that uses a name three times, and how it spells the name."""
    head, use = FORMS[form]
    parent, _, last = f".{module}".rpartition(".")
    words = {"module": module, "name": name, "parent": parent, "last": last}
    spelled = use.format(**words)
    return f"{head.format(**words)}\n\nx = {spelled}(1)\ny = {spelled}\nprint({spelled})\n", spelled


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("module", "name"), COMPUTING)
def test_a_name_that_computes_is_told_once(module: str, name: str, form: str) -> None:
    text, spelled = program(form, module, name)
    assert told(text) == [("NP2TF009", 3, spelled)]
    (finding,) = convert(text).diagnostics
    assert finding.severity == "note"
    assert finding.message.startswith(f"`{spelled}` stays on NumPy: ")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("module", "name"), SILENT)
def test_a_name_that_computes_nothing_is_not_told(module: str, name: str, form: str) -> None:
    assert told(program(form, module, name)[0]) == []


def test_several_names_of_a_part() -> None:
    """Each name is told where it is used first; a class stands for its methods; a comment hides one name."""
    text = (
        "import numpy as np\n"
        "a = np.ma.array([1])\n"
        "b = np.ma.masked_where(a > 1, a), np.ma.array([2])\n"
        "p = np.polynomial.Polynomial.fit([1], [1], 1), np.polynomial.Polynomial([1])\n"
        "c = np.emath.sqrt(-1)  # np2tf: ignore[NP2TF009]\n"
        "c = np.emath.sqrt(-1)\n"
        "d = np.lib.recfunctions.append_fields(a)\n"
        "e = np.ma.array([np.sin(1)])\n"
    )
    assert told(text) == [
        ("NP2TF009", 2, "np.ma.array"),
        ("NP2TF009", 3, "np.ma.masked_where"),
        ("NP2TF009", 4, "np.polynomial.Polynomial"),
        ("NP2TF009", 7, "np.lib.recfunctions"),
    ]


def test_star_imports() -> None:
    assert told("from numpy.ma import *\n\nx = array([1])\n") == [("NP2TF009", 1, "numpy.ma.*")]
    assert told("from numpy.testing import *\n") == []
