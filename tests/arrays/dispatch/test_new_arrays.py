"""Where new arrays live, what mixing the two kinds gives, and what stays the caller's own object."""

from __future__ import annotations

import ctypes
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import np2tf
from np2tf import tnp
from np2tf.arrays.array.ndarray import ndarray, tensor_array
from np2tf.arrays.front.residency import device_kind, surroundings
from tests.helpers.differential import HEAD, load, translation

MAKERS: dict[str, Callable[[], Any]] = {
    "zeros": lambda: tnp.zeros(3),
    "ones": lambda: tnp.ones((2, 3)),
    "empty": lambda: tnp.empty(3),
    "full": lambda: tnp.full(3, 2.0),
    "array": lambda: tnp.array([1.0, 2.0]),
    "asarray": lambda: tnp.asarray([1.0, 2.0]),
    "arange": lambda: tnp.arange(3.0),
    "linspace": lambda: tnp.linspace(0, 1, 5),
    "eye": lambda: tnp.eye(3),
    "zeros_like": lambda: tnp.zeros_like(np.ones(3)),
    "copy": lambda: tnp.copy(np.ones(3)),
    "mgrid": lambda: tnp.mgrid[0:3],
    "random": lambda: tnp.random.default_rng(0).normal(size=3),
    "legacy random": lambda: tnp.random.rand(3),
    "RandomState": lambda: tnp.random.RandomState(0).rand(3),
    "fftfreq": lambda: tnp.fft.fftfreq(4),
}


@contextmanager
def _tape() -> Iterator[None]:
    with tf.GradientTape():
        yield


@contextmanager
def _accelerator() -> Iterator[None]:
    """A device scope as on a machine with an accelerator; if it has none, TensorFlow takes the CPU."""
    tf.config.set_soft_device_placement(True)
    kind = device_kind()
    surroundings.device_kind = "gpu"
    try:
        with tf.device("GPU:0"):
            yield
    finally:
        surroundings.device_kind = kind


TENSOR_MODES: dict[str, Callable[[], Any]] = {
    "eager": lambda: np2tf.config.using(eager="tensorflow"),
    "float32": lambda: np2tf.config.using(floats="float32"),
    "tape": _tape,
    "device": _accelerator,
}


@pytest.mark.parametrize("name", MAKERS)
def test_new_arrays_are_numpys(name: str) -> None:
    assert type(MAKERS[name]()) is np.ndarray
    with tf.device("CPU:0"):
        assert type(MAKERS[name]()) is np.ndarray


@pytest.mark.parametrize("mode", TENSOR_MODES)
@pytest.mark.parametrize("name", MAKERS)
def test_new_arrays_are_tensors(name: str, mode: str) -> None:
    expected = MAKERS[name]() if "random" not in name else None
    with TENSOR_MODES[mode]():
        made = MAKERS[name]()
        assert type(made) is tnp.ndarray
    if expected is not None and name != "empty":
        np.testing.assert_allclose(np.asarray(made), expected, rtol=1e-6)


@pytest.mark.parametrize("name", [name for name in MAKERS if "andom" not in name and name != "empty"])
def test_new_arrays_are_tensors_in_graphs(name: str) -> None:
    kinds = []

    @tf.function(autograph=False)
    def graph() -> Any:
        made = MAKERS[name]()
        kinds.append(type(made))
        return made.tensor

    np.testing.assert_allclose(graph().numpy(), MAKERS[name]())
    assert kinds == [tnp.ndarray]


def test_kind_in_kind_out() -> None:
    host, on_tensorflow = np.arange(3.0), np2tf.device_put(np.arange(3.0))
    with tf.GradientTape():
        assert type(tnp.sin(host)) is np.ndarray
        assert type(tnp.asarray(host)) is np.ndarray
        assert tnp.asarray(host) is host
    assert type(tnp.sin(on_tensorflow)) is tnp.ndarray
    for mixed in (
        host + on_tensorflow,
        on_tensorflow + host,
        np.add(host, on_tensorflow),
        tnp.add(on_tensorflow, host),
        host * on_tensorflow**2,
    ):
        assert type(mixed) is tnp.ndarray
    assert type(np.concatenate([host, on_tensorflow])) is tnp.ndarray
    assert (host == on_tensorflow).all()
    np.testing.assert_array_equal(np.asarray(host @ on_tensorflow), host @ host)


