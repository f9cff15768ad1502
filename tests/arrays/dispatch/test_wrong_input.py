"""Wrong keywords of methods, and arguments that do not fit: the class of the error is NumPy's."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import np2tf
from np2tf import tnp
from np2tf.arrays.array.ndarray import tensor_array
from np2tf.arrays.front.numpy_state import NUMPY
from np2tf.arrays.tensors.storage import staging_scope
from np2tf.staging.trace.trace import Trace
from tests.arrays.functions.test_ops_arrays import difference, evaluate
from tests.helpers import wrong_expressions

GROUPS = (
    *("JOINING", "SHAPING", "PRODUCTS", "LINALG", "PICKING", "ORDERING"),
    *("REDUCING", "POLYNOMIALS", "FFT", "UFUNCS"),
)
METHODS = sorted(
    name for name in dir(np.ndarray) if not name.startswith("_") and callable(getattr(np.ndarray, name))
)
#: method -> the arguments that its call needs; all other methods need no argument
NEEDED: dict[str, tuple[Any, ...]] = {
    "argpartition": (1,),
    "astype": (float,),
    "choose": ([[1.0, 2.0]] * 4,),
    "compress": ([True, False],),
    "dot": (np.eye(2),),
    "dump": ("/nowhere/at/all",),
    "getfield": ("f8",),
    "item": (0,),
    "partition": (1,),
    "put": (0, 1.0),
    "repeat": (2,),
    "reshape": (4,),
    "resize": ((2, 2),),
    "searchsorted": (1.0,),
    "setfield": (1.0, "f8"),
    "swapaxes": (0, 1),
    "take": ([0],),
    "to_device": ("cpu",),
    "tofile": ("/nowhere/at/all",),
}
#: Parameters that None is nothing for.
VALUES: dict[str, Any] = {"keepdims": False, "where": True, "mode": "raise", "subok": True, "refcheck": True}
#: Methods that are called with an array of one axis; all other methods are called with a matrix.
VECTORS = frozenset({"searchsorted", "choose"})


def _parameters() -> list[str]:
    """The names of the parameters of all methods, and of the functions that have the methods' names."""
    found = {"a_min", "a_max", "min", "max", "correction", "stable", "nonsense", "self", "x", "where", "mean"}
    for name in METHODS:
        for function in (getattr(np, name, None), getattr(np.ndarray, name)):
            try:
                found |= set(inspect.signature(function).parameters)  # type: ignore[arg-type]
            except (TypeError, ValueError):  # no signature: before NumPy 2.4 most methods have none
                continue
    return sorted(found)


def _called(array: Any, name: str, *args: Any, **kwargs: Any) -> type[Exception] | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            getattr(array, name)(*args, **kwargs)
        except Exception as error:
            return type(error)
    return None


@pytest.mark.parametrize("name", METHODS)
def test_methods_take_the_keywords_of_numpys(name: str) -> None:
    source = np.array([0.0, 1.0, 2.0, 3.0])
    source = source.astype(int) if name == "choose" else source
    source = source if name in VECTORS else source.reshape(2, 2)
    wrong = {}
    with np2tf.config.using(eager="tensorflow"):
        for parameter in _parameters():
            given = {parameter: VALUES.get(parameter)}
            wanted = _called(source.copy(), name, *NEEDED.get(name, ()), **given)
            found = _called(tnp.asarray(source), name, *NEEDED.get(name, ()), **given)
            if found is not wanted:
                wrong[parameter] = f"{found} and not {wanted}"
    assert not wrong


# -- what does not fit -----------------------------------------------------------------------------


#: Values that are no arrays.
OTHERS = (str, bytes, np.dtype, type(np.array(0).flags))
#: Expression without NumPy's answer -> why. Take out an expression that has NumPy's answer.
LIMITS: dict[str, str] = {
    **dict.fromkeys(
        (
            "np.dot(V, V, out=np.zeros(()))",
            *(
                (
                    "np.fft.hfft(V, out=np.zeros(3))",
                    "np.fft.ifft2(A, out=np.zeros((3, 4)))",
                    "np.fft.irfft2(A, out=np.zeros((3, 4)))",
                )
                if NUMPY < (2, 5)  # which refuses such outputs
                else ()
            ),
        ),
        "What is returned is the output, with which translated code goes on; NumPy returns something else.",
    )
}


def _difference(found: Any, wanted: Any) -> str:
    if isinstance(wanted, Exception) and isinstance(found, Exception):
        has_same_type = type(found) is type(wanted)
        return "" if has_same_type else f"{type(found).__name__} and not {type(wanted).__name__}"
    if isinstance(wanted, Exception) or isinstance(found, Exception):
        return f"{found!r} and not {wanted!r}"
    if wanted is None:
        # An expression that writes to an array returns None on NumPy, and the array here.
        return ""
    return "" if isinstance(wanted, OTHERS) and repr(found) == repr(wanted) else difference(wanted, found)


@pytest.mark.parametrize("group", GROUPS)
def test_errors_are_numpys(group: str) -> None:
    """The class of the error; and the value, where there is none."""
    wrong = {}
    with np2tf.config.using(eager="tensorflow"):
        for expression in getattr(wrong_expressions, group):
            found, wanted = (
                evaluate(expression, module, wrong_expressions.arrays(module)) for module in (tnp, np)
            )
            differs = _difference(found, wanted)
            if differs:
                wrong[expression] = differs
    limits = {expression for expression in getattr(wrong_expressions, group) if expression in LIMITS}
    assert {expression: text for expression, text in wrong.items() if expression not in LIMITS} == {}
    assert limits <= wrong.keys()


def test_no_error_of_tensorflow_while_staging() -> None:
    """Wrong input is found while staging, or refused, or left to the run; TensorFlow raises no error."""
    sources = wrong_expressions.arrays(np)
    errors = {}

    @tf.function(autograph=False)
    def together(tensors: dict[str, tf.Tensor]) -> int:
        for expression in wrong_expressions.EXPRESSIONS:
            with staging_scope(Trace(xla=False)):
                arrays = {name: tensor_array(tensor) for name, tensor in tensors.items()}
                errors[expression] = evaluate(expression, tnp, arrays)
        return 0

    together.get_concrete_function({k: tf.TensorSpec(v.shape, v.dtype) for k, v in sources.items()})
    assert {e: error for e, error in errors.items() if isinstance(error, tf.errors.OpError)} == {}
