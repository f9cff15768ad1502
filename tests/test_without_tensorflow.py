"""TensorFlow is imported by the first tensor, compilation or device, and not before."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = """
    import sys
    import numpy as np
    from numpy.linalg import norm

    TABLE = np.linspace(0, 1, 5)

    class Filter:
        def __init__(self, n):
            self.x = np.zeros(n)

        def update(self, z):
            self.x[0] += z
            self.x[1:] = self.x[:-1] * 0.5
            return self.x.sum()

    def smooth(u, n):
        for i in range(n):
            v = u.copy()
            u[1:-1] = 0.5 * (v[2:] + v[:-2])
            if np.abs(u - v).max() < 1e-12:
                break
        return u

    def draw(seed):
        rng = np.random.default_rng(seed)
        np.random.seed(seed)
        return rng.normal(size=3) + np.random.rand(3)

    f = Filter(4)
    total = sum(f.update(z) for z in range(10))
    masked = np.ma.masked_where(TABLE > 0.5, TABLE)
    values = np.add.reduce(np.c_[TABLE, TABLE], axis=0), np.einsum("i,i", TABLE, TABLE), np.fft.fft(TABLE)
    np.add.at(f.x, [0, 0], 1.0)
    isinstance(f.x, np.ndarray)
    print(total, smooth(np.eye(5), 50).sum(), draw(3), norm(TABLE), masked.sum(), values, f.x)
    print("tensorflow" in sys.modules, "libcst" in sys.modules)
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "script.py"
    path.write_text(dedent(PROGRAM))
    return path


def run(*command: object) -> list[str]:
    done = subprocess.run([sys.executable, *map(str, command)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_program_that_compiles_nothing(script: Path) -> None:
    """`np2tf run` prints what Python prints, and TensorFlow stays out of it."""
    *expected, _ = run(script)
    *printed, modules = run(ROOT / "cli.py", "run", script)
    assert printed == expected
    assert modules.startswith("False")


def test_importing_and_working_by_hand() -> None:
    (answer,) = run(
        "-c",
        dedent(
            """
            import sys
            import np2tf
            from np2tf import tnp
            x = tnp.at(tnp.zeros(3))[0].set(1.0)
            assert isinstance(x, tnp.ndarray)
            assert np2tf.config.using(jit="off") and tnp.random.RandomState(0).rand(2).shape == (2,)
            assert tnp.sin.reduce is not None and tnp.mgrid[0:2].shape == (2,) and tnp.float_
            before = "tensorflow" in sys.modules
            t = np2tf.device_put(x)
            print(before, "tensorflow" in sys.modules, {type(t), type(tnp.sin(t))} == {tnp.ndarray})
            """
        ),
    )
    assert answer == "False True True"


def test_operators_in_a_plain_tensorflow_function() -> None:
    """They stage there, also before anything else of np2tf has needed TensorFlow."""
    (answer,) = run(
        "-c",
        dedent(
            """
            import np2tf
            before = np2tf.while_loop(lambda i: i < 3, lambda i: (i + 1,), (0,))
            import tensorflow as tf

            @tf.function(autograph=False)
            def f(n):
                return np2tf.while_loop(lambda i: i < n, lambda i: (i + 2,), (tf.constant(0),))

            print(before, f(tf.constant(5))[0].numpy())
            """
        ),
    )
    assert answer == "(3,) 6"


def test_a_tensor_of_somebody_elses() -> None:
    """A program that imports TensorFlow by itself gives tensors to `tnp` right away."""
    (answer,) = run(
        "-c",
        dedent(
            """
            from np2tf import tnp
            import tensorflow as tf
            kinds = [type(tnp.square(tf.constant(2.0))).__name__, type(tnp.zeros(2)).__name__]
            with tf.GradientTape() as tape:
                v = tf.Variable([1.0, 2.0])
                buffer = tnp.at(tnp.zeros(2, "float32"))[0].set(tnp.square(v)[1])
                total = tnp.sum(buffer)
            print(*kinds, tape.gradient(total.tensor, v).numpy().tolist())
            """
        ),
    )
    assert answer == "scalar ndarray [0.0, 4.0]"
