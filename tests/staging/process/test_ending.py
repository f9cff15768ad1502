"""The end of a program while a thread of np2tf's own is inside TensorFlow: at once, and as Python ends."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from np2tf.staging.process import ending

_PROGRAM = """
import atexit, sys, threading, time
from np2tf.staging.process.ending import ending, run_to_the_end

def program():
    ending.busy += 1
    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
    threading.Thread(target=lambda: (time.sleep(0.2), print("thread"))).start()
    atexit.register(print, "atexit")
    print("program")
    {end}

run_to_the_end(program)
print("not reached")
"""


@pytest.mark.parametrize(
    ("end", "status", "message"),
    [
        ("pass", 0, ""),
        ("sys.exit()", 0, ""),
        ("sys.exit(3)", 3, ""),
        ("sys.exit(-1)", 255, ""),
        ("sys.exit('it has failed')", 1, "it has failed\n"),
    ],
)
def test_the_process_ends_at_once(end: str, status: int, message: str) -> None:
    """What the program has registered runs, its threads end, what it has printed is written."""
    start = time.monotonic()
    command = [sys.executable, "-c", _PROGRAM.format(end=end)]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=50)
    assert time.monotonic() - start < 50
    assert (ended.returncode, ended.stderr) == (status, message)
    assert ended.stdout == "program\nthread\natexit\n"


def test_nothing_is_changed_if_no_thread_is_busy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ending.ending, "is_ours", False)
    assert ending.run_to_the_end(lambda: 3) == 3
    with pytest.raises(SystemExit, match="4"):
        ending.run_to_the_end(lambda: sys.exit(4))
    assert ending.ending.is_ours
