"""Programs that start as their source: what runs, what is translated when, and what is translated at once."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from np2tf.loading.code.source_code import source_code
from tests.helpers.warm_python import warm_python

#: Says what is loaded, without a word for which a program would be translated at once.
_TELL = """
import sys
import json
print(json.dumps({
    "translator": "np2" "tf.translator.pipeline" in sys.modules,
    "libraries": "tensor" "flow" in sys.modules,
    "kind": [kind.__name__ for kind in type(f).__mro__],
}))
"""
_CLI = "from np2tf.cli.main import main; import sys; sys.exit(main())"


def run(folder: Path, *words: str, python: str = sys.executable, **files: str) -> list[str]:
    """The lines that `np2tf run` prints for a program of these files, by default in a new interpreter."""
    for name, text in files.items():
        (folder / f"{name}.py").write_text(textwrap.dedent(text))
    command = [python, "-c", _CLI, "run", *words]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_a_short_program_loads_no_translator(tmp_path: Path) -> None:
    main = (
        "import numpy as np\ndef f(x):\n    return np.sin(x).sum()\nprint(round(f(np.ones(3)), 6))\n" + _TELL
    )
    value, told = run(tmp_path, "main.py", main=main)
    assert value == "2.524413"
    assert json.loads(told)["translator"] is json.loads(told)["libraries"] is False
    assert "WaitingFunction" in json.loads(told)["kind"]


def test_a_function_is_translated_when_it_is_due(tmp_path: Path) -> None:
    main = """
    import numpy as np
    def helper(x):
        return np.where(x > 1, x, -x)
    def f(x):
        for i in range(20):
            x = np.cos(helper(x)) + i
        return x
    import np2tf_settings  # makes every call worth compiling
    results = [f(np.linspace(0, 3, 4)).round(9).tolist() for _ in range(6)]
    print(len({str(result) for result in results}), results[0])
    """
    settings = """
    import importlib
    constants = importlib.import_module("np" "2tf.staging.tiers.constants")
    constants.FIRST_CALL_GAIN = constants.COMPILE_SECONDS = constants.HOST_SECONDS_FIRST = 0.0
    constants.DEBT_FACTOR = 0.0
    constants.LEAST_SHARE = constants.TOO_SHORT = 0.0
    constants.SHARE_OF_ALL = 1e9
    """
    main = textwrap.dedent(main).replace("np2tf_settings", "at_once") + _TELL
    expected = subprocess.run(
        [
            warm_python(),
            "-c",
            "import numpy as np\n"
            "def f(x):\n    for i in range(20):\n"
            "        x = np.cos(np.where(x > 1, x, -x)) + i\n    return x\n"
            "print(1, f(np.linspace(0, 3, 4)).round(9).tolist())",
        ],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()[0]
    value, told = run(tmp_path, "main.py", main=main, at_once=settings)
    assert value == expected
    assert json.loads(told)["translator"]
    assert json.loads(told)["libraries"]


@pytest.mark.parametrize(
    ("text", "waits"),
    [
        ("import numpy as np\nx = np.ones(3)\n", True),
        ("import numpy as np\nimport tensorflow as tf\n", False),
        ("import numpy as np\nfrom numba import njit\n", False),
        ("import numpy as np\nx = np.float(3)\n", False),  # NumPy has removed it
        ("import numpy as np\nprint(np.ones(3).ptp())\n", False),
        ("from numpy import row_stack_of_old\n", False),
        ("import warnings\nimport numpy as np\nwarnings.warn('x', stacklevel=2)\n", True),
        ("import numpy as np\ndef f(:\n", False),
    ],
)
def test_what_is_translated_at_once(text: str, waits: bool) -> None:
    assert (source_code(text.encode(), "/nowhere/main.py") is not None) is waits


def test_other_modules_of_the_program_count(tmp_path: Path) -> None:
    """One module for tensors lets all be translated at once; a file that nobody imports does not count."""
    main = "import numpy as np\nHELPER\ndef f(x):\n    return np.sin(x).sum()\n" + _TELL
    (tmp_path / "unused.py").write_text("import tensorflow\n")
    told = json.loads(run(tmp_path, "main.py", main=main.replace("HELPER", ""))[-1])
    assert "WaitingFunction" in told["kind"]
    helper = "def g(x):\n    import tensorflow as tf\n    return tf.constant(x)\n"
    main = main.replace("HELPER", "import helper")
    told = json.loads(run(tmp_path, "main.py", main=main, helper=helper)[-1])
    assert "WaitingFunction" not in told["kind"]


def test_a_module_that_fails_runs_once(tmp_path: Path) -> None:
    main = "try:\n    import other\nexcept ZeroDivisionError as error:\n    print('failed', error)\n"
    other = "import numpy as np\nprint('once', np.ones(1).sum())\n1 / 0\n"
    assert run(tmp_path, "main.py", main=main, other=other) == ["once 1.0", "failed division by zero"]


def test_tiny_functions_are_called_without_their_wrapper(tmp_path: Path) -> None:
    main = """
    import pickle
    import numpy as np
    def function(x):
        return np.abs(x) + 1
    class Holder:
        def method(self, x):
            return np.abs(x) + 3
        def value(self, x):
            return np.abs(x) + 4
    table, holder, total = {function: "kept"}, Holder(), 0.0
    bound = holder.value
    for k in range(40000):
        total += function(k) + holder.method(k) + holder.value(k)
    print(total, table[function], function(1), Holder().method(1), Holder().value(1))
    def lengths():
        values = function, *(vars(Holder)["_".join([name])] for name in ("method", "value"))
        return [len(type(value).__mro__) for value in values]
    print(lengths(), pickle.loads(pickle.dumps(function)) is function)
    """
    # An object passes calls on by a class of its own; a method is the source's function.
    assert run(tmp_path, "main.py", main=main) == [
        "2400260000.0 kept 2 4 5",
        "[4, 2, 4] True",
    ]


def test_what_is_switched_off_is_left_alone(tmp_path: Path) -> None:
    """Neither functions nor loops of it are watched, and the comment is no use of np2tf."""
    main = """
    import numpy as np
    def f(x):  # np2tf: off
        for i in range(100):
            x[i] = np.sin(x[i])
        return x
    class Holder:  # np2tf: off
        def method(self, x):
            return np.sin(x) + np.cos(x)
    def g(x):
        return np.sin(x) + np.cos(x)
    f(np.ones(100)), Holder().method(np.ones(2))
    print([type(value).__name__ for value in (f, vars(Holder)["method"], g)], len(f.__code__.co_names))
    """
    assert run(tmp_path, "main.py", main=main) == ["['function', 'function', 'WaitingFunction'] 3"]


@pytest.mark.parametrize("start", ["import warnings", "from warnings import warn", "import warnings as w"])
def test_frames_that_a_source_counts_are_the_programs(start: str, tmp_path: Path) -> None:
    """Warnings name the line of the caller's caller, and what looks at the stack sees no frame of np2tf."""
    call = {"from warnings import warn": "warn", "import warnings as w": "w.warn"}.get(start, "warnings.warn")
    main = f"""
    import sys
    import numpy as np
    {start}
    def inner(x):
        {call}("warned", stacklevel=3)
        return np.abs(x)[1:].sum()
    def middle(x):
        return inner(x) + np.sum(x)
    def outer(x):
        return middle(x) * np.ones(2)
    def looks(x):
        return sys._getframe(1).f_code.co_name, np.abs(x)
    def caller(x):
        return looks(x[1:])[0]
    print(outer(np.arange(3.0)).tolist(), caller(np.ones(3)))
    """
    path = tmp_path / "main.py"
    path.write_text(textwrap.dedent(main))
    plain, run_by = (
        subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
        for command in ([sys.executable, "main.py"], [sys.executable, "-c", _CLI, "run", "main.py"])
    )
    assert "UserWarning: warned" in plain.stderr
    assert (run_by.stdout, run_by.stderr) == (plain.stdout, plain.stderr)
