"""The array itself: views that share memory, writes in place, where it lives, and Python's protocols."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from hypothesis import given, settings
from hypothesis import strategies as st

import np2tf
from np2tf import tnp
from np2tf.arrays.array.ndarray import is_array, tensor_array, weak_scalar
from np2tf.arrays.operands.conversion import to_numpy
from np2tf.arrays.tensors.storage import staging_scope
from np2tf.core.errors import StagingError
from np2tf.staging.trace.trace import Trace
from tests.arrays.functions.test_ops_arrays import difference, value_difference
from tests.helpers import array_expressions as table
from tests.helpers import array_writes


def execute(statement: str, namespace: Any, array: Any) -> Exception | None:
    """Run a statement about the array `a`; the exception that it raised."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(statement, {"a": array, "np": namespace})
        except Exception as error:
            return error
    return None


def wanted_after(statement: str) -> tuple[np.ndarray, Exception | None]:
    array = table.ARRAYS["A"].copy()
    error = execute(statement, np, array)
    return array, error


def _compare(statement: str, array: Any, error: Exception | None) -> str:
    wanted, raised = wanted_after(statement)
    if raised is not None or error is not None:
        return difference(raised, error)
    return value_difference(wanted, to_numpy(array))


@pytest.mark.parametrize("mode", ["auto", "tensorflow"])
def test_writes_eagerly(mode: str) -> None:
    """A write through whatever view reaches the base where NumPy's does, and only there."""
    wrong = {}
    with np2tf.config.using(eager=mode):
        for statement in array_writes.WRITES:
            source = table.ARRAYS["A"]
            array = tnp.array(source) if mode == "auto" else tensor_array(tf.constant(source))
            error = execute(statement, tnp, array)
            found = _compare(statement, array, error)
            if found:
                wrong[statement] = found
    assert not wrong


@pytest.mark.parametrize("xla", [False, True], ids=["graph", "xla"])
def test_writes_staged(xla: bool) -> None:
    errors: dict[str, Exception | None] = {}

    @tf.function(jit_compile=xla, autograph=False)
    def together(tensor: tf.Tensor) -> dict[str, tf.Tensor]:
        written = {}
        for statement in array_writes.WRITES:
            with staging_scope(Trace(xla)):
                array = tensor_array(tensor)
                errors[statement] = execute(statement, tnp, array)
                if errors[statement] is None and wanted_after(statement)[1] is None:
                    written[statement] = array.tensor
        return written

    arrays = together(tf.constant(table.ARRAYS["A"]))
    refused = {statement for statement, error in errors.items() if isinstance(error, StagingError)}
    wrong = {}
    for statement, error in errors.items():
        if statement not in refused:
            found = _compare(statement, arrays.get(statement), error)
            if found:
                wrong[statement] = found
    assert not wrong
    assert refused == {*array_writes.WRITES_REFUSED, *(array_writes.WRITES_REFUSED_UNDER_XLA if xla else ())}


def test_functions_that_write_return_what_they_wrote_to() -> None:
    for array in (tnp.zeros((3, 3)), tensor_array(tf.zeros((3, 3))), np.zeros((3, 3))):
        assert tnp.fill_diagonal(array, 1) is array
        assert tnp.put(array, [1], 5) is array
        assert tnp.add_at(array, ([0, 0], [0, 0]), 1) is array
        assert np.asarray(to_numpy(array))[0].tolist() == [3, 5, 0]
    replaced = tnp.fill_diagonal(tf.zeros((2, 2)), 1)
    assert isinstance(replaced, tf.Tensor)
    assert replaced.numpy().tolist() == [[1, 0], [0, 1]]


# -- where arrays live -----------------------------------------------------------------------------


def test_host_views_share_memory() -> None:
    buffer = np.arange(6.0).reshape(2, 3)
    array = tnp.asarray(buffer)
    assert array is buffer
    for view in (
        array.T,
        array[1:],
        array.reshape(3, 2),
        array.ravel(),
        tnp.moveaxis(array, 0, 1),
        array.real,
    ):
        assert type(view) is np.ndarray
        assert np.shares_memory(view, buffer)
    array.T[0] = 9
    assert buffer[:, 0].tolist() == [9, 9]
    assert not np.shares_memory(array.copy(), buffer)
    assert not np.shares_memory(tnp.array(array), buffer)


