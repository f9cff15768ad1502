"""Calls of `np2tf.nn` and the same calls in JAX: a name, our function, JAX's function, arguments."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax import nn as jnn
from jax.scipy import special as jspecial

from np2tf import nn

jax.config.update("jax_enable_x64", True)

RNG = np.random.default_rng(20)
X = RNG.normal(size=(2, 7, 6)) * 3
Z = np.array([[0.0, -np.inf, 700.0], [-800.0, -800.0, -800.0], [-np.inf, -np.inf, -np.inf]])
TIES = np.array([[3, 1, 3, 2, 1], [0, 0, 5, 5, 5]])
IMAGE, KERNEL = RNG.normal(size=(2, 3, 9, 8)), RNG.normal(size=(4, 3, 3, 2))
LAST, HWIO = np.moveaxis(IMAGE, 1, -1), np.transpose(KERNEL, (2, 3, 1, 0))
SIGNAL, WINDOW = RNG.normal(size=(2, 3, 11)).astype(np.float32), RNG.normal(size=(4, 3, 3)).astype(np.float32)
VOLUME, CUBE = RNG.normal(size=(1, 2, 4, 5, 3)), RNG.normal(size=(2, 2, 2, 2, 2))
NHWC = ("NHWC", "HWIO", "NHWC")
DATA, IDS = RNG.normal(size=(8, 3)), np.array([0, 2, 2, 5, 0, 7, 3, 2])


def pooled(x: Any, first: Any, combine: Any, window: Any, strides: Any, padding: Any) -> Any:
    """JAX's pooling, over a batch with channels behind."""
    steps = strides or (1,) * len(window)
    pads = padding if isinstance(padding, str) else [(0, 0), *padding, (0, 0)]
    return lax.reduce_window(x, first, combine, (1, *window, 1), (1, *steps, 1), pads)


def highest_pool(x: Any, *pool_arguments: Any) -> Any:
    return pooled(x, -jnp.inf, lax.max, *pool_arguments)


def mean_pool(x: Any, window: Any, strides: Any, padding: Any) -> Any:
    return pooled(x, 0.0, lax.add, window, strides, padding) / np.prod(window)


def mean_pool_inside(x: Any, window: Any, strides: Any, padding: Any) -> Any:
    sums = pooled(x, 0.0, lax.add, window, strides, padding)
    return sums / pooled(jnp.ones_like(x), 0.0, lax.add, window, strides, padding)


def conv_cases() -> Any:
    for strides in ((1, 1), (2, 3)):
        for padding in ("VALID", "SAME", "SAME_LOWER", ((1, 2), (0, 3)), ((-1, 2), (1, -2))):
            yield f"conv {strides} {padding}", nn.conv, _conv, (IMAGE, KERNEL, strides, padding)
    dilations = ((2, 1), (1, 2)), ((1, 1), (2, 3)), ((3, 2), (2, 2))
    for k, (left, right) in enumerate(dilations):
        given = (IMAGE, KERNEL, (2, 1), ((3, 1), (0, 2)), left, right)
        yield f"conv dilated {k}", nn.conv_general_dilated, lax.conv_general_dilated, given
    yield "conv 1d f32", nn.conv, _conv, (SIGNAL, WINDOW, (2,), "SAME")
    yield "conv 3d", nn.conv, _conv, (VOLUME, CUBE, (1, 2, 1), "SAME")
    yield "conv 0d", nn.conv, _conv, (X[0], RNG.normal(size=(5, 6)), (), "VALID")
    yield "conv int", nn.conv, _conv, (np.int32(IMAGE * 3), np.int32(KERNEL * 3), (1, 1), "SAME")
    yield "conv too large", nn.conv, _conv, (IMAGE[..., :1], KERNEL, (1, 1), "VALID")
    grouped = (IMAGE[:, :2], RNG.normal(size=(4, 1, 3, 2)), (1, 2), "SAME", None, None, None, 2)
    yield "conv groups", nn.conv_general_dilated, lax.conv_general_dilated, grouped
    layout = (LAST, HWIO, (1, 1), "VALID", None, None, ("NHWC", "HWIO", "NCHW"))
    yield "conv layout", nn.conv_general_dilated, lax.conv_general_dilated, layout


def _conv(*args: Any) -> Any:
    lhs, rhs, strides, padding = args
    return lax.conv_general_dilated(lhs, rhs, strides, padding)