def test_tensors_into_host_arrays() -> None:
    host, on_tensorflow = np.zeros(3), np2tf.device_put(np.arange(3.0))
    host[0] = on_tensorflow[2]
    host[1:] = on_tensorflow[1:]
    assert host.tolist() == [2.0, 1.0, 2.0]
    alias = host
    host += on_tensorflow
    assert host is alias
    assert host.tolist() == [2.0, 2.0, 4.0]
    assert np.add(on_tensorflow, 1, out=host) is host
    assert tnp.multiply(on_tensorflow, 2, out=host) is host
    assert host.tolist() == [0.0, 2.0, 4.0]
    assert tnp.at(host)[0].set(on_tensorflow[1]) is host
    assert tnp.at(host)[on_tensorflow > 1].add(on_tensorflow[0] + 1) is host
    assert host.tolist() == [1.0, 2.0, 5.0]
    assert tnp.copyto(host, on_tensorflow) is host
    assert host.tolist() == [0.0, 1.0, 2.0]


WRITES: dict[str, Callable[[Any, Any], Any]] = {
    "at": lambda host, t: tnp.at(host)[0].set(t[0]),
    "at add": lambda host, t: tnp.at(host)[0].add(t[0]),
    "iadd": lambda host, t: host.__iadd__(t),
    "out": lambda host, t: tnp.add(t, 1, out=host),
    "copyto": lambda host, t: tnp.copyto(host, t),
    "ufunc.at": lambda host, t: tnp.add_at(host, [0], t[0]),
}


@pytest.mark.parametrize("name", WRITES)
def test_no_gradient_is_lost_in_a_host_array(name: str) -> None:
    host, on_tensorflow = np.zeros(3), np2tf.device_put(np.arange(3.0))
    with tf.GradientTape() as tape:
        WRITES[name](host, on_tensorflow)  # followed by no tape
        tape.watch(on_tensorflow)
        before = host.copy()
        with pytest.raises(np2tf.StagingError, match="gradient would be lost"):
            WRITES[name](host, on_tensorflow * 2)
        np.testing.assert_array_equal(host, before)


BUFFER = """
def powers(x, n):
    out = np.zeros((n, len(x)))
    total = np.ones_like(x)
    for i in range(n):
        total = total * x
        out[i] = total
        out[i, 0] += x[1] * i
    return out
"""


@pytest.mark.parametrize("jit", ["on", "off"])
def test_buffers_are_differentiated(jit: str) -> None:
    function = load(translation(HEAD + BUFFER))["powers"]
    plain = load(HEAD + BUFFER)["powers"]
    x, step = np.array([0.5, 1.5, 2.0]), 1e-6
    weights = np.random.default_rng(0).normal(size=(4, 3))
    with np2tf.config.using(jit=jit):
        given = np2tf.device_put(x)
        with tf.GradientTape() as tape:
            tape.watch(given)
            loss = (function(given, 4) * weights).sum()
        gradient = np.asarray(tape.gradient(loss, given))
    for k in range(3):
        moved = [plain(x + sign * step * np.eye(3)[k], 4) for sign in (1, -1)]
        finite = ((moved[0] - moved[1]) * weights).sum() / (2 * step)
        assert gradient[k] == pytest.approx(finite, rel=1e-6)


def test_device_put_and_get() -> None:
    host = np.arange(3.0)
    on_tensorflow = np2tf.device_put(host)
    host[0] = 9.0
    assert type(on_tensorflow) is tnp.ndarray
    assert on_tensorflow.tolist() == [0.0, 1.0, 2.0]
    back = np2tf.device_get({"a": [on_tensorflow, host], "b": (on_tensorflow, "text")})
    assert type(back["a"][0]) is np.ndarray
    assert back["a"][1] is host
    assert back["b"][1] == "text"
    assert "CPU:0" in np2tf.device_put(3, "CPU:0").tensor.device
    with pytest.raises(np2tf.StagingError, match="no dtype"):
        np2tf.device_put(np.array(["text"]))


