"""Calls that differ in the lengths of lists of numbers share code; the function sees Python's lists."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import np2tf
from tests.helpers.differential import load, translation
from tests.helpers.selections import every_second

LENGTHS = (20, 21, 22, 23, 30, 31, 0, 1, 2, 3, 16, 17)
#: Functions of an array, a list of integers and a list of floats that share code for all lengths.
OF_LISTS: dict[str, str] = {
    "rows of an array": "return x[t], x[t].sum(axis=0)",
    "a row and a column": "return x[t, 1], x[:, 1][t]",
    "its length": "return x[t] * len(t)",
    "rows by a range": "return x[t] + x[range(len(t))]",
    "rows by a range with a start": "return x[range(1, len(t))] + len(t)",
    "an array": "return np.array(t) * 2, np.asarray(w) + np.array(t)",
    "an array alone": "return np.asarray(t), np.array(w)",
    "an array that is written to": "a = np.array(t)\n    a[0] = 7\n    return a, x[t]",
    "two arrays, one written to": "a, b = np.asarray(t), np.asarray(t)\n    a[0] += 9\n    return a + b, a",
    "an array of a dtype": "return np.array(t, np.float32), np.array(t, dtype=float), np.array(w, 'f4')",
    "an array of small integers": "return np.array(t, np.int8) + np.int8(1)",
    "NumPy's functions": "return np.sum(t), np.cumsum(w), np.maximum(t, 3), np.mean(w), np.max(t)",
    "functions of two lists": "return np.add(t, w), np.dot(t, w), np.where(np.array(t) > 2, t, w)",
    "operators": "return np.arange(len(t)) + t, t * np.ones(len(t)), np.array(w) - t, t == np.array(t)",
    "joining": "return np.concatenate([t, [1, 2]]), np.append(w, 3.0)",
    "items": "return x[t[0]] + t[-1], w[1] * 2, t[1]",
    "an item of a number that varies": "return x[0] * t[n % max(len(t), 1)] + t[-n % max(len(t), 1)]",
    "numbers": "return np.float32(1) * t[0], np.float32(1) * w[1], np.arange(3, dtype=np.int8) + w[0]",
    "parts": "return x[t[1:]], np.array(t[:-1]) * 2, x[t[n:]], len(t[2:])",
    "a part of a part": "return x[t[1:][:-1]], x[t[::-1]]",
    "an index of a write": "y = x.copy()\n    y[t] = 1.0\n    return y",
    "an index of an update": "y = x.copy()\n    y[t] += 1.0\n    return y",
    "a test of the type": "return x[t] if isinstance(t, list) else 'no list'",
    "a test": "return x[t] if t else x[:0]",
    "a loop over its items": "s = np.zeros(3)\n    for k in t:\n        s = s * 0.5 + x[k]\n    return s",
    "two lists at once": "s = np.zeros(3)"
    "\n    for k, v in zip(t, w):\n        s = s * 0.5 + x[k] * v\n    return s",
    "an enumeration": "s = np.zeros(3)"
    "\n    for k, v in enumerate(w):\n        s = s * 0.5 + k * v\n    return s",
    "a loop over places": "s = np.zeros(3)"
    "\n    for k in range(len(t)):\n        s = s + x[t[k]] * w[k]\n    return s",
    "the list itself": "return t, x[t]",
    "the list in containers": "return {'t': t, 'y': x[t]}, [t]",
}
#: Functions of the same arguments that need the list itself.
OF_PYTHON: dict[str, str] = {
    "a longer list": "return x[t + [1]]",
    "a longer list on the right": "return x[[1] + t]",
    "a repeated list": "return x[t * 2]",
    "a list repeated from the left": "return x[2 * t]",
    "append": "t.append(3)\n    return x[t]",
    "an item that is assigned": "t[0] = 2\n    return x[t]",
    "extend": "t += [1, 2]\n    return x[t]",
    "sorted": "return x[sorted(t)]",
    "a set": "return x[list(set(t))].sum()",
    "membership": "return x * (2 if 3 in t else 3)",
    "count and index": "return x * t.count(3)",
    "a comparison": "return x * (2 if t == [1, 2, 3] else 3)",
    "a comparison of order": "return x * (2 if t < [2] else 3)",
    "text": "return x.sum(), str(t)",
    "text of a format": "return x.sum(), f'{t}'",
    "sums of Python": "return x * sum(t), max(w), min(t)",
    "unpacking": "a, *b = t or [1]\n    return x[a]",
    "a copy": "return x[t.copy()]",
    "a nested list": "return np.array([t, t]) + 1",
    "a type": "return x[np.array(t)] if type(t) is list else 'no list'",
    "a shape": "return np.zeros(t[:3]) + 1",
    "a part that is returned": "return t[1:], x[t]",
    "map": "return x[list(map(int, w))]",
    "a comprehension": "return x[[k for k in t if k > 2]]",
    "stacking": "return np.stack(t or [1]), np.hstack(w or [1])",
    "an array of integers of floats": "return np.array(w, int)",
    "a place to write to": "np.put(x, t, w)\n    return x",
    "an attribute of arrays": "return t.shape",
    "an index of floats": "return x[w]",
    "arithmetic": "return t - 1",
    "attributes": "return x[np.array(t)] if hasattr(t, '__array__') else 'no array'",
    "a branch": "s = t if x[0, 0] > 0.5 else t[1:]\n    return x[s]",
    "a branch of two orders": "s = t\n    if x[0, 0] > 0.5:\n        s = t[::-1]\n    return x[s]",
    "a loop that shortens it": "for _ in range(12):\n        t = t[1:]\n        x = x * 2\n    return x[t]",
    "a loop that ends early": "s = x[0]\n    for k in t:\n        if s[0] > 3:\n            break\n"
    "        s = s + x[k]\n    return s",
    "a list that is printed": "print(t)\n    return x[t]",
    "a list in a dict": "o = {'t': t}\n    return x[o['t']], o",
    "a generator of choices": "return np.array([x[k, 0] for k in t])",
    "the largest item": "return x * max(t) if t else x",
    "a second dtype": "return np.add(np.float32(2), t), np.ones(3, np.float32) + w[:3]",
}


def _same(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, (tuple, list)):
        return type(found) is type(wanted) and len(found) == len(wanted) and all(map(_same, found, wanted))
    if isinstance(wanted, dict):
        return list(found) == list(wanted) and all(_same(found[key], wanted[key]) for key in wanted)
    if type(found) is not type(wanted) or np.shape(found) != np.shape(wanted):
        return False
    if isinstance(wanted, (np.ndarray, np.generic)):
        return found.dtype == wanted.dtype and np.allclose(found, wanted, rtol=1e-12, atol=1e-14)
    return found == wanted


def _functions(body: str) -> tuple[Any, Any]:
    source = f"import numpy as np\n\n\ndef f(x, t, w, n):\n    {body}\n"
    return load(source)["f"], np2tf.jit(load(translation(source))["f"])


def _arguments(rng: np.random.Generator, n: int, k: int) -> tuple[Any, ...]:
    return rng.random((50, 3)), rng.integers(-9, 9, n).tolist(), rng.random(n).tolist(), k


def _assert_same_call(np2tf_function: Any, numpys: Any, args: tuple[Any, ...]) -> None:
    own_args = tuple(arg.copy() if isinstance(arg, (list, np.ndarray)) else arg for arg in args)
    try:
        wanted = numpys(*own_args)
    except Exception as error:
        with pytest.raises(type(error)):
            np2tf_function(*args)
        return
    found = np2tf_function(*args)
    assert _same(found, wanted), (found, wanted)
    assert all(map(_same, args, own_args))
    if isinstance(wanted, tuple):
        assert [part is args[1] for part in found] == [part is own_args[1] for part in wanted]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", every_second(OF_LISTS))
def test_lists_of_all_lengths_share_code(name: str) -> None:
    numpys, np2tf_function = _functions(OF_LISTS[name])
    rng = np.random.default_rng(2)
    with np2tf.config.using(tier="compile"):
        for k, n in enumerate(LENGTHS):
            _assert_same_call(np2tf_function, numpys, _arguments(rng, n, k))
        traces = np2tf_function.trace_count
        calls = np2tf_function.compiled_count + np2tf_function.graph_count
        for n in range(33, 50):
            _assert_same_call(np2tf_function, numpys, _arguments(rng, n, n))
        assert np2tf_function.trace_count - traces <= 2
        assert np2tf_function.compiled_count + np2tf_function.graph_count - calls == 17


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", OF_PYTHON)
def test_other_uses_see_the_list(name: str) -> None:
    numpys, np2tf_function = _functions(OF_PYTHON[name])
    rng = np.random.default_rng(3)
    with np2tf.config.using(tier="compile"):
        for k, n in enumerate((*LENGTHS[:4], *LENGTHS[6:10], 4)):
            _assert_same_call(np2tf_function, numpys, _arguments(rng, n, k))


TRANSFORMER = """
import numpy as np