def test_residence_follows_the_operands() -> None:
    host, tensor = tnp.arange(3.0), tensor_array(tf.constant([1.0, 2.0, 3.0], tf.float64))
    assert type(tnp.concatenate([host, host])) is np.ndarray
    assert is_array(tnp.concatenate([host, tensor]))
    assert is_array(tnp.sort(tensor))
    with np2tf.config.using(eager="tensorflow"):
        assert is_array(tnp.zeros(3))
        assert is_array(tnp.array([1, 2]))


def test_known_arrays_stay_known_while_staging() -> None:
    @tf.function(autograph=False)
    def staged() -> tf.Tensor:
        with staging_scope(Trace(xla=False)):
            for made in (
                tnp.arange(4),
                tnp.zeros((2, 2)),
                tnp.eye(3),
                tnp.array([[1, 2]]),
                tnp.linspace(0, 1, 5),
            ):
                assert tf.get_static_value(made.tensor) is not None
            return tnp.arange(4).tensor

    assert staged().numpy().tolist() == [0, 1, 2, 3]


def test_creation_with_lengths_known_at_run_time() -> None:
    @tf.function(autograph=False)
    def staged(n: tf.Tensor) -> tuple[tf.Tensor, ...]:
        count = weak_scalar(n, int)
        return tnp.zeros((count, 2)).tensor, tnp.arange(count).tensor, tnp.arange(count, dtype=float).tensor

    zeros, counted, floats = staged(tf.constant(3, tf.int64))
    assert zeros.shape == (3, 2)
    assert counted.numpy().tolist() == [0, 1, 2]
    assert floats.dtype == tf.float64


