"""`np2tf verify PATH -- COMMAND`: a repository's own tests, and programs with arguments, on both sides."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from np2tf.cli.commands.verify import verify
from np2tf.cli.verify.command_line import (
    CommandError,
    ProgramCommand,
    PytestCommand,
    packages_in,
    read_command,
    run_process,
)
from np2tf.cli.verify.tables import Bar, draw
from tests.helpers.command_runner import CliRunner, Result

FILES = {
    "pk/__init__.py": "",
    "pk/core.py": """
        import numpy as np

        module = np

        def smooth(x):
            x = x.copy()
            for _ in range(3):
                x[1:-1] = (x[2:] + x[:-2]) / 2
            return x
        """,
    "plain.py": "x = 1",
    "setup.py": "import numpy",
    "tests/test_core.py": """
        import numpy as np
        import pytest
        from pk import core

        def test_smooth():
            assert core.smooth(np.arange(5.0)).tolist() == [0, 1, 2, 3, 4]

        @pytest.mark.parametrize("n", [3, 4])
        def test_sizes(n):
            assert core.smooth(np.ones(n)).sum() == n

        @pytest.mark.skip(reason="not today")
        def test_skipped():
            pass

        @pytest.mark.xfail
        def test_expected():
            assert core.smooth(np.ones(3)).sum() == 4

        def test_fails_anyway():
            assert core.smooth(np.ones(3)).sum() == 4
        """,
    "tests/test_different.py": """
        import numpy as np
        import pytest
        from pk import core

        def test_of_the_module():
            assert core.module is np, "another module"

        @pytest.mark.skipif(core.module is np, reason="on NumPy")
        def test_skipped_on_numpy():
            pass

        if core.module is not np:
            def test_only_translated():
                pass

        @pytest.fixture
        def broken():
            assert core.module is np

        def test_of_a_fixture(broken):
            pass
        """,
    "tests/test_broken.py": "import no_such_module",
    "prog.py": """
        import sys
        import numpy as np

        n = int(sys.argv[1])
        print(np.arange(n).sum() / 3)
        np.savetxt("written.txt", np.linspace(0, 1, n))
        if "differ" in sys.argv:
            print(np.__name__, "np2tf" in sys.modules)
        """,
}


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a package, its tests, and a program, which is the current folder."""
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(dedent(text))
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTEST_ADDOPTS", raising=False)
    return tmp_path


def verified(*arguments: str) -> Result:
    """Run `np2tf verify`; return the text that it prints, and its status."""
    return CliRunner().invoke(verify, arguments, catch_exceptions=False)


def test_all_tests_end_in_the_same_way(repository: Path) -> None:
    """Also tests that fail, are skipped, or are expected to fail; nothing is written into the repository."""
    before = sorted(repository.rglob("*"))
    done = verified(
        ".",
        "--json",
        "out.json",
        "--plot",
        "out.png",
        *["--", "python", "-m", "pytest", "tests/test_core.py"],
    )
    assert done.exit_code == 0
    told = " ".join(done.output.split())
    assert "6 tests: 6 end the same way (3 passed, 1 skipped, 1 xfailed, 1 failed), 0 differently." in told
    assert "No code ran long enough to be compiled; --tier compile" in told
    assert "Modules translated: pk 1 of 2, prog 0 of 0." in done.output
    data = json.loads((repository / "out.json").read_text())
    assert (data["packages"], data["equal"], data["code"]) == (["pk", "prog"], True, None)
    assert {test["test"].partition("::")[2]: test["numpy"] for test in data["tests"]} == {
        "test_smooth": "passed",
        "test_sizes[3]": "passed",
        "test_sizes[4]": "passed",
        "test_skipped": "skipped",
        "test_expected": "xfailed",
        "test_fails_anyway": "failed",
    }
    assert all(test["numpy"] == test["translated"] and test["equal"] for test in data["tests"])
    assert all(test["ratio"] > 0 for test in data["tests"] if test["numpy"] == "passed")
    assert (repository / "out.png").read_bytes().startswith(b"\x89PNG")
    assert sorted({*repository.rglob("*")} - {repository / "out.json", repository / "out.png"}) == before


def test_differences_are_told(repository: Path) -> None:
    """Each with both outcomes and what went wrong; the package's folder is enough."""
    done = verified(
        "pk", "--json", "--", "python", "-m", "pytest", "tests/test_different.py", "-x", "--maxfail=9"
    )
    assert done.exit_code == 1
    data = json.loads(done.output)
    assert data["summary"] | {"tests": 4, "equal": 0, "different": 4} == data["summary"]
    found = {test["test"].partition("::")[2]: (test["numpy"], test["translated"]) for test in data["tests"]}
    assert found == {
        "test_of_the_module": ("passed", "failed"),
        "test_skipped_on_numpy": ("skipped", "passed"),
        "test_of_a_fixture": ("passed", "error"),
        "test_only_translated": ("not run", "passed"),
    }
    (told,) = (test["message"] for test in data["tests"] if "of_the_module" in test["test"])
    assert told == "AssertionError: another module"


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("python -m pytest nowhere", "on NumPy: exit status 4: ERROR: file or directory not found: nowhere"),
        (
            "python -m pytest tests/test_broken.py",
            "no test runs on NumPy; tests/test_broken.py: Module",
        ),
        ("python -m pytest -k nothing_is_called_so tests/test_core.py", "on NumPy: there are no tests"),
    ],
)
def test_a_broken_command(repository: Path, words: str, reason: str) -> None:
    done = verified(".", "--", *words.split())
    assert done.exit_code == 1
    assert f"NP2TF927 the tests cannot be compared: {reason}" in done.output.replace("\n", " ")


