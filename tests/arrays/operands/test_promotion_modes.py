"""``np2tf.config.promotion``: NumPy's rules, JAX's lattice, its safe part, and no promotion at all."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import np2tf
from np2tf import StagingError, config, tnp
from np2tf.arrays.dispatch.placement import device_put
from np2tf.arrays.front.flags import promotion_scope
from np2tf.core.errors import PromotionError
from np2tf.core.settings import Config
from np2tf.staging.host.jit import UnjittedWarning
from tests.helpers import promotion_tables as tables
from tests.helpers.promotion_tables import DEFAULTS, DTYPES, NUMBERS, ones

MODES = ("numpy", "all", "safe", "none")
JAX = tables.jax_table()


def dtype_of(function: Callable[..., Any], *operands: Any) -> str | None:
    """The dtype of what `function` gives, None if the operands are not promoted."""
    try:
        return tf.as_dtype(function(*operands).dtype).name
    except PromotionError:
        return None


def operand(name: str) -> Any:
    """An array on TensorFlow of JAX's name of a dtype, or a Python number."""
    return NUMBERS[name] if name in NUMBERS else device_put(ones(DTYPES[name]))


def multiply(a: Any, b: Any) -> Any:
    return a * b


# -- every pair ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("floats", ["float64", "float32"])
def test_all_is_jax_lattice(floats: str) -> None:
    """Every cell of the documented table, by an operator, `result_type` and `promote_types`."""
    names = {**DTYPES, **DEFAULTS[floats]}
    kinds = {"i*": int, "f*": float, "c*": complex}
    with config.using(promotion="all", floats=floats):
        for (a, b), wanted in JAX.items():
            x, y = operand(a), operand(b)
            if not {a, b} <= NUMBERS.keys():
                assert dtype_of(multiply, x, y) == names[wanted], (a, b)
            assert tnp.result_type(x, y).name == names[wanted], (a, b)
            by_name = [kinds.get(name) or tf.as_dtype(DTYPES[name]) for name in (a, b)]
            assert tnp.promote_types(*by_name).name == names[wanted], (a, b)


#: Where TensorFlow's answer is not ours: mode -> (our result, TensorFlow's) by pair, and the reason.
WIDTHS = "Python's numbers are 64 bits wide in NumPy, and 32 in TensorFlow"
KEPT = "a Python float is a float64, which holds these integers; TensorFlow widens a float32 to it"
DEVIATIONS: dict[str, dict[tuple[str, str], tuple[str | None, str | None, str]]] = {
    "all": {
        ("bool", "i*"): ("int64", "int32", WIDTHS),
        ("bool", "f*"): ("float64", "float32", WIDTHS),
    },
    "safe": {
        ("bool", "i*"): ("int64", "int32", WIDTHS),
        ("bool", "f*"): ("float64", "float32", WIDTHS),
        **{
            (name, "f*"): ("float64", None, KEPT)
            for name in ("uint8", "uint16", "uint32", "int8", "int16", "int32")
        },
    },
    "none": {},
}


@pytest.mark.parametrize("mode", DEVIATIONS)
def test_modes_are_tensorflows(mode: str) -> None:
    """Every pair in both orders gives the dtype of TensorFlow's mode of that meaning; few pairs deviate."""
    found = {}
    with config.using(promotion=mode):
        for (a, b), tensorflow_dtype in tables.tensorflow_tables()[mode].items():
            x = device_put(ones(a))
            y = NUMBERS[b] if b in NUMBERS else device_put(ones(b))
            found_dtype = dtype_of(multiply, x, y)
            assert dtype_of(multiply, y, x) == found_dtype, (a, b)
            if found_dtype != tensorflow_dtype:
                found[a, b] = found_dtype, tensorflow_dtype
    assert found == {pair: cell[:2] for pair, cell in DEVIATIONS[mode].items()}


@pytest.mark.parametrize("mode", ["safe", "none"])
@pytest.mark.parametrize("name", [name for name in DTYPES if name != "b1"])
def test_a_python_bool_is_of_dtype_bool(mode: str, name: str) -> None:
    """TensorFlow takes a Python bool as an operand of some dtypes, and not of other dtypes."""
    with config.using(promotion=mode):
        assert dtype_of(multiply, operand(name), True) == (DTYPES[name] if mode == "safe" else None)


