"""TensorFlow's namespaces and Keras wait in np2tf's own import, and are as ever when something uses them."""

from __future__ import annotations

import ast
import importlib
import inspect
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from np2tf.arrays.front import tensorflow_namespaces

NP2TF = Path(tensorflow_namespaces.__file__).parents[2]

# -- waiting modules -----------------------------------------------------------------------------------------

SPACES = {
    "plain": '"""Plain."""\nvalue = 1\n',
    "circular": (
        "import spaces\nhad = hasattr(spaces.circular, 'late')\nlate = 1\nfrom spaces.circular import part\n"
    ),
    "circular/part": "from spaces.circular import late\n",
    "failing": "from spaces.plain import value\nif value == 1:\n    raise ValueError('one')\n",
    "slow": "import time\nruns = globals().get('runs', 0) + 1\ntime.sleep(0.2)\nvalue = 1\n",
}
entered: list[str] = []


@contextmanager
def unnoticed() -> Iterator[None]:
    """Note that a namespace is loaded."""
    entered.append("begin")
    yield
    entered.append("end")


@pytest.fixture
def spaces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Return a package whose modules wait."""
    for name, code in SPACES.items():
        (tmp_path / "spaces" / name).mkdir(parents=True)
        (tmp_path / "spaces" / name / "__init__.py").write_text(code)
    (tmp_path / "spaces" / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(tensorflow_namespaces, "_PACKAGE", "spaces")
    monkeypatch.setattr(tensorflow_namespaces, "_IN_ORDER", ())
    monkeypatch.setattr(tensorflow_namespaces, "_waiting", {})
    entered.clear()
    with tensorflow_namespaces.namespaces_waiting(unnoticed):
        yield importlib.import_module("spaces")
    for name in [name for name in sys.modules if name.partition(".")[0] == "spaces"]:
        del sys.modules[name]


def test_a_module_waits_until_it_is_used(spaces: Any) -> None:
    module = spaces.plain
    assert isinstance(module, ModuleType)
    assert "spaces.plain" in repr(module)
    assert module.__file__.endswith("__init__.py")
    assert "spaces.plain" not in sys.modules
    assert entered == []
    assert module.value == 1
    assert entered == ["begin", "end"]
    assert sys.modules["spaces.plain"] is module is spaces.plain
    assert type(module) is ModuleType
    assert module.__spec__.loader is module.__loader__
    assert inspect.getsource(module) == SPACES["plain"]


def _star() -> int:
    space: dict[str, Any] = {}
    exec("from spaces.plain import *", space)
    return space["value"]


@pytest.mark.parametrize(
    ("use", "expected"),
    [
        (lambda spaces: vars(spaces.plain)["value"], 1),
        (lambda spaces: spaces.plain.__dict__["value"], 1),
        (lambda spaces: "value" in dir(spaces.plain), True),
        (lambda spaces: spaces.plain.__doc__, "Plain."),
        (lambda spaces: hasattr(spaces.plain, "other"), False),
        (lambda spaces: importlib.import_module("spaces.plain").value, 1),
        (lambda spaces: _star(), 1),
        (lambda spaces: pickle.loads(pickle.dumps(spaces.plain)) is spaces.plain, True),
        (lambda spaces: (setattr(spaces.plain, "value", 2), spaces.plain.value)[1], 2),
        (lambda spaces: (delattr(spaces.plain, "value"), hasattr(spaces.plain, "value"))[1], False),
    ],
)
def test_uses(spaces: Any, use: Callable[[Any], object], expected: object) -> None:
    assert use(spaces) == expected
    assert type(spaces.plain) is ModuleType
    assert entered == ["begin", "end"]


def test_a_loop_over_all_modules_loads_none(spaces: Any) -> None:
    assert not any(getattr(module, "no_such_name", None) for module in sys.modules.values())
    assert entered == []


def test_modules_that_use_themselves_while_they_load(spaces: Any) -> None:
    assert spaces.circular.part.late == 1
    assert spaces.circular.had is False


def test_a_failed_import_is_tried_again(spaces: Any) -> None:
    with pytest.raises(ValueError, match="one"):
        spaces.failing.value
    assert "spaces.failing" not in sys.modules
    spaces.plain.value = 3
    assert spaces.failing.value == 3
    assert type(spaces.failing) is ModuleType


def test_threads_wait_for_the_one_that_loads(spaces: Any) -> None:
    values: list[int] = []
    threads = [threading.Thread(target=lambda: values.append(spaces.slow.value)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert values == [1] * 4
    assert spaces.slow.runs == 1


def test_other_threads_import_as_ever(spaces: Any) -> None:
    del sys.modules["spaces"]
    tensorflow_namespaces._waiting.clear()
    thread = threading.Thread(target=lambda: importlib.import_module("spaces"))
    thread.start()
    thread.join()
    assert not hasattr(sys.modules["spaces"], "plain")
    assert importlib.import_module("spaces.plain").value == 1
    assert entered == []


# -- TensorFlow ----------------------------------------------------------------------------------------------

OWN_IMPORT = """
import random, sys, threading, types, warnings
import numpy as np
import np2tf
from np2tf import tnp
from np2tf.staging.process.tensorflow_import import program

