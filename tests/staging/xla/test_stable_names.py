"""XLA's own cache finds in the second process what the first has compiled, whatever was traced before."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from tensorflow.python.framework import ops

from np2tf.staging.xla.stable_names import stable_names

ROOT = Path(__file__).resolve().parents[3]
PROGRAM = """
import sys
import numpy as np
import np2tf
from tensorflow.python.framework import ops


@np2tf.jit(tier="compile")
def walk(x):
    for i in np2tf.tnp.arange(3):
        x = np2tf.tnp.where(x > 0.5, x * 0.5, x + 0.25).cumsum()
    return x


for _ in range(int(sys.argv[1])):
    ops.uid()
for n in (5, 6):
    x = np.linspace(0.0, 1.0, n)
    expected = x
    for i in range(3):
        expected = np.where(expected > 0.5, expected * 0.5, expected + 0.25).cumsum()
    np.testing.assert_allclose(walk(x), expected, rtol=1e-15)
print(walk.compiled_count)
"""


def test_what_xla_has_compiled_is_found_again(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    kept = tmp_path / "xla"
    kept.mkdir()
    flags = f"--tf_xla_persistent_cache_directory={kept}"
    environment = {**os.environ, "TF_XLA_FLAGS": flags, "PYTHONPATH": str(ROOT)}
    found = []
    for shift in ("0", "7"):
        command = [sys.executable, "program.py", shift]
        ran = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=environment)
        assert ran.returncode == 0, ran.stderr
        assert ran.stdout.split() == ["2"]
        found.append({path.name for path in kept.iterdir()})
    assert len(found[0]) == 2
    assert found[1] == found[0]


def _numbers(*of: object) -> list[int]:
    with stable_names(*of):
        return [ops.uid() for _ in range(3)]


def test_names_are_of_what_is_traced_and_no_two_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ops, "uid", ops.uid)
    before = ops.uid()
    with stable_names("f"):
        assert ops.uid() == before + 1, "nothing is changed where nobody asks for it"
    monkeypatch.setenv("TF_XLA_FLAGS", "--tf_xla_persistent_cache_directory=/nowhere")
    given = [_numbers("f"), _numbers("f"), _numbers("g")]
    assert len({number for numbers in given for number in numbers}) == 9
    assert all(numbers == list(range(numbers[0], numbers[0] + 3)) for numbers in given)
    elsewhere: list[int] = []
    with stable_names("h"):
        thread = threading.Thread(target=lambda: elsewhere.append(ops.uid()))
        thread.start()
        thread.join()
        with stable_names("i"):
            inner = ops.uid()
        outer = ops.uid()
    assert elsewhere[0] < min(inner, outer)
    assert ops.uid() == elsewhere[0] + 1
