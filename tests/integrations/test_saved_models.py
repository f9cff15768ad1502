"""Saved functions against NumPy: in this process, and in a process where np2tf cannot be imported."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import np2tf
from np2tf.integrations.serving.inputs import InputError, signature_text, spec_of
from tests.helpers import served_programs as programs

#: A process with the model, TensorFlow and NumPy only; it writes what the models return.
ALONE = """
import sys
sys.modules["np2tf"] = None  # importing it fails
import numpy as np, tensorflow as tf
from pathlib import Path
for folder in sorted(Path(sys.argv[1]).iterdir()):
    given = np.load(folder / "given.npz")
    model = tf.saved_model.load(str(folder / "model"))
    made = model(*[tf.constant(given[f"arr_{k}"]) for k in range(len(given.files))])
    np.savez(folder / "made.npz", *[one.numpy() for one in tf.nest.flatten(made)])
    served = model.signatures["serving_default"]
    names = [one.name for one in model.__call__.concrete_functions[0].structured_input_signature[0]]
    flat = served(**{name: tf.constant(given[f"arr_{k}"]) for k, name in enumerate(names)})
    assert len(flat) == len(tf.nest.flatten(made))
assert not any(name.startswith("np2tf") and module for name, module in sys.modules.items())
"""


def arguments(name: str) -> list[Any]:
    """Copies of the arguments, since programs may write to them."""
    return [np.array(argument)[()] for argument in programs.GOOD[name][1]]


def assert_same(found: Any, wanted: Any) -> None:
    """Structure, dtype, shape and values are equal."""
    if isinstance(wanted, dict):
        assert list(found) == sorted(wanted)
        found, wanted = list(found.values()), [wanted[key] for key in found]
    if isinstance(wanted, (list, tuple)):
        assert type(found) is type(wanted)
        assert len(found) == len(wanted)
        for found_part, wanted_part in zip(found, wanted):
            assert_same(found_part, wanted_part)
        return
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-14)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All good programs, saved, with their arguments."""
    folder = tmp_path_factory.mktemp("models")
    for name, (inputs, _) in programs.GOOD.items():
        np2tf.save(getattr(programs, name), folder / name / "model", [inputs])
        np.savez(folder / name / "given.npz", *arguments(name))
    return folder


@pytest.mark.parametrize("name", programs.GOOD)
def test_loaded_functions_equal_numpy(models: Path, name: str) -> None:
    loaded = np2tf.load(models / name / "model")
    assert_same(loaded(*arguments(name)), getattr(programs, name)(*arguments(name)))


