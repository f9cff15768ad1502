"""The caller sees every write of a jitted function: to arguments, globals, closures and shared memory."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

import np2tf
from np2tf import tnp
from np2tf.arrays.array.ndarray import is_array
from tests.helpers.differential import HEAD, compare, load, translation

#: name -> (arguments, whether the function must run compiled)
TARGETS = {
    "float64": ("np.arange(12.)", "compiled"),
    "float32": ("np.arange(12, dtype=np.float32)", "compiled"),
    "int32": ("np.arange(12, dtype=np.int32)", "compiled"),
    "int8": ("np.arange(12, dtype=np.int8)", "compiled"),
    "uint16": ("np.arange(12, dtype=np.uint16)", "compiled"),
    "complex64": ("np.arange(12, dtype=np.complex64)", "compiled"),
    "every second": ("np.arange(24.)[::2]", "compiled"),
    "backwards": ("np.arange(12.)[::-1]", "compiled"),
    "a column": ("np.arange(36.).reshape(12, 3)[:, 1]", "compiled"),
    "a field of a matrix": ("np.arange(144.).reshape(12, 12)[2:10, 3:7].reshape(-1)[:12]", "compiled"),
    "Fortran order": ("np.asfortranarray(np.arange(36.).reshape(12, 3))", "compiled"),
    "transposed": ("np.arange(36.).reshape(3, 12).T", "compiled"),
    "array of np2tf": ("tnp.arange(12.)", "compiled"),
    "view of an array of np2tf": ("tnp.arange(24.)[::2]", "compiled"),
    "empty rows": ("np.zeros((12, 0))", "compiled"),
}
WRITER = "def f(x):\n    for i in range(1, len(x)):\n        x[i] = x[i - 1] + x[i]\n    return x[0]\n"


@pytest.mark.parametrize("case", TARGETS)
def test_written_argument(case: str) -> None:
    """The caller sees what was written, whatever the memory looks like."""
    call, ran = TARGETS[case]
    compare(HEAD + WRITER, call, ran=ran)


def test_base_of_a_view():
    """Only the elements of the view change in its base."""
    function = load(translation(HEAD + WRITER))["f"]
    base, expected = np.arange(24.0).reshape(4, 6), np.arange(24.0).reshape(4, 6)
    load(HEAD + WRITER)["f"](expected[1:, ::2])
    with np2tf.config.using(tier="compile", jit="strict"):
        function(base[1:, ::2])
    np.testing.assert_array_equal(base, expected)


def test_bool():
    compare(
        HEAD + "def f(x):\n    for i in range(1, len(x)):\n        x[i] = not x[i - 1]\n    return x[0]\n",
        "np.zeros(12, bool)",
    )


PROGRAMS = {
    "the same array twice": (
        "def f(x, y):\n    for i in range(len(x)):\n        x[i] += 1\n        y[i] *= 2\n    return x + y\n",
        ["*[np.arange(12.)] * 2"],
    ),
    "overlapping views": (
        "def f(x, y):\n    for i in range(len(x)):\n        x[i] += 1\n        y[i] *= 2\n    return x + y\n",
        ["*(lambda a: (a[:-2], a[2:]))(np.arange(14.))", "*(lambda a: (a[::2], a[1::2]))(np.arange(24.))"],
    ),
    "view and base": (
        "def f(x, row):\n"
        "    for i in range(len(row)):\n"
        "        row[i] += x[0, 0]\n"
        "        x[0, 0] += 1\n"
        "    return row\n",
        ["*(lambda a: (a, a[0]))(np.arange(24.).reshape(2, 12))"],
    ),
    "overlap inside a list": (
        "def f(xs, y):\n"
        "    for i in range(12):\n"
        "        xs[0][i] += y[i]\n"
        "        xs[1] += 1\n"
        "    return y\n",
        ["*(lambda a: ([a, a[::-1]], a))(np.arange(12.))"],
    ),
    "argument returned": ("def f(x):\n    x[1:] += x[:-1]\n    x *= 2\n    return x\n", ["np.arange(12.)"]),
    "argument returned unwritten": (
        "def f(x, y):\n    z = x @ y\n    return x, z\n",
        ["np.eye(2), np.ones(2)"],
    ),
    "view of an argument returned": (
        "def f(x):\n    x[1:] += x[:-1]\n    return x[1:, ::2], x.T, x.reshape(-1), x[0, 1:]\n",
        ["np.arange(12.).reshape(3, 4)"],
    ),
    "the same new array twice": (
        "def f(x):\n    y = x * 2 + 1\n    return y, [y, {'y': y}]\n",
        ["np.arange(12.)"],
    ),
    "a new array and its view": (
        "def f(x):\n    y = x * 2 + 1\n    return y, y[1:], y[::2]\n",
        ["np.arange(12.)"],
    ),
    "views alone": ("def f(x):\n    y = x * 2 + 1\n    return y[1:], y[:-1]\n", ["np.arange(12.)"]),
    "diagonal and broadcast views": (
        "def f(x):\n    return np.diagonal(x), np.broadcast_to(x[0], (2, 3)), x.real, x[None]\n",
        ["np.arange(9.).reshape(3, 3)"],
    ),
    "nothing returned": ("def f(x):\n    x[:] = np.sin(x) + np.cos(x)\n", ["np.arange(12.)"]),
    "written then error": (
        "def f(x, k):\n    for i in range(len(x)):\n        x[i] = -1\n        x[k[i]] += 1\n    return x\n",
        ["np.arange(12.), np.arange(1, 13)"],
    ),
    "shape mismatch after a write": (
        "def f(x, y):\n    x[0] = 7\n    x += y @ y\n    return x\n",
        ["np.arange(3.), np.ones((2, 3))"],
    ),
    "0-d array": ("def f(x):\n    x += 1\n    x[...] = x * 2\n    return x\n", ["np.array(3.)"]),
    "casting error": ("def f(x):\n    x[0] = 5\n    x += 0.5\n    return x\n", ["np.arange(3)"]),
    "read only": (
        "def f(x):\n    x[0] = 5\n    return x * 2 + np.sin(x)\n",
        ["np.broadcast_to(np.ones(3), (3,))"],
    ),
}


@pytest.mark.parametrize("case", PROGRAMS)
def test_program(case: str) -> None:
    source, calls = PROGRAMS[case]
    compare(HEAD + source, *calls, ran=None, messages=case != "shape mismatch after a write")


def jitted(text: str) -> dict:
    """A module's text, executed with np2tf at hand."""
    return load(f"import numpy as np\nimport np2tf\nfrom np2tf import tnp\n\n{text}")