def normalise(x, scale, shift):
    mean, variance = np.mean(x, axis=-1, keepdims=True), np.var(x, axis=-1, keepdims=True)
    return scale * (x - mean) / np.sqrt(variance + 1e-5) + shift


def softmax(x):
    powers = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return powers / np.sum(powers, axis=-1, keepdims=True)


def attend(q, k, v, mask):
    return softmax(q @ k.T / np.sqrt(q.shape[-1]) + mask) @ v


def attention(x, inner, outer, heads):
    parts = [np.split(part, heads, axis=-1) for part in np.split(x @ inner, 3, axis=-1)]
    mask = (1 - np.tri(x.shape[0], dtype=x.dtype)) * -1e10
    return np.hstack([attend(q, k, v, mask) for q, k, v in zip(*parts)]) @ outer


def layer(x, before, after, inner, outer, up, down, heads):
    x = x + attention(normalise(x, **before), inner, outer, heads)
    return x + np.tanh(normalise(x, **after) @ up) @ down


def model(tokens, embedding, positions, layers, last, heads):
    x = embedding[tokens] + positions[range(len(tokens))]
    for weights in layers:
        x = layer(x, **weights, heads=heads)
    return normalise(x, **last) @ embedding.T


def generate(tokens, weights, heads, count):
    for _ in range(count):
        logits = model(tokens, **weights, heads=heads)
        tokens.append(int(np.argmax(logits[-1])))
    return tokens[len(tokens) - count:]