def transpose_cases() -> Any:
    for strides in ((1, 1), (2, 3), (4, 5)):
        for padding in ("VALID", "SAME", ((1, 2), (0, 3))):
            for dilation in (None, (2, 1)):
                for flipped in (False, True):
                    kernel = np.swapaxes(HWIO, -1, -2) if flipped else HWIO
                    given = (LAST, kernel, strides, padding, dilation, None, flipped)
                    told = f"conv_transpose {strides} {padding} {dilation} {flipped}"
                    yield told, nn.conv_transpose, lax.conv_transpose, given
    given = (SIGNAL, np.moveaxis(WINDOW, 0, 1), (2,), "SAME", None, ("NCH", "IOH", "NCH"))
    yield (
        "conv_transpose 1d",
        nn.conv_transpose,
        lax.conv_transpose,
        (*given[:1], WINDOW, *given[2:5], ("NCH", "OIH", "NCH")),
    )


def pool_cases() -> Any:
    with_nan = LAST.copy()
    with_nan[0, 2, 3, 1] = np.nan
    for window, strides in (((2, 3), None), ((3, 2), (2, 2)), ((9, 8), None)):
        for padding in ("VALID", "SAME", ((1, 0), (1, 1))):
            given = LAST, window, strides, padding
            told = f"{window} {strides} {padding}"
            yield f"max_pool {told}", nn.max_pool, highest_pool, (with_nan, *given[1:])
            yield f"avg_pool {told}", nn.avg_pool, mean_pool, given
            yield f"avg_pool inside {told}", _avg_pool_inside, mean_pool_inside, given


def _avg_pool_inside(*args: Any) -> Any:
    return nn.avg_pool(*args, count_include_pad=False)


def at_cases() -> Any:
    keys = {
        "index": 3,
        "slice": slice(1, 6, 2),
        "indices": np.array([1, 1, 4]),
        "pairs": (np.array([0, 2, 2]), np.array([1, 1, 1])),
        "mask": DATA[:, 0] > 0,
        "column": (slice(None), 1),
    }
    for told, key in keys.items():
        for name in ("set", "add", "subtract", "multiply", "divide", "power", "min", "max"):
            on_np2tf = lambda x, v, key=key, name=name: getattr(nn.at(x)[key], name)(v)  # noqa: E731
            on_jax = lambda x, v, key=key, name=name: getattr(x.at[key], name)(v)  # noqa: E731
            yield f"at {told} {name}", on_np2tf, on_jax, (np.abs(DATA) + 1, 2.5)
        yield (
            f"at {told} get",
            lambda x, key=key: nn.at(x)[key].get(),
            lambda x, key=key: x.at[key].get(),
            (DATA,),
        )


def _both(key: Any, method: str, *args: Any, **options: Any) -> tuple[Any, Any]:
    """A method of `at`, with np2tf and with JAX; functions among the arguments are named."""

    def on_np2tf(x: Any) -> Any:
        return getattr(nn.at(x)[key], method)(
            *[getattr(np, a) if type(a) is str else a for a in args], **options
        )

    def on_jax(x: Any) -> Any:
        given = [getattr(jnp, a) if type(a) is str else a for a in args]
        return getattr(jnp.asarray(x).at[key], method)(*given, **options)

    return on_np2tf, on_jax


#: Keys with indices out of bounds on both sides.
KEYS_OUT_OF_BOUNDS = {
    "index": 9,
    "low index": -12,
    "indices": np.array([-11, -1, 0, 0, 3, 7, 12]),
    "pairs": (np.array([0, 2, 9, -1]), np.array([1, 8, 1, -9])),
    "rows and slice": (np.array([[0, 8], [-9, 2]]), slice(1, 5, 2)),
    "column": (Ellipsis, 8),
    "new axis": (None, np.array([1, 9])),
    "mask": DATA[:, 0] > 0,
}