def test_models_load_where_np2tf_is_absent(models: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", ALONE, str(models)], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-3000:]
    for name in programs.GOOD:
        made = np.load(models / name / "made.npz")
        wanted = tf.nest.flatten(getattr(programs, name)(*arguments(name)))
        assert_same([made[f"arr_{k}"] for k in range(len(made.files))], wanted)


@pytest.mark.parametrize("name", programs.BAD)
def test_what_needs_this_process_is_refused(tmp_path: Path, name: str) -> None:
    inputs, code = programs.BAD[name]
    with pytest.raises(np2tf.StagingError) as caught:
        np2tf.save(getattr(programs, name), tmp_path, [inputs])
    assert caught.value.code == code
    assert list(tmp_path.iterdir()) == []
    assert programs.SEEN == []
    assert programs.WEIGHTS[0, 0] == programs.COUNTER.total[0] == 0


def test_callbacks_of_the_program_are_refused(tmp_path: Path) -> None:
    @np2tf.jit
    def doubled(x):
        return tf.py_function(lambda y: y * 2, [x], tf.float64)

    with pytest.raises(np2tf.StagingError) as caught:
        np2tf.save(doubled, tmp_path, [["f64[?]"]])
    assert caught.value.code in ("NP2TF539", "NP2TF558")


@pytest.mark.parametrize("name", ["checked", "picked"])
def test_models_raise_where_numpy_raises(models: Path, name: str) -> None:
    args = {"checked": [-np.ones(3)], "picked": [np.ones(3), np.int64(7)]}[name]
    with pytest.raises(tf.errors.InvalidArgumentError):
        np2tf.load(models / name / "model")(*args)


def test_a_model_holds_the_arrays_of_its_time(tmp_path: Path) -> None:
    weights = np.array([1.0, 2.0])

    def scaled(x):
        return x * weights

    np2tf.save(scaled, tmp_path, [["f64[?, 2]"]])
    weights[:] = 0.0
    assert_same(np2tf.load(tmp_path)(np.ones((3, 2))), np.ones((3, 2)) * [1.0, 2.0])


def test_jitted_translated_and_bound_functions(tmp_path: Path) -> None:
    class Model:
        def __init__(self) -> None:
            self.scale = np.array([2.0, 3.0])

        def predict(self, x):
            return x * self.scale + len(x)

    x = np.ones((4, 2))
    wanted = Model().predict(x)
    for k, function in enumerate(
        [Model().predict, np2tf.jit(Model().predict), np2tf.jit(lambda x: x * np.array([2.0, 3.0]) + len(x))]
    ):
        np2tf.save(function, tmp_path / str(k), [["x: f64[?, 2]"]])
        assert_same(np2tf.load(tmp_path / str(k))(x), wanted)


def test_several_signatures(tmp_path: Path) -> None:
    np2tf.save(programs.calls, tmp_path, [["x: f32[?]"], ["x: f64[?]"], ["x: f64[?, ?]", "power: f64"]])
    loaded = np2tf.load(tmp_path)
    assert sorted(loaded.signatures) == [
        "x: float32[?]",
        "x: float64[?, ?], power: float64",
        "x: float64[?]",
    ]
    for x in (np.ones(3, np.float32), np.ones(4)):
        assert_same(loaded(x), programs.calls(x))
    assert_same(loaded(power=3, x=np.ones((2, 2))), programs.calls(np.ones((2, 2)), np.float64(3.0)))
    assert_same(loaded([1.0, 2.0]), np.asarray(programs.calls(np.array([1, 2], np.float32))))
    with pytest.raises(TypeError, match=r", not int64\[3\]"):
        loaded(np.arange(3))
    with pytest.raises(TypeError, match="x: float32"):
        loaded()


def test_folders_that_are_not_empty(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("text")
    with pytest.raises(FileExistsError, match="not empty"):
        np2tf.save(programs.whole, tmp_path, [["i32[?]"]])
    np2tf.save(programs.whole, tmp_path, [["i32[?]"]], overwrite=True)
    assert_same(np2tf.load(tmp_path)(np.int32([5])), np.int32([4]))
    with pytest.raises(OSError, match="does not exist"):
        np2tf.load(tmp_path / "absent")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("x: f64[?, 3]", "x: float64[?, 3]"),
        ("float32[ 2 ,? ]", "float32[?]"),
        ("n:i64", "n: int64"),
        ("u8[]", "uint8"),
        ("b: bool[4,]", "b: bool[4]"),
        (np.ones((2, 3), np.complex64), "complex64[2, 3]"),
    ],
)
def test_inputs(text: Any, kind: str) -> None:
    assert signature_text([spec_of(text)]) == kind.replace("float32[?]", "float32[2, ?]")


@pytest.mark.parametrize(
    "text", ["", "x: f64[", "x f64", "x: f65", "f64[-1]", "f64[?, y]", "x: datetime64", "1x: f64"]
)
def test_inputs_that_are_not_understood(text: str) -> None:
    with pytest.raises(InputError, match="NP2TF951"):
        spec_of(text)


@pytest.mark.parametrize(
    ("inputs", "said"),
    [
        (["y: f64"], "no parameter 'y'"),
        (["x: f64", "x: f64"], "same name"),
        ([], "'x' needs an input"),
        (["f64", "f64", "f64"], "not the first 3"),
    ],
)
def test_signatures_that_do_not_fit(tmp_path: Path, inputs: list[str], said: str) -> None:
    with pytest.raises(InputError, match=said):
        np2tf.save(programs.calls, tmp_path, [inputs])


def test_stablehlo() -> None:
    text = np2tf.stablehlo(programs.dense, ["f64[4, 3]", "f64[3, 2]"])
    assert "stablehlo.dot" in text
    assert "tensor<4x3xf64>" in text
    with pytest.raises(InputError, match="all lengths"):
        np2tf.stablehlo(programs.dense, ["f64[?, 3]", "f64[3, 2]"])


def test_tensorflow_lite(tmp_path: Path) -> None:
    np2tf.save(programs.dense, tmp_path, [["x: f32[4, 3]", "w: f32[3, 2]"]])
    model = tf.lite.TFLiteConverter.from_saved_model(str(tmp_path)).convert()
    runner = tf.lite.Interpreter(model_content=model).get_signature_runner()
    x, w = np.arange(12, dtype=np.float32).reshape(4, 3), np.ones((3, 2), np.float32)
    np.testing.assert_allclose(runner(x=x, w=w)["output_0"], programs.dense(x, w), rtol=1e-6)
