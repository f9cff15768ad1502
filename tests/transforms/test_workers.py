"""`np2tf run --workers`, and processes that are joined by hand: the results of one process, and failures."""

from __future__ import annotations

import os
import re
import runpy
import signal
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from tests.helpers.warm_python import warm_python

ROOT = Path(__file__).resolve().parents[2]
PROGRAMS = ROOT / "fixtures" / "distributed"
#: Seconds after which a program that should have ended hangs.
HANGS = 200


def environment() -> dict[str, str]:
    """The environment without what this process has for np2tf and TensorFlow's clusters."""
    names = {name for name in os.environ if name.startswith("NP2TF") or name == "TF_CONFIG"}
    kept = {name: value for name, value in os.environ.items() if name not in names}
    return kept | {"TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONPATH": str(ROOT)}


def run(*words: str, folder: Path = ROOT, python: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [python or warm_python(), ROOT / "cli.py", "run", *words],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=HANGS,
    )


def script(folder: Path, text: str) -> str:
    path = folder / "script.py"
    path.write_text(dedent(text))
    return str(path)


def test_as_one_process(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two processes compute what one does, to rounding. Each has the arguments; lines of the second are
    marked; the exit status is the program's.
    """
    path = script(
        tmp_path,
        f"""
        import runpy, sys
        import numpy as np
        from np2tf import axis_index, distribute

        for name in ("monte_carlo", "training"):
            runpy.run_path(f"{PROGRAMS}/{{name}}.py")["main"]()
        print(sys.argv[1:], distribute.process_index(), distribute.process_count())
        print("rows", distribute.shard_map(lambda x: x + axis_index("replicas"))(np.zeros(4, int)))
        try:
            distribute.shard_map(lambda x: x[3:4][axis_index("replicas")][None])(np.zeros(8))
        except IndexError as error:
            print(error)
            sys.exit(3)
        """,
    )
    process = run("--workers", "2", path, "--workers", "7")
    assert process.returncode == 3, process.stderr
    assert re.search(r"NP2TF713 worker \d of 2 ended with status 3", process.stderr)
    lines = process.stdout.splitlines()
    *results, arguments, rows, error = [line for line in lines if not line.startswith("[worker 1] ")]
    assert (arguments, rows) == ("['--workers', '7'] 0 2", "rows [0 0 1 1]")
    of_second = [line for line in lines if line.startswith("[worker 1] ")]
    assert of_second[:2] == ["[worker 1] ['--workers', '7'] 1 2", "[worker 1] rows [0 0 1 1]"]
    assert (
        error == "index 1 is out of bounds for axis 0 with size 1" == of_second[2].removeprefix("[worker 1] ")
    )
    for name in ("monte_carlo", "training"):
        runpy.run_path(str(PROGRAMS / f"{name}.py"))["main"]()
    expected = capsys.readouterr().out
    numbers = [
        [float(word) for word in re.findall(r"\d+\.\d+", text)] for text in ("\n".join(results), expected)
    ]
    assert len(numbers[0]) == 4
    assert numbers[0] == pytest.approx(numbers[1], rel=1e-10)


#: A program whose second worker is killed after the fourth step, twice.
KILLED = """
    import os
    from pathlib import Path
    import numpy as np
    import np2tf

    def step(total, x):
        return total + np2tf.psum(x.sum(), "replicas")

    sharded = np2tf.distribute.shard_map(step, in_axes=(None, 0), out_axes=None)
    saved = Path("state.npy")
    first, total = np.load(saved) if saved.exists() else (0, 0.0)
    print("begins at", int(first), flush=True)
    for k in range(int(first), 10):
        total = sharded(total, np.full(4, float(k)))
        if np2tf.distribute.process_index() == 0:
            np.save(saved, [k + 1, total])
        elif k in (3, 7):
            os.kill(os.getpid(), 9)
    """


def test_killed_worker(tmp_path: Path) -> None:
    """A worker that is killed ends the program at once, and the message says which and why. A restarted
    program goes on where it has saved its state.
    """
    words = ("--workers", "2", "--max-restarts", "1", script(tmp_path, KILLED))
    process = run(*words, folder=tmp_path, python=sys.executable)  # a fork would end before it says why
    assert process.returncode == 128 + signal.SIGKILL
    assert process.stderr.count("NP2TF713 worker 1 of 2 was ended by SIGKILL; all workers were stopped") == 2
    assert process.stderr.count("LostWorkerError: worker 1 of 2 has ended or cannot be reached") == 2
    assert process.stderr.count("restarting all workers (1 left)") == 1
    assert "tensorflow" not in process.stderr
    first, second = re.findall(r"^begins at (\d)", process.stdout, re.MULTILINE)
    assert first == "0"
    assert int(second) in (3, 4)


def test_processes_started_by_hand(tmp_path: Path) -> None:
    """Processes are joined by their addresses without `np2tf run`; a lost process is an error."""
    from np2tf.loading.programs.workers import free_ports

    addresses = [f"127.0.0.1:{port}" for port in free_ports(2)]
    path = script(
        tmp_path,
        f"""
        import os, sys
        import numpy as np
        import np2tf

        index = int(sys.argv[1])
        np2tf.distribute.initialize({addresses!r}, index)
        np2tf.distribute.initialize()
        total = np2tf.distribute.shard_map(lambda x: np2tf.psum(x.sum(), "replicas"), out_axes=None)
        print(total(np.arange(6.0)))
        if index == 1:
            os.kill(os.getpid(), 9)
        try:
            total(np.arange(6.0))
        except np2tf.distribute.LostWorkerError as error:
            print(error)
        """,
    )
    processes = [
        subprocess.Popen([warm_python(), path, str(k)], env=environment(), stdout=subprocess.PIPE, text=True)
        for k in range(2)
    ]
    try:
        outputs = [process.communicate(timeout=HANGS)[0] for process in processes]
    finally:
        for process in processes:
            process.kill()
    assert outputs[1] == "15.0\n"
    assert outputs[0].startswith("15.0\nworker 1 of 2 has ended or cannot be reached (this is worker 0)")


def test_wrong_numbers() -> None:
    """Numbers of workers are at least one."""
    process = run("--workers", "0", "x.py")
    assert process.returncode == 2
    assert "--workers" in process.stderr