def test_a_package_of_which_nothing_is_translated(repository: Path) -> None:
    """Is no success."""
    done = verified(".", "--package", "plain", "--", "python", "-m", "pytest", "tests/test_core.py")
    assert done.exit_code == 1
    assert "NP2TF927 the tests cannot be compared: nothing of plain was translated" in done.output


def test_a_program_with_arguments(repository: Path) -> None:
    """Its text and the files that it writes are compared."""
    done = verified("prog.py", "--json", "--", "5")
    assert done.exit_code == 0
    data = json.loads(done.output)
    assert (data["equal"], data["files"], data["command"]) == (True, 1, "python prog.py 5")
    assert data["numpy_seconds"] > 0
    assert data["ratio"] > 0


def test_a_program_that_differs(repository: Path) -> None:
    done = verified(str(repository), "--", "python", "-W", "error", "prog.py", "5", "differ")
    assert done.exit_code == 1
    assert "NP2TF923 the results differ: line 2 of the output: 'numpy False' on NumPy" in done.output


def test_a_program_that_fails_on_numpy(repository: Path) -> None:
    done = verified("prog.py", "--", "x")
    assert done.exit_code == 1
    assert "NP2TF921 the original fails on NumPy: exit status 1: ValueError: invalid literal" in done.output


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (". -- make test", "make cannot be translated: a command must start with pytest or python"),
        (". -- python -c 1", "python -c cannot be run translated"),
        (". -- python", "names no program"),
        (". --", "give a command after --"),
        ("prog.py . -- 1", "one program, or folders"),
        ("tests -- pytest", "found no package that uses NumPy here"),
        (". -k x -- pytest", "-k does not apply with a command"),
        ("prog.py --package prog", "--package does not apply without a command"),
        (". --plot out.xyz -- pytest", "the file name must end in one of"),
        (". --plot no/out.png -- pytest", "there is no folder no"),
    ],
)
def test_wrong_usage(repository: Path, arguments: str, told: str) -> None:
    done = verified(*arguments.split(" ") if not arguments.endswith("--") else [".", "--"])
    assert done.exit_code == 2
    assert told in done.output.replace("\n", " ")


def test_plots_need_matplotlib(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """That is said before anything runs, with the remedy."""
    find_spec = importlib.util.find_spec
    monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name, *arguments: None if name == "matplotlib" else find_spec(name, *arguments),
    )
    done = verified("prog.py", "--plot", "out.png", "--", "5")
    assert done.exit_code == 2
    assert "NP2TF928" in done.output
    assert "pip install matplotlib" in done.output.replace("\n", " ")
    assert not (repository / "written.txt").exists()


def test_plots(tmp_path: Path) -> None:
    """`draw` makes a plot of no ratios, of one ratio, and of more ratios than can be read."""
    for number in (0, 1, 100):
        bars = [Bar(f"test {k}", (k + 1) / 10, k % 2 == 0, k) for k in range(number)]
        draw(bars, tmp_path / f"{number}.svg")
        assert "translation is faster" in (tmp_path / f"{number}.svg").read_text() or number == 0


def test_commands_are_read() -> None:
    python = sys.executable
    as_pytest = read_command(["pytest", "-x", "tests"])
    assert isinstance(as_pytest, PytestCommand)
    assert (as_pytest.python[:2], as_pytest.arguments) == ((python, "-c"), ("-x", "tests"))
    assert read_command(["python3.11", "-W", "error", "-m", "pytest", "-q"]) == PytestCommand(
        (python, "-W", "error", "-m", "pytest"), ("-q",)
    )
    assert read_command(["/usr/bin/python", "-m", "pkg", "-m", "x"]) == ProgramCommand(
        (), ("-m", "pkg", "-m", "x")
    )
    assert read_command([python, "-Xdev", "a.py", "-c"]) == ProgramCommand(("-Xdev",), ("a.py", "-c"))
    for words in (["pythonista"], ["python", "-"], ["python", "-m"]):
        with pytest.raises(CommandError):
            read_command(words)


def test_packages_are_found(repository: Path) -> None:
    """`packages_in` finds packages that name NumPy, in src also without an __init__.py, and none of tests."""
    assert packages_in(repository) == ["pk", "prog"]
    assert packages_in(repository / "pk") == ["pk"]
    (repository / "src" / "spaced").mkdir(parents=True)
    (repository / "src" / "spaced" / "a.py").write_text("import numpy")
    assert packages_in(repository) == ["spaced", "pk", "prog"]


def test_processes(tmp_path: Path) -> None:
    """A process gives both streams in their order and its status; a process that takes too long is ended."""
    ended = run_process(
        [sys.executable, "-u", "-c", "import sys; print(1); print(2, file=sys.stderr); exit(3)"], tmp_path
    )
    assert (ended.status, ended.output) == (3, "1\n2\n")
    assert run_process([sys.executable, "-c", "import time; time.sleep(60)"], tmp_path, 0.2).status is None


def test_the_page_lists_every_option() -> None:
    """No option of the command is left out of docs/verify.md, and none is invented."""
    page = (Path(__file__).resolve().parents[3] / "docs" / "verify.md").read_text(encoding="utf-8")
    options = {option for parameter in verify.params for option in parameter.opts if option.startswith("-")}
    table = page.partition("| option |")[2].partition("\n\n")[0]
    told = set(re.findall(r"^\|.*?\|", table, re.MULTILINE))
    named = {word for line in told for word in re.findall(r"`(--?[a-z]+)", line)}
    assert named == options - {"--verbose"}
