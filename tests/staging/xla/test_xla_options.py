"""The options of XLA that np2tf sets: loops over small arrays become machine code of one piece, nothing
simplifies arithmetic, and nothing is written past the end of a result.
"""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import version

import pytest

from np2tf.staging.xla.compiler_options import LOOP_BYTES, with_options

_EXTRA, _SIMPLIFIER = "--xla_backend_extra_options=", "--xla_disable_hlo_passes=algsimp"
_LOOPS = f"xla_cpu_small_while_loop_byte_threshold={LOOP_BYTES}"
_OURS = f"{_LOOPS},-force-tail-folding-style=none"


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ("", f"{_SIMPLIFIER} {_EXTRA}{_OURS}"),
        ("--xla_dump_to=/tmp/x", f"--xla_dump_to=/tmp/x {_SIMPLIFIER} {_EXTRA}{_OURS}"),
        (f"{_EXTRA}a=1", f"{_EXTRA}a=1,{_OURS} {_SIMPLIFIER}"),
        (f"{_EXTRA}{_OURS[:-4]}data", f"{_EXTRA}{_OURS[:-4]}data {_SIMPLIFIER}"),
        (f"{_EXTRA}{_LOOPS}0", f"{_EXTRA}{_LOOPS}0,-force-tail-folding-style=none {_SIMPLIFIER}"),
        ("--xla_disable_hlo_passes=cse", f"--xla_disable_hlo_passes=cse,algsimp {_EXTRA}{_OURS}"),
        ("--xla_disable_hlo_passes=cse,algsimp", f"--xla_disable_hlo_passes=cse,algsimp {_EXTRA}{_OURS}"),
    ],
)
def test_what_the_user_has_set_stays(flags: str, expected: str) -> None:
    assert with_options(flags) == expected
    assert with_options(expected) == expected


@pytest.mark.skipif(
    version("tensorflow") < "2.21",
    reason="before 2.21, the text of XLA does not show this",
)
def test_what_xla_makes(tmp_path) -> None:  # type: ignore[no-untyped-def]
    """In XLA's dump a loop is inside of a call that is compiled as a whole, and no store has a mask."""
    program = """
import numpy as np
import np2tf

source = '''
import numpy as np
def f(x):
    s = 0.0
    for i in range(len(x)):
        if x[i] > s:
            s = s + x[i] * 0.5
        x[i] = s
    return s
def g(x):
    y = np.where(x > 2, np.log(x), x / x[0]) * np.log(x + 1)
    return np.signbit(y), y.astype(np.int64).astype(np.int8)
'''
np2tf.config.tier = "compile"
space = {}
exec(np2tf.convert(source).text, space)
print(space["f"](np.linspace(0, 9, 2000)), space["f"].explain(np.linspace(0, 9, 2000)).runs)
"""
    program += 'np2tf.jit(space["g"])(np.arange(1.0, 21).reshape(4, 5))\n'
    flags = {"XLA_FLAGS": f"--xla_dump_to={tmp_path} --xla_dump_hlo_as_text", "TF_CPP_MIN_LOG_LEVEL": "3"}
    (tmp_path / "program.py").write_text(program)
    told = subprocess.run(
        [sys.executable, tmp_path / "program.py"],
        env={**os.environ, **flags},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert told.stdout.split()[-1] == "xla"
    optimized = [path.read_text() for path in tmp_path.glob("*after_optimizations.txt")]
    assert any("xla_cpu_small_call" in text and " while(" in text for text in optimized)
    machine_code = [path.read_text() for path in tmp_path.glob("*ir-with-opt.ll")]
    assert any("store i8" in text for text in machine_code)
    assert not any("llvm.masked.store" in text for text in machine_code)