def test_numpy_is_numpys_and_the_default() -> None:
    assert Config().promotion == "numpy"
    names = [name for name in DTYPES if name != "bf"]
    for a in names:
        for b in (*names, *NUMBERS):
            wanted = np.multiply(np.ones(2, DTYPES[a]), NUMBERS.get(b, np.ones(2, DTYPES.get(b)))).dtype
            assert dtype_of(multiply, operand(a), operand(b)) == wanted.name


SAMPLE = [("i4", "f4"), ("u8", "i8"), ("f2", "bf"), ("i1", "f*"), ("c8", "f8"), ("u1", "i1"), ("i8", "i*")]


@pytest.mark.parametrize("mode", ["all", "safe", "none"])
@pytest.mark.parametrize("xla", [False, True], ids=["graph", "xla"])
def test_staged_is_eager(mode: str, xla: bool) -> None:
    with config.using(promotion=mode):
        for a, b in SAMPLE:
            x, y = operand(a), operand(b)
            staged = tf.function(lambda x, y=y: multiply(device_put(x), y).tensor, jit_compile=xla)
            assert dtype_of(staged, x.tensor) == dtype_of(multiply, x, y), (a, b)


# -- everything that asks for a common type ------------------------------------------------------------------

INT, FLOAT = np.arange(4, dtype=np.int32).reshape(2, 2), np.ones((2, 2), np.float32)
TOGETHER = [
    *("i + f", "f - i", "i // f", "i % f", "f ** i", "i @ f", "i / f"),
    *("np.maximum(i, f)", "np.hypot(i, f)", "np.arctan2(i, f)", "np.divmod(i, f)[0]", "np.add.outer(i, f)"),
    *("np.concatenate([i, f])", "np.stack([i, f])", "np.vstack([i, f])", "np.hstack([i, f])"),
    *("np.append(i, f)", "np.block([[i, f]])", "np.dstack([f, i])", "np.column_stack([i, f])", "np.r_[i, f]"),
    *(
        "np.where(i > 1, i, f)",
        "np.select([i > 1], [f], i)",
        "np.choose(i % 2, [i, f])",
        "np.clip(f, i, i + 1)",
    ),
    *(
        "np.einsum('ij,jk', i, f)",
        "np.matmul(i, f)",
        "np.dot(i, f)",
        "np.tensordot(i, f, 1)",
        "np.inner(f, i)",
    ),
    *("np.kron(i, f)", "np.outer(i, f)", "np.vdot(i, f)", "np.convolve(i[0], f[0])", "np.polyval(i[0], f)"),
    *(
        "np.linalg.solve(i + 1, f)",
        "np.array([i, f])",
        "np.average(f, weights=i)",
        "np.linspace(i[0], f[0], 3)",
    ),
    "np.result_type(i, f)",
]


def on_tensors(expression: str) -> Any:
    value = eval(expression, {"np": tnp, "i": device_put(INT), "f": device_put(FLOAT)})
    return value if isinstance(value, np.dtype) else np.dtype(value.dtype)


@pytest.mark.parametrize("expression", TOGETHER)
def test_the_mode_governs_what_asks_for_a_common_type(expression: str) -> None:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        assert on_tensors(expression) == np.float64
        with config.using(promotion="all"):
            assert on_tensors(expression) == np.float32
        for mode in ("safe", "none"):
            with config.using(promotion=mode), pytest.raises(TypeError, match=r"int32|float32"):
                on_tensors(expression)


def test_comparisons_ask_for_a_common_type() -> None:
    large = device_put(np.array([2**24 + 1], np.int32)), device_put(np.array([2**24], np.float32))
    assert not (large[0] == large[1]).numpy()[0]
    with config.using(promotion="all"):
        assert (large[0] == large[1]).numpy()[0]
    with config.using(promotion="safe"), pytest.raises(TypeError, match="int32 and float32"):
        _ = large[0] < large[1]


#: Functions that bring numbers of their own: nothing is refused because of these.
ALONE = [
    *("np.isclose(x, x)", "np.allclose(x, x)", "np.polyder(x)", "np.polyint(x)", "np.percentile(x, 30)"),
    *("np.quantile(x, [0.5])", "np.median(x)", "np.mean(x)", "np.std(x)", "np.var(x)", "np.unwrap(x)"),
    *(
        "np.histogram(x)[1]",
        "np.histogram2d(x, x)[0]",
        "np.sinc(x)",
        "np.cov(x)",
        "np.gradient(x)",
        "np.diff(x)",
    ),
    *("np.linspace(x[0], x[1], 3)", "np.nan_to_num(x)", "np.cumsum(x)", "np.angle(x)", "x / x", "np.sqrt(x)"),
    *("np.ldexp(x, 2)", "x ** 2", "np.round(x, 1)", "np.interp(x, x, x)", "np.fft.fft(x)", "np.trapezoid(x)"),
]