"""


def _weights(width: int, layer_count: int) -> dict[str, Any]:
    rng = np.random.default_rng(4)

    def matrix(*shape: int) -> np.ndarray:
        return rng.standard_normal(shape) * 0.3

    def norm() -> dict[str, np.ndarray]:
        return {"scale": rng.random(width) + 1, "shift": rng.random(width)}

    layers = [
        {
            "before": norm(),
            "after": norm(),
            "inner": matrix(width, 3 * width),
            "outer": matrix(width, width),
            "up": matrix(width, 4 * width),
            "down": matrix(4 * width, width),
        }
        for _ in range(layer_count)
    ]
    return {"embedding": matrix(50, width), "positions": matrix(64, width), "layers": layers, "last": norm()}


def test_a_transformer_generates_tokens_from_a_list() -> None:
    numpys, own = load(TRANSFORMER), load(translation(TRANSFORMER))
    weights = _weights(16, 2)
    with np2tf.config.using(tier="compile"):
        tokens = [3, 1, 4, 1, 5, 9]
        for _ in range(40):
            logits = own["model"](tokens, **weights, heads=4)
            np.testing.assert_allclose(
                logits, numpys["model"](tokens, **weights, heads=4), rtol=1e-9, atol=1e-12
            )
            tokens.append(int(np.argmax(logits[-1])))
        assert own["model"].trace_count <= 4
        calls = own["model"].compiled_count + own["model"].graph_count
        assert calls == 40
        assert own["generate"](tokens[:5], weights, 4, 12) == numpys["generate"](tokens[:5], weights, 4, 12)


def test_a_graph_serves_lengths_of_any_size() -> None:
    numpys, np2tf_function = _functions("return np.sort(x[t, 0]), np.sort(w)")
    rng = np.random.default_rng(5)
    with np2tf.config.using(tier="compile"):
        for n in (*range(5, 12), 17, 18, 40, 41, 100, 101, 12, 1000):
            _assert_same_call(np2tf_function, numpys, _arguments(rng, n, 0))
        # Two lengths, the graph for 3 to 16, and the graph for all others.
        assert np2tf_function.trace_count == 4
        assert np2tf_function.graph_count == 13


def test_lists_by_keyword_and_twice() -> None:
    @np2tf.jit
    def doubled(x, a, *, b):
        return x[a] + x[b]

    x = np.arange(50.0)
    with np2tf.config.using(tier="compile"):
        for n in range(20, 30):
            values = [*range(n)]
            np.testing.assert_array_equal(doubled(x, values, b=values), 2 * x[:n])
            np.testing.assert_array_equal(doubled(x, values, b=values[::-1]), x[n - 1] * np.ones(n))
        assert doubled.trace_count == 6
        with pytest.raises(ValueError, match="broadcast"):
            doubled(x, [*range(20)], b=[*range(21)])


def test_lists_of_other_items_keep_their_lengths() -> None:
    @np2tf.jit
    def rows(x, t):
        return x[t] * 2

    x = np.arange(30.0)
    with np2tf.config.using(tier="compile"):
        for n in range(10, 15):
            mask = [True, False] * 15
            np.testing.assert_array_equal(rows(x, mask), x[mask] * 2)
            np.testing.assert_array_equal(rows(x, [*range(n)]), x[:n] * 2)
            for wrong in ([*range(n), 2**70], [*range(n), 1.0], [*range(n), 30], [*range(n), -31]):
                with pytest.raises(IndexError):
                    rows(x, wrong)


def test_numbers_that_a_dtype_lacks_are_left_to_numpy() -> None:
    numpys, np2tf_function = _functions("return np.array(t, np.int8), x[0]")
    floats = _functions("return np.array(t, np.float32), x[0]")
    rng = np.random.default_rng(6)
    with np2tf.config.using(tier="compile"):
        for n in range(20, 26):
            x, t, w, k = _arguments(rng, n, 0)
            for number in (127, -128, 128, -129):
                _assert_same_call(np2tf_function, numpys, (x, [*t, number], w, k))
            # (Before the third length the numbers are inputs one by one, which are rounded in one step.)
            for number in (2**53 + 1, 2**62 + 2**38 + 1)[: 2 if n > 23 else 1]:
                _assert_same_call(*floats[::-1], (x, [*t, number], w, k))


def test_a_part_without_items() -> None:
    numpys, np2tf_function = _functions("return np.array(t[n:]), x[t[n:]], x[range(n, len(t))]")
    rng = np.random.default_rng(7)
    with np2tf.config.using(tier="compile"):
        for n in range(20, 26):
            for k in (n, n - 1, n + 3, 2):
                _assert_same_call(np2tf_function, numpys, _arguments(rng, n, k))


def test_arrays_stay_open_where_lists_cannot() -> None:
    @np2tf.jit
    def total(x, t):
        return x.sum() + sorted(t)[0]

    with np2tf.config.using(tier="compile"):
        for n in range(20, 30):
            for t in ([1, 2], [1, 2, 3], [2, 3, 4, 5]):
                assert total(np.ones(n), t) == n + t[0]
        # For each length of the list two lengths of the array and all others, and an attempt in vain.
        assert total.trace_count <= 13


def test_a_list_that_is_read_by_name() -> None:
    values = [*range(20)]
    x = np.arange(60.0)

    @np2tf.jit
    def both(t):
        return x[t] + x[values][0]

    with np2tf.config.using(tier="compile"):
        for n in range(20, 26):
            values[:] = range(1, n)
            np.testing.assert_array_equal(both(values), x[1:n] + 1)
            np.testing.assert_array_equal(both([*range(n)]), x[:n] + 1)
