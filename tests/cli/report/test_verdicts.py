"""The report on sources says what the run time would compile, as a run shows it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from np2tf.cli.report.verdicts import IF_LONG, LOOPS, MODULE, told, verdicts
from np2tf.translator.batch.project import Project
from np2tf.translator.control.fates import CALLED, HOST, STAGED, Fate
from tests.cli.commands.test_run_command import np2tf_run
from tests.helpers.doc_pages import ROOT

SCRIPTS = ROOT / "benchmarks" / "scripts"


def fates_of(folder: Path) -> dict[str, Fate]:
    """The verdicts on the functions of the files in a folder, by their names."""
    files = sorted(folder.glob("*.py"))
    project = Project([(file, folder) for file in files], with_fates=True)
    outcomes = {outcome.path: outcome.before for outcome in project.outcomes()}
    fates: dict[Path, list[Fate]] = {file: [] for file in files}
    for path, fate in project.fates():
        fates[path].append(fate)
    judged = verdicts({file: (outcomes[file], fates[file]) for file in files})
    return {fate.name: fate for file in files for fate in judged[file]}


#: source -> the verdicts in words
ROWS = {
    """
    def step(x):
        return np.sin(x) * 2

    def main():
        x = np.ones(9)
        for k in range(100):
            x = step(x)
            plt.plot(x)

    main()
    """: {
        "step": "compiled if its calls are long",
        "main": "NumPy: it is called once; its loop at line 10: "
        "calls `plt.plot`, which compiled code cannot run (line 12)",
    },
    """
    def step(x):
        y = x * 2
        return y + np.roll(y, 1)

    def main():
        x = np.ones(9)
        for k in range(100):
            x = x + 1
            for j in range(20):
                x = np.sqrt(x)
            if k % 10 == 0:
                plt.plot(x)
        return step(x)

    main()
    """: {
        "step": "NumPy: it is called once, and has no loop",
        "main": "compiled: the loop at line 11 (with side exits at line 16)",
    },
    """
    def norm(x):
        return np.abs(x).max()

    def relax(x):
        while norm(x) > 1:
            x = x / 2
        return x

    for k in range(100):
        relax(np.full(9, k))
        print(k)
    """: {
        "norm": "compiled only inside `relax`",
        "relax": "compiled",
        MODULE: "compiled: the loop at line 13",
    },
    """
    def solve(a, b):
        return np.linalg.solve(a, b)

    def main():
        for k in range(100):
            b = solve(np.eye(3) * 2, np.ones(3))
        return b

    main()
    """: {
        "solve": "NumPy: the time is in `np.linalg.solve` at line 6, which XLA computes no faster",
        "main": "NumPy: the time is in `np.linalg.solve` at line 6, which XLA computes no faster",
    },
    """
    def main():
        track = []
        x = np.ones(9)
        for k in range(100):
            x = np.sin(x)
            track.append(x[0])
        return track

    main()
    """: {
        "main": "NumPy: it is called once; its loop at line 8: "
        "`track.append` grows a list in the loop (line 10)"
    },
}


@pytest.mark.parametrize("source", ROWS, ids=range(len(ROWS)))
def test_verdicts(source: str, tmp_path: Path) -> None:
    lines = [line[4:] for line in source.strip("\n").splitlines()]
    text = "import numpy as np\nimport matplotlib.pyplot as plt\n\n\n" + "\n".join(lines) + "\n"
    (tmp_path / "program.py").write_text(text)
    assert {name: told(fate) for name, fate in fates_of(tmp_path).items()} == ROWS[source]


#: script -> changes that make it short
SHORT = {
    "wave_track.py": [("n_steps = 180000", "n_steps = 300")],
    "cloth.py": [("range(9000)", "range(40)"), ("ROWS = 46", "ROWS = 6"), ("COLS = 46", "COLS = 6")],
    "lattice_boltzmann.py": [("Nt = 2800", "Nt = 40"), ("Nx = 300", "Nx = 60"), ("Ny = 90", "Ny = 30")],
    "newton_points.py": [
        ("n_orbits = 500", "n_orbits = 20"),
        ("n_times = 400", "n_times = 20"),
        ("size = 260", "size = 20"),
    ],
}


@pytest.mark.slow
@pytest.mark.parametrize("script", SHORT)
def test_a_run_does_what_the_report_says(script: str, tmp_path: Path) -> None:
    """Under tier compile, where everything that can be compiled is, also what runs for a short time."""
    text = (SCRIPTS / script).read_text(encoding="utf-8")
    for before, after in SHORT[script]:
        assert before in text
        text = text.replace(before, after)
    (tmp_path / script).write_text(text)
    fates = fates_of(tmp_path)
    options = ("--tier", "compile", "--report", "json", "--report-file", "report.json")
    done = np2tf_run(tmp_path, *options, script)
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    functions = {function["name"]: function for function in report["functions"]}
    loops = {loop["line"] for loop in report["loops"]}
    for name, fate in fates.items():
        figures = functions.get(name)
        runs = 0
        if figures is not None:
            runs = figures["compiled"]["calls"] + figures["graph"]["calls"] + figures["inlined"]
        if fate.fate in (STAGED, CALLED) and fate.reason != IF_LONG:
            assert runs, (name, told(fate))
        named = {int(line) for line in re.findall(r"loop at line (\d+)", fate.reason)}
        if fate.fate == LOOPS:
            assert loops & named or runs, (name, told(fate), loops)
        elif fate.fate == HOST:
            assert not loops & named, (name, told(fate), loops)
    named = {int(line) for fate in fates.values() for line in re.findall(r"line (\d+)", fate.reason)}
    assert loops <= named


def test_a_module_that_does_not_compile() -> None:
    """Python parses a `return` outside of functions, and refuses it later."""
    fate = Fate("f", 1, False, HOST, reason="it is a generator or coroutine")
    assert verdicts({Path("a.py"): ("def f():\n    yield 1\nreturn 1\n", [fate])}) == {Path("a.py"): [fate]}
