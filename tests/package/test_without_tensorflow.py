"""TensorFlow is imported by the first tensor, compilation or device, and not before."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

ROOT = Path(__file__).resolve().parents[2]
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
            before = np2tf.while_loop(lambda i: i < 3, lambda i: i + 1, 0)
            import tensorflow as tf

            @tf.function(autograph=False)
            def f(n):
                return np2tf.while_loop(lambda i: i < n, lambda i: i + 2, tf.constant(0))

            print(before, f(tf.constant(5)).numpy())
            """
        ),
    )
    assert answer == "3 6"


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


# -- TensorFlow that cannot be imported ----------------------------------------------------------------------

REFUSED = """
    import sys

    class Refusing:
        def find_spec(self, name, path=None, target=None):
            if name.partition(".")[0] == "tensorflow":
                raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    sys.meta_path.insert(0, Refusing())
"""
HALF = REFUSED.replace('name.partition(".")[0] == "tensorflow"', 'name.startswith("tensorflow.python")')
STUB = "import sys, types; sys.modules['tensorflow'] = types.ModuleType('tensorflow')"
FORBIDDEN = "import sys; sys.modules['tensorflow'] = None"
#: Everything in which np2tf would use TensorFlow, on NumPy; and what cannot do without it.
WITHOUT = """
    import warnings
    import numpy as np
    import np2tf
    from np2tf import tnp

    with warnings.catch_warnings(record=True) as records:
        warnings.simplefilter("always")

        @np2tf.jit(tier="compile")
        def relax(x, n):
            for k in range(n):
                x[1:] = np.where(x[1:] > 0, x[1:] * 0.5, x[:-1] + 1)
            return x.sum()

        np2tf.config.tier = "compile"

        @np2tf.jit
        def double(x):
            i, x = np2tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * 2), (0, x))
            return tnp.sum(x) + np2tf.cond(x.sum() > 0, lambda: 1.0, lambda: 2.0)

        values = [relax(np.arange(4.0), 3), relax(np.arange(4.0), 3), double(np.ones(3))]
        np2tf.config.tier = "auto"
        from np2tf.staging.tiers.clock import clock
        clock.host_seconds = 1e3  # so that compiling seems to pay
        values += [relax(np.arange(3.0), 2) for _ in range(100)][-1:]
        values += [tnp.zeros(2).sum(), tnp.sin(np.zeros(2)).sum(), tnp.at(np.zeros(2))[0].set(1.0).sum()]
    print(*map(float, values))
    print(*(f"{type(x.message).__name__} {str(x.message).rpartition(': ')[2]}" for x in records), sep="; ")
    for ask in (
        lambda: np2tf.device_put(np.ones(3)),
        lambda: np2tf.save(relax, "folder", {}),
        lambda: np2tf.grad(lambda x: x * x)(1.0),
        lambda: np2tf.devices(),
    ):
        try:
            ask()
        except ImportError as error:
            print(type(error).__name__, "pip install 'np2tf[tf]'" in str(error))
"""


@pytest.mark.parametrize("how", ["refused", "half", "stub", "forbidden"])
def test_everything_else_runs_on_numpy(how: str) -> None:
    """One warning names the remedy; what asks for TensorFlow says what is missing."""
    hindrance = {"refused": REFUSED, "half": HALF, "stub": STUB, "forbidden": FORBIDDEN}[how]
    values, told, *errors = run("-c", dedent(hindrance) + dedent(WITHOUT))
    expected = [0.75, 0.75, 25.0, 0.75, 0.0, 0.0, 1.0]
    assert list(map(float, values.split())) == expected
    assert told == "TensorFlowWarning pip install 'np2tf[tf]'"
    assert errors == ["TensorFlowMissingError True"] * 4


@pytest.fixture
def broken(tmp_path: Path) -> dict[str, str]:
    """An environment in which importing TensorFlow fails, as a version does that does not fit."""
    (tmp_path / "first" / "tensorflow").mkdir(parents=True)
    init = "raise RuntimeError('module compiled against another version')"
    (tmp_path / "first" / "tensorflow" / "__init__.py").write_text(init)
    return {**os.environ, "PYTHONPATH": str(tmp_path / "first")}


def test_a_program_whose_tensorflow_is_broken(script: Path, broken: dict[str, str]) -> None:
    *expected, _ = run(script)
    command = [sys.executable, ROOT / "cli.py", "run", "--tier", "compile", "--report", script]
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=300, env=broken)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[:-1] == expected
    assert done.stderr.count("pip install 'np2tf[tf]'") == 1
    assert "RuntimeError: module compiled against another version" in done.stderr
    command[3:6] = ["--device", "cpu"]
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=300, env=broken)
    assert done.returncode != 0
    assert "pip install 'np2tf[tf]'" in done.stderr
    assert "Traceback" not in done.stderr