np2tf.config.tier = "compile"

@np2tf.jit
def work(x):
    for i in np2tf.range(200):
        x = tnp.sort(tnp.sin(x) + tnp.convolve(x, x)[: len(x)])
        x = tnp.moveaxis(x.reshape(20, 20) / x.max(), 0, 1).ravel()
    return x, tnp.linalg.norm(x)

work(np.linspace(0, 1, 400))
tf = sys.modules["tensorflow"]
waiting = {name for name, value in vars(tf).items() if isinstance(value, types.ModuleType)}
waiting = {name for name in waiting if type(vars(tf)[name]).__name__ == "_Waiting"}
assert waiting >= {"compat", "data", "debugging", "experimental", "feature_column", "lite", "nn", "train"}
assert not {"keras", "jax", "matplotlib", "tensorflow._api.v2.lite"} & sys.modules.keys()
assert not program.has_tensorflow
"""
PROGRAM = """
random.seed(0), np.random.seed(0)
warnings.filterwarnings("error", "mine")
filters = list(warnings.filters)
for name in sorted(waiting):
    assert type(vars(vars(tf)[name])["__name__"]) is str
tf.keras.layers.Dense
assert (random.random(), np.random.random()) == (0.8444218515250481, 0.5488135039273248)
assert warnings.filters == filters
from tensorflow.python.ops import gen_math_ops, nn_ops
assert tf.sin is tf.math.sin is gen_math_ops.sin and tf.nn.gelu is nn_ops.gelu
assert hasattr(tf.Tensor, "__round__")
"""
USES = """
import tempfile

def keras():
    from tensorflow.keras import layers
    assert program.has_tensorflow
    model = tf.keras.Sequential([layers.Dense(2), layers.Lambda(tf.sin)])
    model.compile("adam", "mse")
    model.fit(np.ones((4, 3)), np.ones((4, 2)), verbose=0)
    import keras
    assert isinstance(model, keras.Sequential)
    assert tf.optimizers.Adam is keras.optimizers.Adam

def data():
    from tensorflow import data
    assert [int(k) for k in data.Dataset.range(2).map(lambda k: k + 1)] == [1, 2]

def saved():
    model, folder = tf.Module(), tempfile.mkdtemp()
    model.twice = tf.function(lambda x: x * 2, input_signature=[tf.TensorSpec((2,))])
    tf.saved_model.save(model, folder)
    assert tf.saved_model.load(folder).twice(tf.ones(2)).numpy().tolist() == [2, 2]
    assert tf.lite.TFLiteConverter.from_saved_model(folder).convert()

def compatible():
    import tensorflow.compat.v1 as tf1
    with tf1.Graph().as_default(), tf1.Session() as session:
        x = tf.compat.v1.placeholder(tf1.float32, ())
        assert session.run(x * 2, {x: 3}) == 6
    assert tf.feature_column.numeric_column("x").key == "x"

def distributed():
    with tf.distribute.MirroredStrategy().scope():
        assert "Mirrored" in type(tf.Variable(1.0)).__name__

def others():
    import jax
    import tensorflow.experimental.numpy as tnp
    assert float(tnp.sin(0.0)) == float(jax.numpy.sin(0.0)) == 0

def run(*functions):
    for function in functions:
        try:
            function()
            print(function.__name__)
        except BaseException as error:
            print(function.__name__, repr(error))

thread = threading.Thread(target=run, args=(distributed, data, keras))
thread.start()
run(compatible, saved, others)
thread.join()
"""


def _output_of(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_nothing_else_of_the_program_changes_when_they_load() -> None:
    assert _output_of(OWN_IMPORT + PROGRAM) == ""


def test_a_program_uses_all_of_tensorflow_from_two_threads() -> None:
    names = ["compatible", "data", "distributed", "keras", "others", "saved"]
    assert sorted(_output_of(OWN_IMPORT + USES).splitlines()) == names


def test_the_programs_own_import_is_as_ever() -> None:
    text = "import np2tf.tnp, sys, tensorflow as tf\nassert 'keras' in sys.modules\n"
    assert _output_of(text + "np2tf.tnp.asarray(tf.ones(2))\nassert type(tf.lite) is type(sys)\n") == ""


# -- np2tf's code --------------------------------------------------------------------------------------------


def test_np2tf_uses_no_namespace_that_takes_long_to_load() -> None:
    """`tf.distribute` and `tf.saved_model` are what their users ask for."""
    slow = {"__internal__", "compat", "debugging", "experimental", "lite", "nn", "raw_ops", "train"}
    found = {
        (path.name, node.attr)
        for path in NP2TF.rglob("*.py")
        if "rules" not in path.parts
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "tf"
    }
    assert {(name, attr) for name, attr in found if attr in slow} == {("replicas.py", "raw_ops")}