@pytest.mark.parametrize("mode", ["safe", "none"])
@pytest.mark.parametrize("expression", ALONE)
def test_one_dtype_is_never_refused(expression: str, mode: str) -> None:
    for dtype in ("int64", "float32"):
        x = device_put(np.array([1, 2, 4, 5], dtype))
        with config.using(promotion=mode):
            try:
                eval(expression, {"np": tnp, "x": x})
            except PromotionError as error:
                pytest.fail(f"{dtype}: {error}")
            except TypeError:  # NumPy's: there is no such function of these
                with pytest.raises(TypeError):
                    eval(expression, {"np": np, "x": x.numpy()})


# -- Python numbers, and the default floats ------------------------------------------------------------------

FLOATING = ["x / x", "np.sin(x)", "np.sqrt(x)", "np.exp2(x)", "np.hypot(x, x)", "x * 1.0", "np.sinc(x)"]


@pytest.mark.parametrize("floats", ["float64", "float32"])
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int32", "int64"])
def test_integers_become_the_default_floats(dtype: str, floats: str) -> None:
    """As in JAX; for NumPy the sine of an int8 is a float16."""
    with config.using(promotion="all", floats=floats):
        for expression in FLOATING:
            made = eval(expression, {"np": tnp, "x": device_put(np.ones(3, dtype))})
            assert made.dtype == floats, expression
        assert (device_put(np.ones(2, dtype)) / device_put(np.ones(2, np.float16))).dtype == np.float16


@pytest.mark.parametrize("mode", ["all", "safe", "none"])
def test_python_numbers_are_weak(mode: str) -> None:
    x = device_put(np.ones(2, np.float16))
    with config.using(promotion=mode):
        for made in (x + 1, 2.5 * x, tnp.where(x > 0, x, 0.0), tnp.clip(x, 0, 1), x**2, tnp.maximum(x, 0)):
            assert made.dtype == np.float16
        with pytest.raises(OverflowError):
            device_put(np.ones(2, np.uint8)) + 300
        assert tnp.add(1, device_put(np.int8(2))).dtype == np.int8


def test_python_numbers_are_weak_inside_lists() -> None:
    """np.array([1, np.float32(2)]) holds float64, JAX's float32. A list of numbers alone is an array."""
    number = device_put(np.ones(2, np.float32))[0]
    assert tnp.array([1, number]).dtype == np.float64
    with config.using(promotion="all"):
        assert tnp.array([1, 2.5, number]).dtype == np.float32
        assert (device_put(np.ones(2, np.int8)) * [1, 2]).dtype == np.int64


def test_results_do_not_depend_on_order() -> None:
    names = ["u1", "i1", "f2"]
    with config.using(promotion="all"):
        made = {tnp.concatenate([operand(n) for n in order]).dtype for order in (names, names[::-1])}
    assert made == {np.dtype(np.float16)}
    with config.using(promotion="safe"):  # u1 and i1 alone are not safe: of no dtype that one of them has
        assert tnp.concatenate([operand(n) for n in names]).dtype == np.float16
        with pytest.raises(TypeError, match="uint8 and int8"):
            tnp.concatenate([operand("u1"), operand("i1")])


# -- what the mode does not govern ---------------------------------------------------------------------------


@pytest.mark.parametrize("mode", MODES)
def test_casts_are_numpys(mode: str) -> None:
    with config.using(promotion=mode):
        x = device_put(np.zeros(3, np.float32))
        x[0], x[1:] = 7, device_put(np.array([1.5, 2.5]))
        assert x.astype(np.int8).numpy().tolist() == [7, 1, 2]
        out = device_put(np.zeros(3, np.float32))
        tnp.add(device_put(np.ones(3)), device_put(np.ones(3)), out=out)
        assert out.dtype == np.float32
        assert out.numpy()[0] == 2
        assert tnp.add(x, device_put(np.ones(3)), dtype=np.float64).dtype == np.float64
        with pytest.raises(TypeError, match="Cannot cast"):
            tnp.multiply(x, x, out=device_put(np.zeros(3, np.int32)))


