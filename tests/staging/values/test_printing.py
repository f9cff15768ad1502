"""`print` and text of values in compiled functions: what NumPy prints, in order, once per call."""

from __future__ import annotations

import contextlib
import io
import random
import threading
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import np2tf
from np2tf.staging.host.jit import UnjittedWarning
from tests.helpers import random_lines
from tests.helpers.differential import HEAD, compare, load, translation


@pytest.fixture(autouse=True)
def compiled() -> Iterator[None]:
    with np2tf.config.using(jit="on", tier="compile"):
        yield


def functions(body: str) -> tuple[Any, Any]:
    """The function `f` of a source on NumPy, and its translation."""
    source = HEAD + body
    return load(source)["f"], load(translation(source))["f"]


PRINTS = """
import sys



def f(x):
    for i in range(len(x)):
        if x[i] > 1:
            print("large", i, x[i])
        print(end="")
        print("to the other", i, file=sys.stderr)
        x[i] = x[i] / 3
    print(x, x[0], x.dtype, True, None, (i, x[:1]), sep="|", end="#", flush=True)
    return f"{x[1]}"
"""


def test_both_streams(capsys: pytest.CaptureFixture[str]) -> None:
    reference, translated = functions(PRINTS)
    for argument in (np.arange(12.0), np.arange(12, dtype=np.float32), -np.ones(9)):
        wanted = reference(argument.copy()), capsys.readouterr()
        for _ in range(2):  # at the trace and after it
            assert (translated(argument.copy()), capsys.readouterr()) == wanted
    assert translated.explain(np.arange(12.0)).runs == "graph"
    assert "prints" in translated.explain(np.arange(12.0)).not_xla
    assert capsys.readouterr() == ("", "")
    assert translated.trace_count == 3


def test_the_streams_are_those_of_the_call() -> None:
    _, translated = functions(PRINTS)
    for _ in range(2):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            translated(np.arange(3.0))
        assert out.getvalue().startswith("large 2 2.0\n[0. ")
        assert err.getvalue() == "to the other 0\nto the other 1\nto the other 2\n"


def test_print_options_of_the_caller(capsys: pytest.CaptureFixture[str]) -> None:
    _, translated = functions("def f(x):\n    print(x / 3)\n    return f'{np.sqrt(x)}'")
    for digits in (2, 5):
        with np.printoptions(precision=digits):
            assert translated(np.arange(3.0)) == f"{np.sqrt(np.arange(3.0))}"
            assert capsys.readouterr().out == f"{np.arange(3.0) / 3}\n"


def test_a_discarded_call_prints_once(capsys: pytest.CaptureFixture[str]) -> None:
    body = (
        "def f(x, k):\n    for i in range(len(x)):\n        print(i)\n        x[i] = x[k] + i\n    return x"
    )
    reference, translated = functions(body)
    translated(np.arange(12.0), 3)
    capsys.readouterr()
    for k in (3, 20, 5):
        texts = []
        for function in (reference, translated):
            with contextlib.suppress(IndexError):
                function(np.arange(12.0), np.int64(k))
            texts.append(capsys.readouterr().out)
        assert texts[0] == texts[1]


def test_gradients_print_once(capsys: pytest.CaptureFixture[str]) -> None:
    _, translated = functions(
        "def f(x):\n    s = 0.0\n    for i in range(len(x)):\n        print(i, x[i])\n"
        "        s = s + x[i] * x[i]\n    return s"
    )
    x = tf.constant(np.arange(10.0))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = translated(np2tf.tnp.asarray(x))
        y = y.tensor
    assert capsys.readouterr().out == "".join(f"{i} {float(i)}\n" for i in range(10))
    np.testing.assert_allclose(tape.gradient(y, x), 2 * np.arange(10.0))
    assert capsys.readouterr().out == ""


def test_within_somebody_elses_graph(capsys: pytest.CaptureFixture[str]) -> None:
    _, translated = functions("def f(x):\n    print('sum', np.sum(x))\n    print(f'{x}')\n    return x * 2")
    inside = tf.function(lambda t: translated(np2tf.tnp.asarray(t)).tensor, autograph=False)
    for _ in range(2):
        inside(tf.constant([1.0, 2.0], tf.float64))
        assert capsys.readouterr().out == "sum 3.0\n[1. 2.]\n"