@pytest.fixture
def strict():
    with np2tf.config.using(tier="compile", jit="strict"):
        yield


GLOBAL = "TABLE = {}.arange(3.0)\n\n@np2tf.jit\ndef f(x):\n    TABLE[0] += x[0]\n    return TABLE * 2 + x\n"


@pytest.mark.parametrize(("module", "mode"), [("np", "on"), ("tnp", "strict")])
@pytest.mark.filterwarnings("ignore::np2tf.staging.host.jit.UnjittedWarning")
def test_global_array(strict, module: str, mode: str):
    """An array of NumPy's own cannot be watched while tracing: then the function runs unjitted."""
    space = jitted(GLOBAL.format(module))
    with np2tf.config.using(jit=mode):
        for n in range(1, 4):
            found = space["f"](tnp.ones(3))
            np.testing.assert_array_equal(np.asarray(space["TABLE"]), [n, 1, 2])
            np.testing.assert_array_equal(np.asarray(found), [2 * n + 1, 3, 5])
        space["TABLE"][1] = 50
        assert np.asarray(space["f"](tnp.ones(3)))[1] == 101
        space["TABLE"] = tnp.zeros(3)
        np.testing.assert_array_equal(np.asarray(space["f"](tnp.ones(3))), [3, 1, 1])


def test_global_numbers(strict):
    space = jitted(
        "SCALE = 2.0\n"
        "FLAG = True\n"
        "NAME = 'a'\n\n"
        "@np2tf.jit\n"
        "def f(x):\n"
        "    return x * SCALE if FLAG and NAME == 'a' else x\n"
    )
    assert space["f"](np.ones(1))[0] == 2
    space["SCALE"] = 3
    assert space["f"](np.ones(1))[0] == 3
    space["FLAG"] = False
    assert space["f"](np.ones(1))[0] == 1
    space["FLAG"], space["NAME"] = True, "b"
    assert space["f"](np.ones(1))[0] == 1


def test_global_of_a_helper_and_of_a_helpers_helper(strict):
    space = jitted(
        "W = np.ones(2)\n"
        "B = 1\n\n"
        "def inner(x):\n"
        "    return x * W + B\n\n"
        "def outer(x):\n"
        "    return inner(x)\n\n"
        "@np2tf.jit\n"
        "def f(x):\n"
        "    return outer(x)\n"
    )
    np.testing.assert_array_equal(space["f"](np.ones(2)), [2, 2])
    space["W"][1] = 5
    space["B"] = 2
    np.testing.assert_array_equal(space["f"](np.ones(2)), [3, 7])
    space["inner"] = lambda x: x * 100
    np.testing.assert_array_equal(space["f"](np.ones(2)), [100, 100])