@pytest.mark.parametrize("mode", MODES)
def test_the_host_is_numpys(mode: str) -> None:
    with config.using(promotion=mode):
        assert (INT + FLOAT).dtype == tnp.add(INT, FLOAT).dtype == np.float64
        assert tnp.result_type(INT, FLOAT) == np.float64
        with config.using(eager="tensorflow"):
            assert dtype_of(tnp.add, INT, FLOAT) == {"numpy": "float64", "all": "float32"}.get(mode)


def test_a_ufunc_that_numpy_computes_is_promoted_by_the_mode() -> None:
    x, y = device_put(INT), device_put(FLOAT)
    with config.using(promotion="all"), np.errstate(over="raise"):
        assert (x + y).dtype == np.float32


def test_tensorflows_switch_is_not_touched() -> None:
    from tensorflow.python.framework import ops

    before = ops.get_dtype_conversion_mode(), ops.is_auto_dtype_conversion_enabled()
    with config.using(promotion="all"):
        assert on_tensors("i + f") == np.float32
        assert before == (ops.get_dtype_conversion_mode(), ops.is_auto_dtype_conversion_enabled())
        with pytest.raises(Exception, match=r"int32|float"):
            tf.add(tf.constant(1), tf.constant(1.5))


# -- errors --------------------------------------------------------------------------------------------------

MET = 'int32 and float32 meet at FILE, line LINE, and promotion="safe" does not promote them'


def test_errors_name_both_dtypes_and_the_line() -> None:
    x, y = device_put(INT), device_put(FLOAT)

    def eager() -> Any:
        return x + y

    def function() -> Any:
        return tnp.concatenate([x, y])

    @np2tf.jit(tier="compile")
    def staged(x: Any, y: Any) -> Any:
        x = x + 1
        return x * y

    @np2tf.jit(promotion="safe")
    def branch(x: Any, y: Any) -> Any:
        return np2tf.cond(x.sum() > 100, lambda: x * y, lambda: y)

    calls = eager, function, lambda: staged(INT, FLOAT), lambda: branch(INT, FLOAT)
    lines = [eager.__code__.co_firstlineno + 1, function.__code__.co_firstlineno + 1]
    lines += [staged.__wrapped__.__code__.co_firstlineno + 3, branch.__wrapped__.__code__.co_firstlineno + 2]
    for call, line in zip(calls, lines, strict=True):
        with config.using(promotion="safe"), pytest.raises(TypeError) as caught:
            call()
        assert MET.replace("FILE", __file__).replace("LINE", str(line)) in str(caught.value)
    with config.using(promotion="none"), pytest.raises(TypeError, match="int32 and Python's float"):
        _ = x * 0.5


def test_an_unknown_mode_is_refused() -> None:
    listed = "must be one of numpy, all, safe, none, not 'jax'"
    with pytest.raises(ValueError, match=listed):
        config.promotion = "jax"
    with pytest.raises(ValueError, match=listed):
        np2tf.jit(multiply, promotion="jax")
    with pytest.raises(ValueError, match="tier='host' always"):
        np2tf.jit(multiply, tier="host", promotion="all")


def test_the_environment_sets_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NP2TF_PROMOTION", "safe")
    try:
        assert Config().promotion == "safe"
    finally:
        monkeypatch.delenv("NP2TF_PROMOTION")
        config.promotion = "numpy"  # `Config()` told "safe" to the code that follows the setting


# -- jitted functions ----------------------------------------------------------------------------------------


def test_a_function_has_rules_of_its_own() -> None:
    """From its first call on, with arrays of the host: NumPy's rules would hold there."""

    @np2tf.jit(promotion="all")
    def f(x: Any, y: Any) -> Any:
        return x * y / 2

    for _ in range(30):
        made = f(INT, FLOAT)
        assert type(made) is np.ndarray
        assert made.dtype == np.float32
    assert f.trace_count == 1
    assert f.promotion == "all"
    with config.using(promotion="none"):
        assert f(INT, FLOAT).dtype == np.float32
    assert multiply(device_put(INT), device_put(FLOAT)).dtype == np.float64
    assert "compiled" in str(f.explain(INT, FLOAT))


def test_a_change_of_the_mode_is_a_new_trace() -> None:
    f = np2tf.jit(multiply)
    found = {}
    for mode in (*MODES[:2], *MODES[:2]):
        with config.using(promotion=mode, tier="compile"):
            found[mode] = f(INT, FLOAT).dtype.name
    assert found == {"numpy": "float64", "all": "float32"}
    assert f.trace_count == 2