# -- the boundary ------------------------------------------------------------------------------------------


SOURCE = """
class Quaternion(np.ndarray):
    def __new__(cls, values):
        values = np.asarray(values, dtype=float)
        made = np.ndarray.__new__(cls, values.shape, float, values)
        made.label = "made"
        return made

    def __array_finalize__(self, other):
        self.label = getattr(other, "label", "none")

    def doubled(self):
        return self * 2


def is_plain(x):
    kind = type(x)
    return kind is np.ndarray, kind == np.ndarray, isinstance(x, np.ndarray), issubclass(kind, np.ndarray)


def write(x):
    x[0] = 5.0
    return x


def make():
    return np.zeros((2, 3))[1:].T
"""


@pytest.fixture(scope="module")
def module() -> dict[str, Any]:
    return load(translation(HEAD + SOURCE))


def test_subclasses_are_numpys(module: dict[str, Any]) -> None:
    q = module["Quaternion"]([1.0, 2.0])
    assert isinstance(q, np.ndarray)
    assert module["Quaternion"].__mro__[1] is np.ndarray
    assert (q.label, q[1:].label, q.doubled().label) == ("made", "made", "made")
    assert type(q.doubled()) is module["Quaternion"]


def test_types_are_asked_for(module: dict[str, Any]) -> None:
    assert module["is_plain"](np.ones(2)) == (True, True, True, True)
    assert module["is_plain"](module["make"]()) == (True, True, True, True)
    assert module["is_plain"](module["Quaternion"]([1.0])) == (False, False, True, True)


@pytest.mark.parametrize("tier", ["auto", "compile"])
def test_callers_get_their_own_objects_back(module: dict[str, Any], tier: str) -> None:
    x = np.zeros(3)
    with np2tf.config.using(tier=tier):
        assert module["write"](x) is x
        assert x[0] == 5.0
        made = module["make"]()
    assert type(made) is np.ndarray
    assert made.flags.writeable


def test_nothing_of_ours_is_in_the_way(module: dict[str, Any]) -> None:
    made = module["make"]()
    assert made.base is not None
    assert memoryview(made.T.copy()).shape == (1, 3)
    assert bytes(made.T.copy()) == bytes(24)
    made.flags.writeable = False
    made.flags.writeable = True
    assert np.may_share_memory(made, made.base)
    assert type(pickle.loads(pickle.dumps(made))) is np.ndarray
    assert ctypes.c_double.from_address(made.ctypes.data).value == 0.0
    records = np.zeros(3, [("a", float), ("b", int)])
    assert tnp.asarray(records) is records
    assert records["a"].base is records


OVER_MEMORY = """
import numpy as np

class Vector(np.ndarray):
    def __new__(cls, values):
        values = np.asarray(values, float)
        made = super().__new__(cls, values.shape, float, values)
        made.values = values
        return made
"""


@pytest.mark.parametrize("eager", ["auto", "tensorflow"])
def test_an_array_over_the_memory_of_another(eager: str) -> None:
    """A write to either array is seen in the other array, or the array over the memory is refused."""
    vector = load(translation(OVER_MEMORY))["Vector"]
    with np2tf.config.using(eager=eager):
        made = vector([1.0, 2.0, 3.0])
        made.values[1] = 7.0
        assert made[1] == 7.0
        given = tnp.ones(3)
        if eager == "auto":
            vector(given)[0] = 5.0
            assert given[0] == 5.0
        else:
            with pytest.raises(TypeError, match="no memory that another array could share"):
                vector(given)
            whole = tnp.array([given, given])
            part = whole[0]
            del given
            with pytest.raises(TypeError, match="no memory that another array could share"):
                vector(part)


def test_an_array_over_a_buffer_is_over_the_buffer() -> None:
    memory = bytearray(8)
    with np2tf.config.using(eager="tensorflow"):
        array = tnp.ndarray(8, np.uint8, memory)
        memory[3] = 7
        array[4] = 9
    assert array[3] == 7
    assert memory[4] == 9


