"""`np2tf run`: the same as `python`, but translated."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from textwrap import dedent

import pytest

from tests.helpers.warm_python import warm_python

ROOT = Path(__file__).resolve().parents[3]


def start(
    command: list[str], folder: Path, *arguments: str, given: str = "", path: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder, without what this process has in its environment for np2tf."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("NP2TF")}
    environment |= {"TF_CPP_MIN_LOG_LEVEL": "3", "PYTHONPATH": path}
    return subprocess.run(
        [*command, *arguments],
        cwd=folder,
        env=environment,
        input=given,
        capture_output=True,
        text=True,
        timeout=240,
    )


def np2tf_run(folder: Path, *arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
    return start(command(), folder, *arguments, given=given)


def command() -> list[str]:
    return [warm_python(), str(ROOT / "cli.py"), "run"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a script, a module beside it, and a package. None of them imports NumPy."""
    files = {
        "beside.py": """
            def divide(x):
                return 1 / x
            """,
        "pkg/__init__.py": "print('pkg', __name__)",
        "pkg/__main__.py": """
            import sys
            from . import part
            print(sys.argv[1:], __name__, __package__, __spec__.name, part.__name__, sys.path[0])
            print(__file__, sys.argv[0])
            """,
        "pkg/part.py": "",
        "empty/__init__.py": "",
        "failing/__init__.py": "import no_such_dependency",
        "sub/__main__.py": "import near; print(near.__name__, __name__)",
        "sub/near.py": "",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(dedent(text))
    return tmp_path


# The scripts. Each must have the same output, errors and exit status with `python` and `np2tf run`.
SCRIPTS = {
    "who am I": """
        import os, sys
        print(sys.argv, sys.path[0] == os.getcwd(), __name__, __file__, __spec__, __package__, __doc__)
        print(sys.modules["__main__"].__dict__ is globals(), __cached__, type(__builtins__).__name__)
        print(sorted(name for name in globals() if name not in ("sys", "os")), __annotations__)
        """,
    "exit status": "import sys; print('out'); sys.exit(7)",
    "exit text": "import sys; sys.exit('that is all')",
    "exit none": "raise SystemExit",
    "standard input": "import sys; print(input()); print(sys.stdin.read().upper())",
    "end of input": "input(); input(); input()",
    "error": "import beside\n\ndef f(x):\n    return beside.divide(x)\n\nf(0)",
    "error from": """
        try:
            {}["a"]
        except KeyError as error:
            raise ValueError("wrapped") from error
        """,
    "error during": """
        try:
            {}["a"]
        except KeyError:
            int("x")
        """,
    "interrupt": "print('before'); raise KeyboardInterrupt",
    "excepthook": """
        import sys
        sys.excepthook = lambda kind, error, traceback: print("hook", kind, error, traceback.tb_lineno)
        1 / 0
        """,
    "failing excepthook": """
        import sys
        def hook(*_): sys.exit(5)
        sys.excepthook = hook
        1 / 0
        """,
    "at exit": "import atexit; atexit.register(print, 'bye'); print('hello'); 1 / 0",
    "a broken pipe": "raise BrokenPipeError('mine')",
    "import fails": "import no_such_module_here",
    "annotations": "x: int = 3\nprint(__annotations__)",
    "pickling": """
        import pickle
        class C: pass
        print(type(pickle.loads(pickle.dumps(C()))) is C)
        """,
    "thread": """
        import threading
        threading.Thread(target=lambda: print("joined")).start()
        """,
}


@pytest.mark.parametrize("text", SCRIPTS.values(), ids=SCRIPTS)
def test_as_python(folder: Path, text: str):
    (folder / "script.py").write_text(dedent(text))
    arguments = ("script.py", "a", "--report", "-m", "b")
    plain = start([sys.executable], folder, *arguments, given="first\nrest\n")
    by_np2tf = np2tf_run(folder, *arguments, given="first\nrest\n")
    assert by_np2tf.stdout == plain.stdout
    assert by_np2tf.stderr == plain.stderr
    assert by_np2tf.returncode == plain.returncode
    assert not (folder / "__pycache__" / f"script.{sys.implementation.cache_tag}.pyc").exists()


@pytest.mark.parametrize("arguments", [("-m", "pkg", "-x", "--jit"), ("-m", "pkg.part"), ("sub", "x")])
def test_modules_and_folders_as_python(folder: Path, arguments: tuple[str, ...]):
    plain = start([sys.executable], folder, *arguments)
    by_np2tf = np2tf_run(folder, *arguments)
    assert plain.returncode == 0, plain.stderr
    assert (by_np2tf.stdout, by_np2tf.stderr, by_np2tf.returncode) == (plain.stdout, plain.stderr, 0)


def test_an_interrupt_from_outside(folder: Path):
    (folder / "script.py").write_text("import time\nprint('ready', flush=True)\ntime.sleep(60)\n")
    process = subprocess.Popen(
        [sys.executable, *command()[1:], "script.py"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A job in the background ignores interrupts, and its children would too.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == -signal.SIGINT
    lines = errors.splitlines()
    assert lines[:2] == [
        "Traceback (most recent call last):",
        f'  File "{folder}/script.py", line 3, in <module>',
    ]
    assert lines[-1] == "KeyboardInterrupt"
    assert "np2tf" not in errors


# arguments -> exit status, and what must be told
WRONG = {
    "no file": (("nothing.py",), 2, "NP2TF931 there is no file nothing.py"),
    "no module": (("-m", "nothing_here"), 2, "NP2TF932 there is no module nothing_here"),
    "no submodule": (("-m", "pkg.nothing"), 2, "NP2TF932 there is no module pkg.nothing"),
    "nothing in a module": (("-m", "pkg.part.nothing"), 2, "NP2TF932 there is no module pkg.part.nothing"),
    "no main": (("-m", "empty"), 2, "NP2TF933 empty has nothing to run"),
    "no main in a folder": (("empty",), 2, "NP2TF933 empty has nothing to run"),
    "built in": (("-m", "sys"), 2, "NP2TF933 sys has nothing to run"),
    "syntax": (("broken.py",), 1, "broken.py:2:5: NP2TF901 not valid Python: '(' was never closed"),
    "nulls": (("nulls.py",), 1, "nulls.py:1:1: NP2TF90"),
    "unreadable": (("folder.py",), 2, "NP2TF933 folder.py has nothing to run"),
    "nothing": ((), 2, "give a file, or -m and a module"),
    "unknown option": (("--nonsense", "beside.py"), 2, "No such option"),
    "unknown value": (("--jit", "maybe", "beside.py"), 2, "'maybe' is not one of 'on', 'strict', 'off'"),
}


@pytest.mark.parametrize(("arguments", "status", "told"), WRONG.values(), ids=WRONG)
def test_wrong_input_is_told_with_a_code(folder: Path, arguments: tuple[str, ...], status: int, told: str):
    (folder / "broken.py").write_text("x = 1\ny = (1,\nz = 2\n")
    (folder / "nulls.py").write_bytes(b"x = 1\0\n")
    (folder / "folder.py").mkdir()
    done = np2tf_run(folder, *arguments)
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert done.returncode == status


def test_a_failing_package_is_the_users_own_error(folder: Path):
    done = np2tf_run(folder, "-m", "failing.part")
    assert done.returncode == 1
    assert f'File "{folder}/failing/__init__.py", line 1, in <module>' in done.stderr
    assert done.stderr.splitlines()[-1] == "ModuleNotFoundError: No module named 'no_such_dependency'"
    assert "np2tf" not in done.stderr


# -- with TensorFlow
# -----------------------------------------------------------------------------------------------------------

NUMERIC = """
    import sys
    import numpy as np
    import solver, left_alone
    from multiprocessing import get_context


    def runs_on(array):
        return type(array).__module__


    def where(k):
        return runs_on(np.ones(1)), float(solver.relax(np.zeros(5), k)[2]), runs_on(solver.one)


    def kinds():
        return [str(np.zeros(2).dtype), str((np.arange(2) / 2).dtype), str(np.zeros(2, np.float64).dtype)]


    if __name__ == "__main__":
        print("main", *map(runs_on, (np.ones(1), solver.one, left_alone.one)))
        print("kinds", *kinds())
        print("relax", solver.relax(np.zeros(6), 3.0))
        with get_context("spawn").Pool(1) as pool:
            print("child", *pool.map(where, [2.0])[0])
            print("child's kinds", *pool.apply(kinds))
    """
SOLVER = """
    import numpy as np

    one = np.ones(1)


    def relax(u, k):
        for i in range(1, len(u)):
            u[i] = u[i - 1] + k
        return u
    """


@pytest.fixture
def numeric(tmp_path: Path) -> Path:
    files = {
        "main.py": NUMERIC,
        "solver.py": SOLVER,
        "left_alone.py": "import numpy as np\none = np.ones(1)\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(dedent(text))
    return tmp_path


def test_script_and_modules_beside_it_are_translated_also_in_spawned_processes(numeric: Path):
    done = np2tf_run(numeric, "--exclude", "left_*", "--float32", "main.py")
    assert done.returncode == 0, done.stderr
    lines = dict(line.split(" ", 1) for line in done.stdout.replace("child's ", "child_").splitlines())
    assert lines["main"] == "np2tf.arrays.array.ndarray np2tf.arrays.array.ndarray numpy"
    assert lines["kinds"] == "float32 float32 float64"
    assert lines["relax"] == "[ 0.  3.  6.  9. 12. 15.]"
    assert lines["child"] == "np2tf.arrays.array.ndarray 4.0 np2tf.arrays.array.ndarray"
    assert lines["child_kinds"] == "float32 float32 float64"


def test_a_package_is_translated_and_its_errors_are_on_its_own_lines(numeric: Path):
    package = numeric / "package"
    package.mkdir()
    (package / "__init__.py").write_text("")
    for name in ("solver.py", "left_alone.py"):
        (package / name).write_text((numeric / name).read_text())
    (package / "__main__.py").write_text(
        dedent(
            """
            import numpy as np
            from . import solver
            import left_alone
            print(np.zeros.__module__, solver.np.__name__, left_alone.np.__name__)
            solver.relax(np.zeros((2, 2)), np.ones(3))
            """
        )
    )
    done = np2tf_run(numeric, "--device", "cpu", "-m", "package")
    assert done.stdout == "np2tf.tnp np2tf.tnp numpy\n"
    assert done.returncode == 1
    errors = [line for line in done.stderr.splitlines() if "absl" not in line]
    errors = errors[errors.index("Traceback (most recent call last):") :]
    shown = [line for line in errors if line.startswith("  File")]
    assert shown == [
        f'  File "{package}/__main__.py", line 6, in <module>',
        f'  File "{package}/solver.py", line 9, in relax',
    ]
    assert errors[-1].strip() == "ValueError: operands could not be broadcast together with shapes (2,) (3,)"


def test_a_device_that_is_not_there_is_told(folder: Path):
    done = np2tf_run(folder, "--device", "tpu:7", "beside.py")
    assert "NP2TF934 there is no device tpu:7; TensorFlow has cpu:0" in done.stderr
    assert "Traceback" not in done.stderr
    assert done.returncode == 2


def test_include_takes_modules_from_elsewhere(numeric: Path, tmp_path_factory: pytest.TempPathFactory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "far.py").write_text("import numpy as np\none = np.ones(1)\n")
    (numeric / "script.py").write_text(
        f"import sys\nsys.path.append({str(elsewhere)!r})\nimport far, solver\n"
        "print(far.np.__name__, solver.np.__name__)\n"
    )
    at_once = ("--tier", "compile")  # not only where something is hot
    assert np2tf_run(numeric, *at_once, "script.py").stdout == "numpy np2tf.tnp\n"
    assert np2tf_run(numeric, *at_once, "--include", "far", "script.py").stdout == "np2tf.tnp np2tf.tnp\n"


REPORTED = """
    import math
    import numpy as np


    def compiled(u):
        for i in range(1, len(u)):
            u[i] = np.sin(u[i - 1]) + 1.0
        return u


    def fallen(x):
        y = np.sin(x)
        while np.abs(y).max() > 0.1:
            y = y / 2
        return np.sin(y) + (1.0, 2.0)[math.floor(y[0] * 8)]


    compiled(np.zeros(9))
    compiled(np.zeros(9))
    fallen(np.ones(4))
    fallen(np.ones(4))
    for _ in range(3):
        bits = np.roots(np.ones(8))
    print("done")
    """


def test_the_report_tells_what_ran_where(numeric: Path):
    (numeric / "script.py").write_text(dedent(REPORTED))
    options = ("--tier", "compile", "--report", "json", "--report-file", "report.json")
    done = np2tf_run(numeric, *options, "script.py")
    assert (done.stdout, done.returncode) == ("done\n", 0)
    report = json.loads((numeric / "report.json").read_text())
    script = str(numeric / "script.py")
    where = report["where"]
    assert where["tracing"]["calls"] >= 1
    assert 0 < where["importing"]["seconds"] < report["seconds"]
    assert sum(time["seconds"] for time in where.values()) == pytest.approx(report["seconds"], rel=0.01)
    assert 0 < report["spent"]["tracing"] < report["seconds"]
    functions = {function["name"]: function for function in report["functions"]}
    assert functions["compiled"]["line"] == 6
    assert functions["fallen"]["host"]["calls"] == 2
    assert functions["compiled"]["compiled"]["calls"] + functions["compiled"]["graph"]["calls"] == 2
    (unjitted,) = report["unjitted"]
    assert (unjitted["path"], unjitted["line"], unjitted["calls"]) == (script, 16, 2)
    assert unjitted["code"] == "NP2TF542"
    assert "fallen" in {fallback["name"] for fallback in report["host_fallbacks"]}


def test_the_report_as_text_comes_last_also_after_an_error(numeric: Path):
    (numeric / "script.py").write_text(dedent(REPORTED) + "1 / 0\n")
    done = np2tf_run(numeric, "--report", "--tier", "compile", "script.py")
    assert done.returncode == 1
    error, _, report = done.stderr.partition("ZeroDivisionError: division by zero\n")
    assert "Traceback" in error
    assert "importing TensorFlow" in report
    assert re.search(r"script.py:16: NP2TF542 fallen: .*\(2 calls\)", report)


HOT = """
    import textwrap
    import numpy as np


    def step(x, k):
        for j in range(3):
            x = np.sin(x) + j
        return x + k


    def main():
        x = np.ones(20_000)
        for k in range(600):
            x = step(x, k)
            textwrap.wrap("a text", 3)


    main()
    """


@pytest.mark.parametrize("tier", ["auto", "compile"])
def test_the_report_says_what_stayed_on_numpy(tier: str, numeric: Path):
    (numeric / "script.py").write_text(dedent(HOT))
    done = np2tf_run(numeric, "--tier", tier, "--report", "script.py")
    assert done.returncode == 0, done.stderr
    assert "FaultWarning" not in done.stderr
    if tier == "auto":
        text = "script.py:14  `main`: loop: calls `textwrap.wrap`, which compiled code cannot run (line 16"
        assert text in done.stderr
    assert re.search(r"np2tf: \d+\.\d+ s in total\n", done.stderr)


def test_strict_fails_where_a_function_cannot_be_compiled(numeric: Path):
    (numeric / "script.py").write_text(dedent(REPORTED))
    done = np2tf_run(numeric, "--jit", "strict", "--tier", "compile", "script.py")
    assert done.returncode == 1
    assert f'File "{numeric}/script.py", line 16, in fallen' in done.stderr
    assert "ValueNeededError" in done.stderr
    assert done.stderr.splitlines()[-1] == "np2tf run: NP2TF542 (np2tf explain NP2TF542 shows the remedy)"


@pytest.mark.parametrize("name", ["random", "tempfile", "json"])
def test_modules_of_the_program_with_names_of_pythons_own(name: str, tmp_path: Path) -> None:
    """The program gets its own modules, and runs as with `python`."""
    (tmp_path / f"{name}.py").write_text("WORD = 'own'\n")
    (tmp_path / "script.py").write_text(
        f"import sys\nimport {name}\nimport numpy as np\nprint({name}.WORD, np.ones(2), sys.argv)\n"
    )
    done = np2tf_run(tmp_path, "script.py", "-a")
    plain = start([sys.executable], tmp_path, "script.py", "-a")
    assert (done.returncode, done.stdout) == (plain.returncode, plain.stdout)
    if plain.returncode == 0:
        assert f"({name})" in done.stderr


def test_a_module_of_pythons_name_on_pythonpath(tmp_path: Path) -> None:
    """It hides Python's module before np2tf is loaded."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "random.py").write_text("WORD = 'own'\n")
    (tmp_path / "script.py").write_text("import random\nprint(random.WORD)\n")
    np2tf = [sys.executable, str(ROOT / "cli.py"), "run"]
    done = start(np2tf, tmp_path, "script.py", path=str(tmp_path / "elsewhere"))
    assert (done.returncode, done.stdout) == (0, "own\n"), done.stderr
    assert "(random)" in done.stderr


def test_a_folder_with_a_module_of_pythons_name(tmp_path: Path) -> None:
    """A folder that is run is the folder of its modules; what stands beside it does not count."""
    (tmp_path / "json.py").write_text("")
    (tmp_path / "tool").mkdir()
    (tmp_path / "tool" / "__main__.py").write_text("import random\nprint(random.WORD)\n")
    (tmp_path / "tool" / "random.py").write_text("WORD = 'own'\n")
    done = np2tf_run(tmp_path, "tool")
    assert (done.returncode, done.stdout) == (0, "own\n")
    assert "(random)" in done.stderr
