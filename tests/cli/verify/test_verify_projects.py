"""`np2tf verify` of projects: what is equal, how failures are told, and what became of hot functions."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent

import numpy as np
import pytest

from np2tf.cli.commands.verify import verify
from np2tf.cli.verify.comparison import files_difference, own_lines, text_difference
from np2tf.cli.verify.projects import ProjectError, find_projects, hot_functions, verify_project
from np2tf.core.diagnostics import codes
from tests.helpers.command_runner import CliRunner

RTOL = 1e-9

TOML = """
    package = "small"
    main = "small.__main__:main"
    small = 4
    hot = ["small.work:relax", "small.work:Model.step", "small.work:drawn", "small.work:unused"]
    """
MAIN = """
    import argparse, logging, sys
    import numpy as np
    from .work import Model, drawn, relax

    def main(argv=None):
        parser = argparse.ArgumentParser()
        parser.add_argument("--size", type=int, default=8)
        parser.add_argument("--out")
        args = parser.parse_args(argv)
        logging.basicConfig(level=logging.INFO)
        u = relax(np.linspace(0, 1, args.size))
        logging.info("relaxed to %.6f", u.sum())
        print(f"u = {u.sum():.6f}")
        model = Model()
        v = model.step(u)
        print(model.steps, "step", drawn(2).shape)
        with open("notes.txt", "w") as file:
            file.write("done 1.5\\n")
        np.savez(args.out, u=u, v=v)

    if __name__ == "__main__":
        main()
    """
WORK = """
    import numpy as np

    def relax(u):
        for i in range(1, len(u)):
            u[i] = np.sin(u[i - 1]) + 1.0
        return u

    class Model:
        def __init__(self):
            self.steps = 0

        def step(self, u):
            self.steps += 1
            return scaled(u) + 1

    def scaled(u):
        return np.cumsum(u) * 2.0

    def drawn(n):
        x = np.zeros(n)
        for i in range(n):
            np.random.seed(i)
            x[i] = np.random.rand()
        return x

    def unused(x):
        return x
    """


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "small-project"
    write(
        folder,
        **{"project.toml": TOML, "small/__init__.py": "", "small/__main__.py": MAIN, "small/work.py": WORK},
    )
    return folder


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text))


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        ("a 1.250", "a 1.250"),
        ("x = 0.123457", "x = 0.123456"),
        ("1.00000000001", "1.00000000002"),
        ("[1.5e-05 2.]", "[1.6e-05 2.]"),
        ("123456789012.1", "123456789012.9"),
        ("", ""),
    ],
)
def test_same_text(expected: str, actual: str):
    assert text_difference(["before", expected], ["before", actual], RTOL) is None


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        ("x = 0.123457", "x = 0.123455"),
        ("step 3", "step 4"),
        ("3", "3.0"),
        ("a 1.5 b", "a 1.5 c"),
        ("nan", "1.0"),
        ("1e-05", "3e-05"),
        ("-0.5", "0.5"),
        ("123456789012.1", "123456788012.1"),
    ],
)
def test_other_text(expected: str, actual: str):
    found = text_difference(["before", expected], ["before", actual], RTOL)
    assert found is not None
    assert found.startswith("line 2 of the output: ")


def test_missing_doubled_and_swapped_lines():
    lines = ["one", "two", "three"]
    assert "line 3 of the output: only on NumPy: 'three'" in (text_difference(lines, lines[:2], RTOL) or "")
    assert "line 4 of the output: only translated: 'three'" in (
        text_difference(lines, [*lines, "three"], RTOL) or ""
    )
    assert "line 1" in (text_difference(lines, ["two", "one", "three"], RTOL) or "")


def test_lines_of_others_are_left_out():
    text = """\
        first
        WARNING: All log messages before absl::InitializeLog() is called are written to STDERR
        I0000 00:00:1795404855.952245   18986 port.cc:153] oneDNN custom operations are on.
        E0000 00:00:1795404864.115872   18986 cuda_platform.cc:52] failed call to cuInit
        2025-01-01 10:00:00.000001: I tensorflow/core/util/port.cc:153] oneDNN
        /a b/work.py:12: TranslationWarning: NP2TF001 left
          an indented line behind it
        /a b/work.py:13: RuntimeWarning: overflow
          x = np.exp(1000)
          an indented line of its own
        """
    assert own_lines(dedent(text)) == [
        "first",
        "  an indented line behind it",
        "/a b/work.py:13: RuntimeWarning: overflow",
        "  x = np.exp(1000)",
        "  an indented line of its own",
    ]


def test_files(tmp_path: Path):
    left, right = tmp_path / "left", tmp_path / "right"
    for folder, last in ((left, 1.0), (right, 1.0 + 1e-12)):
        folder.mkdir()
        np.savez(folder / "r.npz", x=np.array([1.0, last]))
        (folder / "r.txt").write_text(f"x = {last:.12f}\n")
        (folder / "r.bin").write_bytes(b"\xff\x00")
    assert files_difference(left, right, RTOL) is None
    (right / "r.bin").write_bytes(b"\xff\x01")
    assert files_difference(left, right, RTOL) == "r.bin: the bytes differ"
    np.savez(right / "r.npz", x=np.array([1.0, 1.0 + 1e-7]))
    (right / "r.bin").write_bytes(b"\xff\x00")
    assert "r.npz: result['x'] at [1]: value" in (files_difference(left, right, RTOL) or "")
    (right / "more.txt").write_text("")
    assert "'more.txt'" in (files_difference(left, right, RTOL) or "")


def test_a_project_is_run_and_its_hot_functions_are_looked_at(project: Path):
    (found,) = find_projects([project.parent])
    outcome = verify_project(found, repeat=2, tier="compile")
    assert outcome.equal, outcome.error
    assert outcome.numpy_seconds
    assert outcome.run_ratio
    assert outcome.warm_ratio
    assert outcome.counts["compiled"] + outcome.counts["graph"] >= 1
    relax, step, drawn, unused = outcome.hot
    assert relax.is_staged
    assert relax.reasons == ()
    assert step.name == "small.work:Model.step"
    assert not drawn.is_staged
    assert any("not jitted: it draws random numbers" in reason for reason in drawn.reasons)
    assert unused.reasons == ("main() does not call it on NumPy",)


def test_what_became_of_hot_functions(project: Path):
    (found,) = find_projects([project])

    def how(entered: int = 9, reasons: tuple[str, ...] = (), **calls: int) -> tuple[str, str]:
        calls = {"compiled": 0, "graph": 0, "loops": 0, "host": 0, **calls}
        names = found.hot
        counts_of_hot = {
            "diagnostics": [],
            "hot": {"small.work:relax": {"calls": calls, "reasons": reasons}},
            "entered": dict.fromkeys(names, entered),
        }
        first = hot_functions(found, {"entered": dict.fromkeys(names, 10)}, counts_of_hot)[0]
        return first.how, " ".join(first.reasons)

    assert how(entered=5, compiled=1) == ("compiled", "")
    assert how(entered=0, graph=1, host=2) == ("graph", "")
    assert how(entered=10, loops=1, host=1) == ("loops", "")
    assert how(entered=0) == ("inside", "")
    left = "it is jitted, but most calls stayed on NumPy"
    assert how(entered=6, compiled=4) == ("host", left)
    assert how(host=1, reasons=("host: faster than compiled code",)) == (
        "host",
        "host: faster than compiled code",
    )


def test_failures_have_codes(project: Path):
    main = project / "small" / "__main__.py"
    main.write_text(main.read_text().replace("    u = relax", "    raise KeyError('no')\n    u = relax"))
    outcome = verify_project(find_projects([project])[0], repeat=2)
    assert outcome.code == "NP2TF921"
    assert "exit status 1: KeyError: 'no'" in outcome.error


def test_a_hot_function_that_is_not_there(project: Path):
    (project / "project.toml").write_text(dedent(TOML).replace("Model.step", "Model.stop"))
    outcome = verify_project(find_projects([project])[0], repeat=2)
    assert outcome.code == "NP2TF926"
    assert outcome.code in codes()
    assert "there is no small.work:Model.stop" in outcome.error


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("small = 4", "", "there is no 'small'"),
        ("small = 4", "small = '4'", "small a number"),
        ("small.work:relax", "small.work.relax", "module:function"),
        ("small = 4", "small = ", "project.toml: "),
    ],
)
def test_files_that_cannot_be_used(project: Path, old: str, new: str, said: str):
    (project / "project.toml").write_text(dedent(TOML).replace(old, new))
    with pytest.raises(ProjectError, match=said):
        find_projects([project])
    done = CliRunner().invoke(verify, [str(project)])
    assert done.exit_code == 2
    assert "NP2TF926" in done.output


def test_find_projects(project: Path):
    assert [project_found.name for project_found in find_projects([project])] == ["small-project"]
    assert [project_found.name for project_found in find_projects([project.parent, project], "small-p")] == [
        "small-project"
    ] * 2
    assert find_projects([project.parent], "other") == []


def test_command(project: Path):
    done = CliRunner().invoke(verify, [str(project.parent), "--small", "--repeat", "2", "--json"])
    assert done.exit_code == 0, done.output
    data = json.loads(done.stdout)
    assert data["projects_summary"]["equal"] == 1
    assert data["projects_rtol"] == RTOL
    (entry,) = data["projects"]
    assert entry["message"] == "equal"
    assert entry["hot"][0]["function"] == "small.work:relax"


def test_command_prints_a_table_and_exits_1_where_one_differs(project: Path):
    (project / "small" / "__main__.py").write_text(
        "import sys\nprint('np2tf' in sys.modules)\ndef main(argv): ...\n"
    )
    done = CliRunner().invoke(verify, [str(project.parent), "--repeat", "2"])
    assert done.exit_code == 1, done.output
    assert "NP2TF923" in done.output
    assert "1 project: 0 equal, 1 different, 0 failed" in done.output