def test_threads_do_not_mix_their_lines() -> None:
    _, translated = functions(
        "def f(x):\n    for i in range(len(x)):\n        print(x[i], end=' ')\n    print()\n    return x"
    )
    translated(np.zeros(30))
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        threads = [threading.Thread(target=translated, args=(np.full(30, float(k)),)) for k in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    values = out.getvalue().split()
    assert sorted(values) == sorted([f"{float(k)}" for k in range(6)] * 30)


def test_methods_keep_text(capsys: pytest.CaptureFixture[str]) -> None:
    source = (
        HEAD + "class Model:\n"
        "    def __init__(self):\n        self.w = np.ones(12)\n        self.log = ''\n\n"
        "    def step(self, x):\n"
        "        for i in range(len(x)):\n            self.w[i] = self.w[i] * x[i]\n"
        "        print('norm', self.w.sum())\n        return f'{self.w[:2]}'\n"
    )
    texts = []
    for text in (source, translation(source)):
        model = load(text)["Model"]()
        texts.append(([model.step(np.full(12, k)) for k in (2.0, 3.0)], capsys.readouterr().out))
    assert texts[0] == texts[1]
    assert "norm 24.0" in texts[0][1]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("    return str(x[0]) == '0.0', x", "NP2TF531"),
        ("    return '{}'.format(x[0]).upper(), x", "NP2TF531"),
        ("    key = '%s' % x[0]\n    return {key: 1}, x", "NP2TF531"),
        ("    t = '-'.join(['a', str(x[0])])\n    return t", "NP2TF531"),
        (
            "    n = np.arange(2)\n    if x[0] >= 0:\n        n = x * 2\n    print(n)\n    return x",
            "NP2TF530",
        ),
    ],
)
def test_what_text_cannot_be_used_for(body: str, code: str, capsys: pytest.CaptureFixture[str]) -> None:
    loop = "def f(x):\n    for i in range(len(x)):\n        x[i] = x[i] * 2\n"
    reference, translated = functions(loop + body)
    wanted = repr(reference(np.arange(9.0))), capsys.readouterr()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = repr(translated(np.arange(9.0))), capsys.readouterr()
    assert found[1] == wanted[1]
    assert found[0].replace("ndarray", "array") == wanted[0]
    told = [str(warning.message) for warning in caught if warning.category is UnjittedWarning]
    assert [message.split()[0] for message in told] == [code]


def test_types_that_text_shows() -> None:
    """Numbers of Python and of NumPy, in lists and by repr."""
    compare(
        HEAD + "def f(x, n):\n"
        "    s, k, t = 0, 0, False\n"
        "    for v in x:\n        s += v\n        k += 2\n        t = v > 3\n"
        "    print([s, k], t, f'{s!r} {k!r}', (x.sum(), len(x), n), {'a': x[:2]}, repr(s), str([k]))\n"
        "    return x",
        "np.arange(12.), 3",
        "np.arange(12), 2.5",
        "np.arange(12, dtype=np.float32), 1",
    )


_LINES = (
    "print(i, a, b)",
    "print(f'{a:.3f} {b!s:>8}', x[:2])",
    "a = a + x[i % 6]",
    "b = b * 0.5 - a",
    "x[i % 6] = a",
    "text = f'{a}'",
    "print('a is %s' % a, end=';')",
    "if a > {n}:\n    print('more', a)\n    b = a - {n}",
    "if b > a:\n    print('b')\nelse:\n    print(b, sep='')",
    "for j in range({m}):\n    a = a + j\n    if a > 40:\n        print(j)\n        break\n    print(a)",
    "while a > 9:\n    a = a - 5.5\n    print('down', a)",
    "if a > {n} + 60:\n    raise ValueError(f'too large: {a}')",
    "print([x[0]], x[i % 7 - 1])",
)


_WORDS: dict[str, object] = {"n": range(-5, 10), "m": ("3", "12", "int(x[2])")}


def _program(chance: random.Random) -> str:
    def lines(depth: int) -> list[str]:
        return random_lines.lines(chance, _LINES, depth, _WORDS)

    body = [
        "    a, b, i, text = x[1] * 1.0, x[2] * 1.0, 0, ''",
        *lines(1),
        "    for i in range(len(x)):",
        *lines(2),
        "    print('end', a, b, x)",
        "    return a, b, x, f'{a} {x.sum()}'",
    ]
    return HEAD + "def f(x):\n" + "\n".join(body) + "\n"


@pytest.mark.parametrize("seed", range(12))
def test_random_programs(seed: int) -> None:
    random_lines.judge(_program(random.Random(seed)))


def test_text_of_warnings_and_logs(caplog: pytest.LogCaptureFixture) -> None:
    source = """
import logging
import warnings

log = logging.getLogger("of_text")


def f(x, least):
    for i in range(len(x)):
        if x[i] < least:
            warnings.warn(f"element {i} is only {x[i]:.2f}", RuntimeWarning, stacklevel=2)
            log.warning(f"sum {x.sum():.1f}")
    return x.sum()
"""
    told = []
    for function in functions(source):
        caplog.clear()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = function(np.arange(20.0) / 7, 0.5)
        assert result == pytest.approx(190 / 7)
        told.append(([str(warning.message) for warning in caught], caplog.messages))
    assert told[0] == told[1]
    assert list(map(len, told[0])) == [4, 4]