def test_a_short_function_leaves_the_host_with_numpys_rules() -> None:
    f = np2tf.jit(multiply)
    for _ in range(60):
        assert f(INT, FLOAT).dtype == np.float64
    with config.using(promotion="all"):
        assert f(INT, FLOAT).dtype == np.float32
    assert f(INT, FLOAT).dtype == np.float64


def test_nested_calls() -> None:
    """A callee runs by the rules of its caller, but a jitted callee with rules of its own keeps them."""

    def helper(x: Any, y: Any) -> Any:
        return x * y

    follows = np2tf.jit(helper)
    numpys = np2tf.jit(helper, promotion="numpy")
    refuses = np2tf.jit(follows, promotion="none")

    @np2tf.jit(promotion="all")
    def outer(x: Any, y: Any) -> Any:
        return helper(x, y), follows(x, y), numpys(x, y), helper(x, y)

    assert [made.dtype.name for made in outer(INT, FLOAT)] == ["float32", "float32", "float64", "float32"]
    assert follows(INT, FLOAT).dtype == np.float64
    with pytest.raises(TypeError, match='promotion="none"'):
        np2tf.jit(lambda x, y: refuses(x, y), promotion="all")(INT, FLOAT)
    with config.using(promotion="all"):
        assert numpys(INT, FLOAT).dtype == np.float64


def test_loops_and_numbers() -> None:
    @np2tf.jit(promotion="all")
    def total(x: Any, y: Any, n: int) -> Any:
        def step(i: Any, s: Any) -> Any:
            return s + x[i] * y[i] * 0.5

        s = np2tf.for_loop(np2tf.range(n), step, np.float32(0))
        return s, x * n, n * 0.5

    for n in range(2, 9):
        s, scaled, half = total(np.arange(9), np.ones(9, np.float32), n)
        assert (s.dtype, scaled.dtype, half) == (np.float32, np.int64, n * 0.5)
        assert s == sum(range(n)) / 2


def test_what_cannot_be_staged_is_not_computed_by_numpys_rules() -> None:
    def looks(x: Any, y: Any) -> Any:
        return x * y if math.floor(y[0, 0] * 0) == 0 else y

    with pytest.raises(StagingError):
        np2tf.jit(looks, promotion="all")(INT, FLOAT)
    with pytest.raises(StagingError):
        np2tf.jit(_counting, promotion="all")(3)
    with config.using(promotion="all"), pytest.warns(UnjittedWarning, match="NumPy's promotion rules apply"):
        assert np2tf.jit(looks)(INT, FLOAT).dtype == np.float64
    with np.errstate(all="raise"), pytest.raises(StagingError):
        np2tf.jit(multiply, promotion="all")(INT, FLOAT)


def _counting(n: int) -> Any:
    yield from range(n)


def test_errors_of_the_users_come_out_as_on_numpy() -> None:
    f = np2tf.jit(lambda x, y, k: x[k] * y, promotion="all")
    with pytest.raises(IndexError):
        f(INT, FLOAT, 7)


def test_use_backend_is_numpy_throughout() -> None:
    with config.using(promotion="all"):
        with np2tf.use_backend("numpy"):
            assert config.promotion == "numpy"
            assert tnp.result_type(np.int32, np.float32) == np.float64
        assert config.promotion == "all"
        assert tnp.result_type(np.int32, np.float32) == np.float32


def test_a_functions_rules_are_its_threads() -> None:
    """While one function runs by rules of its own, other threads go by the rules of the process."""

    def met() -> str | None:
        return dtype_of(multiply, device_put(INT), device_put(FLOAT))

    with promotion_scope("all"), ThreadPoolExecutor(1) as pool:
        assert (met(), pool.submit(met).result()) == ("float32", "float64")
        with promotion_scope("none"), config.using(promotion="all"):
            assert (met(), pool.submit(met).result()) == (None, "float32")
    assert met() == "float64"


@pytest.mark.parametrize("where", [1, [1, 1]])
def test_ufunc_at_takes_python_numbers_for_weak(where: Any) -> None:
    for mode in ("all", "safe", "none"):
        with config.using(promotion=mode):
            x = device_put(np.ones(3, np.float16))
            tnp.add.at(x, where, 1.5)
            expected = np.ones(3, np.float16)
            np.add.at(expected, where, np.float16(1.5))
            assert x.numpy().tolist() == expected.tolist()
