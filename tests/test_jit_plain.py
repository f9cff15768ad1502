"""The host tier: translated code run by NumPy itself, with np2tf's arrays going in and coming out."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

import np2tf
from np2tf import tnp
from np2tf.runtime.originals import original_of
from np2tf.runtime.plain import PlainFunction

OFFSET = tnp.full(2, 10.0)
SCALE = 2.0


@pytest.fixture
def host():
    def make(function):
        return np2tf.jit(function, tier="host")

    return make


def helper(x):
    return x * SCALE


def test_arrays_come_back_as_those_of_np2tf(host):
    @host
    def f(x, y):
        seen.append(type(x))
        z = tnp.sin(x) + y
        return z, [z, {"z": z}], z.sum(), x.shape

    seen = []
    x = tnp.ones(3)
    z, (again, nested), total, shape = f(x, np.ones(3))
    assert seen == [np.ndarray]
    assert all(type(one) is tnp.asarray([0]).__class__ or isinstance(one, np.ndarray) for one in (z, again))
    assert nested["z"].shape == shape == (3,)
    assert isinstance(total, np.float64)
    assert type(z) is type(x)


def test_an_argument_that_is_returned_is_the_callers_own(host):
    @host
    def f(x, y):
        x = tnp.at(x)[0].set(5.0)
        x = tnp.at(x)[1].add(2.0)
        x = tnp.at(x).sort()
        return x, y, x[1:]

    x, y = tnp.zeros(3), np.zeros(2)
    first, second, view = f(x, y)
    assert first is x
    assert second is y
    np.testing.assert_array_equal(np.asarray(x), [0, 2, 5])
    view[0] = 9
    assert x[1] == 9


def test_functions_that_write_and_numpys_at(host):
    @host
    def f(x):
        x = tnp.fill_diagonal(x, 7.0)
        x = tnp.add_at(x, (0, 0), 1.0)
        return tnp.copyto(x, tnp.where(x > 7, 0.0, x))

    found = f(np.zeros((2, 2)))
    np.testing.assert_array_equal(np.asarray(found), [[0, 0], [0, 7]])


def test_globals_are_read_when_they_are_used(host, monkeypatch):
    @host
    def f(x):
        return helper(x) + OFFSET

    x = tnp.ones(2)
    np.testing.assert_array_equal(np.asarray(f(x)), [12, 12])
    monkeypatch.setitem(globals(), "SCALE", 5.0)
    monkeypatch.setitem(globals(), "OFFSET", tnp.zeros(2))
    np.testing.assert_array_equal(np.asarray(f(x)), [5, 5])
    monkeypatch.setitem(globals(), "helper", lambda x: x * 0)
    np.testing.assert_array_equal(np.asarray(f(x)), [0, 0])


def test_control_flow_is_pythons(host):
    @host
    def f(x, n):
        (x,) = np2tf.for_loop(np2tf.range(n), lambda i, x: (x + i,), (x,))
        x = np2tf.cond(np2tf.and_(x.sum() > 3, lambda: n > 1), lambda x: x * 2, lambda x: x, x)
        return np2tf.max(x[0], 1), np2tf.not_(x.any())

    assert f(tnp.zeros(2), 4) == (12.0, False)


def test_recursion_and_errors(host):
    @host
    def power(x, n):
        return x if n == 0 else x * power(x, n - 1)

    np.testing.assert_array_equal(np.asarray(power(tnp.full(2, 2.0), 3)), [16, 16])
    with pytest.raises(IndexError, match="out of bounds"):
        host(lambda x: x[5])(tnp.zeros(2))


def test_what_does_not_run_this_way():
    plain = PlainFunction(helper)
    assert plain.takes((np.ones(2), tnp.ones(2), 3, "text", [1, np.ones(1)]), {"k": None})
    assert not plain.takes((tf.ones(2),), {})
    assert not plain.takes(([tnp.ones(2)],), {})
    assert not plain.takes((object(),), {})
    with np2tf.config.using(eager="tensorflow"):
        assert not plain.takes((np.ones(2),), {})

    def with_default(x, y=tnp.ones(2)):  # noqa: B008
        return x + y

    assert not PlainFunction(with_default).takes((np.ones(2),), {})
    assert not PlainFunction(len).takes((np.ones(2),), {})


SOURCE = """\
import numpy as np
from numpy import fill_diagonal, sin


def f(x, n):
    fill_diagonal(x, 7)
    for i in range(n):
        x[i, 0] += sin(x[i, 1]) + helper(x[i], np.OLD([1.0, 2.0]))
    return x


def helper(row, pair):
    return np.max(row) * pair


def g(x):
    np.random.seed(1)
    return np.abs(x[1:]) + np.random.rand()
"""


@pytest.mark.parametrize("old", ["prod", "product"])
def test_the_source_itself_runs_on_the_host(tmp_path, old):
    path = tmp_path / "of_numpy.py"
    path.write_text(SOURCE.replace("OLD", old))
    module = np2tf.import_module("of_numpy", path)
    x = np.arange(16.0).reshape(4, 4)
    expected = x.copy()
    np.fill_diagonal(expected, 7)
    for i in range(4):
        expected[i, 0] += np.sin(expected[i, 1]) + np.max(expected[i]) * 2.0
    function = getattr(module.f, "__wrapped__", module.f)
    original = original_of(function)
    assert original is not None
    assert "fill_diagonal" in original.imports
    assert "subtract" not in original.code.co_names
    path.write_text("raise SystemExit  # edited meanwhile\n")
    found = PlainFunction(function)((x, 4), {})
    np.testing.assert_array_equal(np.asarray(found), expected)
    np.testing.assert_array_equal(x, expected)


def test_sources_that_do_not_run_on_the_host(tmp_path):
    path = tmp_path / "own_state.py"
    path.write_text(SOURCE.replace("OLD", "prod"))
    module = np2tf.import_module("own_state", path)
    assert original_of(module.g) is None  # np2tf's random numbers have a state of their own
    assert original_of(helper) is None  # not translated while it was imported
    guard = "try:\n    import numpy as np\nexcept ImportError:\n    raise\n\n\n"
    path.write_text(guard + "def helper(row):\n    return np.max(row) * np.sin(row)\n")
    guarded = np2tf.import_module("guarded", path)
    np.testing.assert_array_equal(PlainFunction(guarded.helper)((np.ones(2),), {}), np.sin([1.0, 1.0]))