def test_gradients_flow() -> None:
    x = tf.constant([3.0, 1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        array = tensor_array(x)
        y = tnp.zeros(3, dtype="float32") + tnp.sort(array) * tnp.arange(3, dtype="float32")
        total = tnp.concatenate([y, array.reshape(1, 3)[0][::-1]]).tensor
    assert tape.gradient(total, x).numpy().tolist() == [3.0, 1.0, 2.0]


# -- protocols -------------------------------------------------------------------------------------


def test_protocols() -> None:
    array = np2tf.device_put([[1.0, 2.0], [3.0, 4.0]])
    for twin in (pickle.loads(pickle.dumps(array)), copy.copy(array), copy.deepcopy(array)):
        assert is_array(twin)
        twin[0, 0] = 9
    assert to_numpy(array)[0, 0] == 1
    assert np.asarray(array).tolist() == array.tolist() == [[1, 2], [3, 4]]
    assert np.sort(array, axis=None).tolist() == [1, 2, 3, 4]
    assert is_array(np.concatenate([array, array]))
    assert is_array(np.reshape(array, -1))
    assert tf.convert_to_tensor(array).shape == (2, 2)
    assert [row.tolist() for row in array] == [[1, 2], [3, 4]]
    assert 3.0 in array
    assert len(array) == 2
    assert float(array[0, 0]) == 1.0
    assert isinstance(array, tnp.ndarray)
    assert isinstance(np.zeros(1), tnp.ndarray)
    assert not isinstance(array[0, 0], tnp.ndarray) or array[0, 0].ndim
    assert repr(array) == repr(np.array([[1.0, 2.0], [3.0, 4.0]]))
    with pytest.raises(TypeError):
        hash(array)
    with pytest.raises(AttributeError):
        _ = array.no_such_attribute
    with pytest.raises(ValueError, match="ambiguous"):
        bool(array)


def test_pickles_of_older_versions() -> None:
    """A pickle names a function by a path that programs write; the path of older versions is there, too."""
    array = np2tf.device_put(np.arange(3.0))
    text = pickle.dumps(array, protocol=0)
    assert b"cnp2tf\ndevice_put\n" in text
    old = text.replace(b"cnp2tf\ndevice_put\n", b"cnp2tf.tnp._dispatch.devices\ndevice_put\n")
    assert [x.tolist() for x in map(pickle.loads, (text, old))] == [[0.0, 1.0, 2.0]] * 2


def test_every_public_attribute_resolves() -> None:
    """Arrays of either residence have every public attribute of np.ndarray."""
    for array in (tnp.ones((2, 2)), tensor_array(tf.ones((2, 2), tf.float64))):
        missing = []
        for name in dir(np.ndarray):
            # Some that older versions list are only there to say that they are gone.
            there = not name.startswith("_") and hasattr(np.ones((2, 2)), name)
            if there and name not in ("ctypes", "data"):
                try:
                    getattr(array, name)
                except AttributeError:
                    missing.append(name)
        assert not missing


# -- random programs -------------------------------------------------------------------------------

_VIEWS = (
    "x.T",
    "x[::-1]",
    "x[1:]",
    "x[..., ::2]",
    "x[None]",
    "x[0]",
    "x[-1:]",
    "x.reshape(-1)",
    "x.ravel()",
    "x.swapaxes(0, -1)",
    "np.flip(x)",
    "np.expand_dims(x, -1)",
    "np.squeeze(x)",
    "np.atleast_2d(x)",
    "np.moveaxis(x, 0, -1)",
    "x[[0]]",
    "x[x > 5]",
    "x.copy()",
    "x.flatten()",
    "np.array_split(x, 2)[0]",
    "x.view()",
    "x.reshape(2, -1)",
    "x.T.reshape(-1)",
)
_STEPS = (
    "x[...] = 7",
    "x[0] = -1",
    "x += 1",
    "x *= 2",
    "x[x > 5] = 0",
    "x[x < 3] += 10",
    "x[[0, 0]] += 1",
    "x[-1] = x[0]",
    "x.flat[0] = 4",
    "x.fill(3)",
    "x.sort()",
    "np.put(x, [0, -1], [5, 6])",
    "np.copyto(x, x[::-1].copy())",
    "np.add.at(x, [0, 0], 2)",
    "np.putmask(x, x > 2, x * 3)",
    "x[::2] = x[:1]",
)


def _run(program: list[tuple[int, str]], namespace: Any, base: Any) -> list[Any]:
    """Each entry views, or writes into, one of the arrays made so far; what all of them hold at the end."""
    held = [base]
    outcome: list[Any] = []
    for place, text in program:
        chosen = {"x": held[place % len(held)], "np": namespace}
        try:
            if text in _VIEWS:
                made = eval(text, chosen)
                # Numbers are immutable; their in-place methods work on copies, in NumPy too.
                held.extend([made] if np.ndim(to_numpy(made)) else [])
            else:
                exec(text, chosen)
        except Exception as error:
            outcome.append(
                next(
                    kind for kind in (IndexError, ValueError, TypeError, Exception) if isinstance(error, kind)
                )
            )
    return outcome + [np.asarray(to_numpy(array)).tolist() for array in held]


@settings(max_examples=120, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 9), st.sampled_from(_VIEWS + _STEPS)), min_size=1, max_size=10),
    st.sampled_from([(6,), (3, 4), (2, 3, 2)]),
)
def test_programs_of_views_and_writes(program: list[tuple[int, str]], shape: tuple[int, ...]) -> None:
    source = np.arange(float(np.prod(shape))).reshape(shape)
    wanted = _run(program, np, source.copy())
    assert _run(program, tnp, tnp.array(source)) == wanted
    with np2tf.config.using(eager="tensorflow"):
        assert _run(program, tnp, tensor_array(tf.constant(source))) == wanted


@pytest.mark.parametrize(
    ("shape", "key", "values"),
    [
        ((3,), ..., [6, -4, 3]),
        ((3,), slice(0, 3), [6, 300, 3]),
        ((2, 3), 0, [6, -4, 3]),
        ((2, 3), ..., [[6, -4, 3]] * 2),
        ((1, 3), ..., [6, -4, 3]),
        ((3,), [0, 1, 2], [6, -4, 3]),
    ],
)
def test_of_a_list_that_does_not_fit_what_stands_before_is_written(shape, key, values):
    np2tf_array, numpys = tensor_array(tf.zeros(shape, tf.uint8)), np.zeros(shape, np.uint8)
    for array in (np2tf_array, numpys):
        with pytest.raises(OverflowError):
            array[key] = values
    np.testing.assert_array_equal(np.asarray(np2tf_array), numpys)
