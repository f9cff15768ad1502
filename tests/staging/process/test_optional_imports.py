"""np2tf's own import of TensorFlow leaves out what TensorFlow imports only where it is installed."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from np2tf.staging.process.optional_imports import optional_libraries_left_out

_PROGRAM = """
import sys
import np2tf
from np2tf.core import settings
from np2tf.staging.tiers.call_context import load
settings.program.starts_as_source = True
load()
assert "tensorflow" in sys.modules
assert not {"jax", "matplotlib"} & sys.modules.keys()
import jax, matplotlib, keras
print(keras.layers.Dense(2)(jax.numpy.ones((1, 3)).tolist() and __import__("numpy").ones((1, 3))).shape)
"""


def test_a_program_of_numpy_imports_them_when_it_asks_for_them() -> None:
    done = subprocess.run([sys.executable, "-c", _PROGRAM], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "(1, 2)\n"


def test_other_threads_import_them_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    import jax

    monkeypatch.delitem(sys.modules, "jax")
    found = []
    finders = list(sys.meta_path)
    with optional_libraries_left_out():
        with pytest.raises(ModuleNotFoundError, match="No module named 'jax'"):
            import jax
        thread = threading.Thread(target=lambda: found.append(sys.meta_path[0].find_spec("jax", None)))
        thread.start()
        thread.join()
    assert found == [None]
    assert sys.meta_path == finders
    assert jax.__name__ == "jax"