def test_global_list_and_dict_of_arrays(strict):
    space = jitted(
        "PARAMS = [tnp.ones(2), {'b': np.zeros(2)}]\n\n"
        "@np2tf.jit\n"
        "def f(x):\n"
        "    PARAMS[0][0] += 1\n"
        "    return x * PARAMS[0] + PARAMS[1]['b']\n"
    )
    np.testing.assert_array_equal(np.asarray(space["f"](tnp.ones(2))), [2, 1])
    np.testing.assert_array_equal(np.asarray(space["f"](tnp.ones(2))), [3, 1])
    space["PARAMS"][1]["b"] = np.full(2, 10.0)
    np.testing.assert_array_equal(np.asarray(space["f"](tnp.ones(2))), [14, 11])


def test_a_global_list_is_not_changed_unseen():
    """Appending to a list while tracing would happen once, and with tensors that are no values."""
    space = jitted("LOG = []\n\n@np2tf.jit\ndef f(x):\n    LOG.append(x.sum())\n    return x * 2\n")
    with (
        np2tf.config.using(tier="compile", jit="on"),
        pytest.warns(np2tf.staging.host.jit.UnjittedWarning),
    ):
        _ = [space["f"](np.ones(2)) for _ in range(2)]
    assert space["LOG"] == [2.0, 2.0]


def test_a_global_name_is_not_rebound_unseen():
    space = jitted(
        "COUNT = 0\n\n@np2tf.jit\ndef f(x):\n    global COUNT\n    COUNT += 1\n    return x * COUNT\n"
    )
    with (
        np2tf.config.using(tier="compile", jit="on"),
        pytest.warns(np2tf.staging.host.jit.UnjittedWarning),
    ):
        assert [space["f"](np.ones(1))[0] for _ in range(4)] == [1, 2, 3, 4]
    assert space["COUNT"] == 4


def test_closure(strict):
    state, factor = tnp.zeros(2), 3.0

    @np2tf.jit
    def f(x):
        state[0] += x[0]
        return state * factor

    np.testing.assert_array_equal(np.asarray(f(tnp.ones(2))), [3, 0])
    np.testing.assert_array_equal(np.asarray(f(tnp.ones(2))), [6, 0])
    factor = 10.0
    np.testing.assert_array_equal(np.asarray(f(tnp.ones(2))), [30, 0])
    assert state[0] == 3


def test_closures_of_two_instances_stay_apart(strict):
    def make(scale):
        @np2tf.jit
        def f(x):
            return x * scale

        return f

    first, second = make(np.full(2, 2.0)), make(np.full(2, 5.0))
    assert (first(np.ones(2))[0], second(np.ones(2))[0], first(np.ones(2))[0]) == (2, 5, 2)


def test_module_attribute(strict):
    import types

    settings = types.ModuleType("settings")
    settings.scale = np.ones(2)

    @np2tf.jit
    def f(x):
        return x * settings.scale

    assert f(np.ones(2))[0] == 1
    settings.scale = np.full(2, 4.0)
    assert f(np.ones(2))[0] == 4
    settings.scale[0] = 6
    assert f(np.ones(2))[0] == 6


def test_tensor_arrays_are_written_to(strict):
    with np2tf.config.using(eager="tensorflow"):
        x = tnp.arange(12.0)
        view = x[::2]
        assert is_array(x)
        function = load(translation(HEAD + WRITER))["f"]
        function(view)
        expected = np.arange(12.0)
        load(HEAD + WRITER)["f"](expected[::2])
        np.testing.assert_array_equal(x.numpy(), expected)


def test_a_tensor_is_not_written_to(strict):
    function = load(translation(HEAD + "def f(x):\n    x[0] = 5\n    x[1:] *= 2\n    return x\n"))["f"]
    x = tf.ones(3)
    np.testing.assert_array_equal(np.asarray(function(x)), [5, 2, 2])
    np.testing.assert_array_equal(x.numpy(), [1, 1, 1])


def test_a_caller_keeps_no_view_of_a_tensors_buffer(strict):
    """Two results of two calls are different memory, and may be written to."""
    function = np2tf.jit(lambda x: x * 2)
    first, second = function(np.ones(3)), function(np.ones(3))
    first[0] = 7
    assert second[0] == 2
    assert function(np.ones(3))[0] == 2


def test_an_array_that_data_choose_is_one_array():
    @np2tf.jit(tier="compile")
    def f(x, y):
        z = np2tf.cond(x[0] > 1, lambda: y * 2, lambda: y)
        return z, [z], z

    for x in (np.ones(2), np.full(2, 5.0)):
        y = np.ones(2)
        chosen, (in_list,), third = f(x, y)
        assert chosen is in_list is third
        assert np.shares_memory(chosen, y) == (x[0] == 1)