def mode_cases() -> Any:
    for told, key in KEYS_OUT_OF_BOUNDS.items():
        for mode in ("drop", "fill", "clip"):
            for name in ("set", "add", "multiply", "power", "min", "max"):
                yield f"at {told} {name} {mode}", *_both(key, name, 2.5, mode=mode), (np.abs(DATA) + 1,)
            for value in (None, -3):
                yield (
                    f"at {told} get {mode} {value}",
                    *_both(key, "get", mode=mode, fill_value=value),
                    (DATA,),
                )
    for dtype in ("int64", "int8", "uint16", "float32", "complex128"):
        for key in (np.array([1, 9]), 7):
            yield f"at {dtype} {key} get fill", *_both(key, "get", mode="fill"), (np.arange(5).astype(dtype),)
    many = np.array([1, 1, 4, 1, 9])
    for told, key in {
        "many": many,
        "pairs": (many, np.array([0, 0, 2, 1, 0])),
        "row": 2,
        "slice": slice(3),
    }.items():
        yield f"at {told} apply", *_both(key, "apply", "sin", mode="drop"), (DATA,)
    facts = {"indices_are_sorted": True, "unique_indices": True, "mode": "promise_in_bounds"}
    yield "at facts", *_both(np.array([0, 2, 5]), "add", 1.5, **facts), (DATA,)
    unwrapped = {"mode": "drop", "wrap_negative_indices": False}
    # JAX 0.6, the last one for Python 3.10, has no such option.
    if jax.version.__version_info__[:2] > (0, 6):
        yield "at no wrapping", *_both(np.array([-1, 1]), "set", 1.0, **unwrapped), (DATA,)


def other_cases() -> Any:
    for name in ("relu", "sigmoid", "softplus", "gelu"):
        for x in (X, X.astype(np.float32), Z, np.arange(-3, 4)):
            if name == "sigmoid" and x.dtype.kind == "i":
                continue  # JAX refuses integers there
            yield f"{name} {x.dtype} {x.shape}", getattr(nn, name), getattr(jnn, name), (x,)
    for x in (X, X.astype(np.float32), np.array([np.nan, np.inf, 0.0, -3.0])):
        yield f"erf {x.dtype} {x.shape}", nn.erf, lax.erf, (x,)
        yield f"gelu exact {x.dtype} {x.shape}", nn.gelu, jnn.gelu, (x, False)
    for axis in (-1, 0, (0, 2)):
        yield f"softmax {axis}", nn.softmax, jnn.softmax, (X, axis)
        yield f"softmax where {axis}", nn.softmax, jnn.softmax, (X, axis, X > -2)
        yield f"log_softmax where {axis}", nn.log_softmax, jnn.log_softmax, (X, axis, X > -2)
        yield f"log_softmax {axis}", nn.log_softmax, jnn.log_softmax, (X * 100, axis)
        yield f"logsumexp {axis}", nn.logsumexp, jspecial.logsumexp, (X * 100, axis)
    yield "softmax int", nn.softmax, jnn.softmax, (np.arange(4),)
    yield "softmax f32", nn.softmax, jnn.softmax, (X.astype(np.float32),)
    yield "logsumexp all", nn.logsumexp, jspecial.logsumexp, (X,)
    yield "logsumexp infinite", nn.logsumexp, jspecial.logsumexp, (Z, 1)
    yield "logsumexp b", nn.logsumexp, jspecial.logsumexp, (X, 1, np.abs(X) * (X > 0), True)
    yield "logsumexp sign", nn.logsumexp, jspecial.logsumexp, (X, 1, X, False, True)
    for classes in (TIES, np.array([-1, 0, 4, 5]), np.array(2)):
        yield f"one_hot {classes.shape}", nn.one_hot, jnn.one_hot, (classes, 5)
    yield "one_hot axis", _one_hot_first, lambda x: jnn.one_hot(x, 4, axis=0, dtype=jnp.int32), (TIES,)
    for x in (X, TIES, np.array([2.0, np.nan, -np.inf, 7.0]), np.uint8([3, 255, 0, 3])):
        yield f"top_k {x.dtype} {x.shape}", nn.top_k, lax.top_k, (x, 3)
    for axis in (0, -1):
        yield f"sort_key_val {axis}", nn.sort_key_val, lax.sort_key_val, (TIES, X[:, :5, 0], axis)
    for name in ("segment_sum", "segment_prod", "segment_max", "segment_min"):
        np2tf_function, jax_function = getattr(nn, name), getattr(jax.ops, name)
        for count in (None, 4, 9):
            yield f"{name} {count}", np2tf_function, jax_function, (DATA, IDS, count)
        yield f"{name} int", np2tf_function, jax_function, (np.int32(DATA * 9), IDS - 1, 6)


def _one_hot_first(x: Any) -> Any:
    return nn.one_hot(x, 4, axis=0, dtype=np.int32)


CASES = {
    told: case
    for cases in (conv_cases, transpose_cases, pool_cases, at_cases, mode_cases, other_cases)
    for told, *case in cases()
}
