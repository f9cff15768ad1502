"""The C library keeps the memory of freed arrays once a function is jitted, unless the user decides."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

#: Other C libraries have no such parameters: there np2tf changes nothing.
HAS_MALLOPT = platform.libc_ver()[0] == "glibc"
#: Prints whether an array of 100 MB is in the heap, whose memory stays with the process.
PROGRAM = """
import ctypes, sys
import numpy as np
import np2tf

def in_heap():
    if sys.platform != "linux":
        return False
    array = np.empty(100 * 2**20, np.uint8)
    sbrk = ctypes.CDLL(None).sbrk
    sbrk.restype = ctypes.c_void_p
    return array.ctypes.data < sbrk(0)

found = [in_heap()]
SETTING
np2tf.jit(lambda x: x + 1)
print(*found, in_heap())
"""


@pytest.mark.parametrize(
    ("setting", "variables", "expected"),
    [
        ("", {}, f"False {HAS_MALLOPT}"),
        ("np2tf.config.freed_memory = 'returned'", {}, "False False"),
        ("", {"MALLOC_TRIM_THRESHOLD_": "131072"}, "False False"),
    ],
)
def test_large_arrays_use_kept_memory(setting: str, variables: dict[str, str], expected: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.replace("SETTING", setting)],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == expected