@pytest.mark.parametrize("shape", [True, (True, 2)])
def test_a_truth_value_is_no_length(shape: Any) -> None:
    with np2tf.config.using(eager="tensorflow"):
        for make in (tnp.zeros, tnp.empty, lambda shape: tnp.full(shape, 1.0)):
            with pytest.raises(TypeError):
                make(shape)


def test_views_of_an_array_without_axes() -> None:
    x = np2tf.device_put(0.0)
    view, row = x[...], x[None]
    view[...] = 5.0
    assert x[()] == row[0] == 5.0
    row[0] = 7.0
    assert x[()] == view[()] == 7.0


#: views that NumPy makes of x (one axis) or m (two, square); a write through a view reaches the array
VIEWS_OF_HOST_ARRAYS = (
    "np.transpose(m)", "np.flip(x)", "np.ravel(x)", "np.reshape(x, (3, 1))", "np.squeeze(x)", "np.real(x)",
    "x.view()", "np.split(x, [1])[0]", "np.diagonal(m)", "np.linalg.diagonal(m)", "np.trim_zeros(x)",
    "np.broadcast_to(x, (2, 3))", "np.einsum('i->i', x)", "np.einsum('ij->ji', m)", "np.einsum('ii->i', m)",
    "np.einsum(m, [0, 1], [1, 0])", "m.T[1:]", "np.astype(x, x.dtype)",
)  # fmt: skip


@pytest.mark.parametrize("text", VIEWS_OF_HOST_ARRAYS)
def test_views_of_arrays_on_the_host_stay_there(text: str) -> None:
    def written(library: Any) -> tuple[str | None, list[Any]]:
        arrays = {"x": np.array([6.0, 1.0, 2.0]), "m": np.arange(9.0).reshape(3, 3)}
        try:
            eval(text, {"np": library, **arrays})[...] = -7
        except ValueError as error:
            return type(error).__name__, [a.tolist() for a in arrays.values()]
        return None, [a.tolist() for a in arrays.values()]

    with np2tf.config.using(eager="tensorflow"):
        assert written(tnp) == written(np)


@pytest.mark.parametrize(
    "text",
    ["np.astype(x, x.dtype, copy=False)", "np.astype(x, np.float32, copy=False)", "np.astype(x, float)"],
)
def test_astype_copies_if_it_has_to(text: str) -> None:
    def result(library: Any, x: Any) -> tuple[str, list[float], list[float]]:
        made = eval(text, {"np": library, "x": x})
        made[0] = -7
        return str(made.dtype), made.tolist(), x.tolist()

    assert result(tnp, tensor_array(tf.constant([1.0, 2.0], tf.float64))) == result(np, np.array([1.0, 2.0]))


def test_covariance_of_one_variable_is_an_array() -> None:
    made = tnp.cov(tensor_array(tf.constant([1.0, 2.0])))
    assert type(made) is ndarray
    assert made.shape == np.cov([1.0, 2.0]).shape


@pytest.mark.parametrize(
    "text",
    [
        *("np.squeeze(s)", "np.transpose(s)", "np.reshape(s, ())", "np.moveaxis(s, [], [])", "s.squeeze()"),
        *("s.transpose()", "s.reshape(())", "np.ravel(s)", "np.broadcast_to(s, ())", "np.expand_dims(s, 0)"),
        *("np.squeeze(x)", "np.reshape(x, ())", "x.squeeze()", "x.reshape(())"),
    ],
)
def test_views_of_numbers_are_numbers_where_they_are_in_numpy(text: str) -> None:
    tnp_names = {"np": tnp, "x": tensor_array(tf.constant([1.5]))}
    numpys = {"np": np, "x": np.array([1.5])}
    made, wanted = [eval(text, {**names, "s": names["x"].sum()}) for names in (tnp_names, numpys)]
    assert (type(made) is ndarray) == (type(wanted) is np.ndarray)
    assert made.shape == wanted.shape
