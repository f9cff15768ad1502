"""`np2tf verify`: what counts as equal, how failures are told, and that the two sides do not interfere."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from np2tf.cli.commands.verify import verify
from np2tf.cli.verify.comparison import Instance, first_difference, freeze
from np2tf.cli.verify.programs import find_programs, verify_program
from np2tf.core.diagnostics import codes
from tests.helpers.command_runner import CliRunner

PROGRAM = """\
import numpy as np

def main():
    x = np.linspace(0, 1, 5)
    return {"x": x, "n": 5, "pair": (x.sum(), [x[1:] * 2])}
"""


class Box:
    def __init__(self, value):
        self.value = value


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "lines.py"
    path.write_text(PROGRAM)
    return path


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        (1.0, np.float64(1.0)),
        (np.float64(2.0), np.array(2.0)),
        (3, np.int64(3)),
        (np.array([1.0, np.nan, np.inf]), np.array([1.0 + 1e-9, np.nan, np.inf])),
        (np.array([1.0, 1e-14]), np.array([1.0, -1e-14])),
        (np.float32([1.0]), np.float32([1.00001])),
        ({"a": (1, [True, None, "s"])}, {"a": (1, [True, None, "s"])}),
        (np.array(["a", "b"]), np.array(["a", "b"])),
        (np.array([1 + 2j]), np.array([1 + 2j + 1e-10])),
        (Instance("A", {"x": 1}), Instance("A", {"x": 1})),
        (np.zeros((0, 3)), np.zeros((0, 3))),
        (np.float16([1.0]), np.float16([1.001])),
        (np.complex64([1.0]), np.complex64([1.00001])),
        (np.array(["NaT", "2001-01-01"], "M8[D]"), np.array(["NaT", "2001-01-01"], "M8[D]")),
    ],
)
def test_equal(expected, actual):
    assert first_difference(expected, actual) is None


@pytest.mark.parametrize(
    ("expected", "actual", "what", "where"),
    [
        (1.0, 1, "dtype", "result"),
        (True, 1, "dtype", "result"),
        (np.float32(1), 1.0, "dtype", "result"),
        (np.zeros(3), np.zeros((3, 1)), "shape", "result"),
        (np.array([1, 2, 3]), np.array([1, 2, 4]), "value", "result at [2]"),
        (np.array([[1.0, 2.0]]), np.array([[1.0, 2.0 + 1e-5]]), "value", "result at [0, 1]"),
        (np.array([1.0, np.nan]), np.array([1.0, 0.0]), "value", "result at [1]"),
        (np.array([0.0]), np.array([np.nan]), "value", "result at [0]"),
        (np.array(["NaT"], "M8[D]"), np.array(["2001-01-01"], "M8[D]"), "value", "result at [0]"),
        (np.array([np.inf]), np.array([-np.inf]), "value", "result at [0]"),
        ({"a": 1}, {"b": 1}, "keys", "result"),
        ({"a": [1, (2,)]}, {"a": [1, (3,)]}, "value", "result['a'][1][0]"),
        ([1], (1,), "type", "result"),
        ([1], [1, 2], "length", "result"),
        (None, 0, "type", "result"),
        ("a", "b", "value", "result"),
        (Instance("A", {"x": 1}), Instance("B", {"x": 1}), "class", "result"),
        (Instance("A", {"x": 1}), Instance("A", {"x": 2}), "value", "result['x']"),
    ],
)
def test_first_difference(expected, actual, what, where):
    found = first_difference(expected, actual)
    assert found is not None
    assert found.property == what
    assert str(found).startswith(f"{where}: {what} ")


def test_rtol_is_the_callers():
    assert first_difference(np.ones(2), np.ones(2) * 1.001) is not None
    assert first_difference(np.ones(2), np.ones(2) * 1.001, rtol=1e-2) is None


def test_freeze_copies_and_ends_on_cycles():
    array = np.zeros(2)
    cycle: list = [array, Box(np.float32(1))]
    cycle.append(cycle)
    frozen = freeze(cycle)
    array[0] = 1
    assert frozen[0].tolist() == [0.0, 0.0]
    assert frozen[1].kind == "Box"
    assert frozen[1].attributes["value"].dtype == np.float32
    assert frozen[2] == "<cycle>"
    assert freeze({np.int64(1): {2.0}}) == {1: [2.0]}


def test_same_text_is_equal_and_timed(program: Path):
    outcome = verify_program(program, repeat=2, translate=lambda text, path: text)
    assert outcome.equal, outcome.error
    assert outcome.numpy_seconds
    assert outcome.first_seconds
    assert outcome.warm_seconds
    assert set(outcome.counts) == {"compiled", "graph", "eager", "host"}


def test_a_difference_has_a_path(program: Path):
    outcome = verify_program(program, translate=lambda text, path: text.replace("* 2", "* 3"))
    assert outcome.code == "NP2TF923"
    assert "result['pair'][1][0] at [0]: value" in outcome.error


def test_a_difference_of_a_later_call_is_found(program: Path):
    later = (
        PROGRAM
        + "\ncalls = 0\nfirst = main\ndef main():\n    global calls\n    calls += 1\n    return CALLS\n"
    )
    program.write_text(later.replace("CALLS", "0"))
    outcome = verify_program(
        program, translate=lambda text, path: text.replace("return 0", "return calls > 1 and 1 or 0")
    )
    assert outcome.code == "NP2TF923"


def test_the_failing_line_of_the_translation_is_named(program: Path):
    outcome = verify_program(program, translate=lambda text, path: text.replace("x.sum()", "x.no_sum()"))
    assert outcome.code == "NP2TF922"
    assert "AttributeError" in outcome.error
    assert 'line 5: return {"x": x' in outcome.error


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("import numpy as np\ndef main():\n    raise ValueError('no')\n", "NP2TF921"),
        ("import numpy as np\nraise SystemExit(3)\n", "NP2TF921"),
        ("import numpy as np\n", "NP2TF924"),
        ("import numpy as np\ndef main(:\n", "NP2TF901"),
        ("# coding: no-such\nimport numpy as np\n", "NP2TF902"),
    ],
)
def test_failures_have_codes(program: Path, text: str, code: str):
    program.write_text(text)
    outcome = verify_program(program)
    assert outcome.code == code
    assert code in codes()


def test_the_two_sides_do_not_share_state(program: Path):
    """A module that changes itself and what it prints: each side gets its own module object."""
    program.write_text(
        "import numpy as np\nimport sys\nseen = []\n\n"
        "def main():\n    print('noise')\n    seen.append(1)\n    return len(seen), __name__ in sys.modules\n"
    )
    before = list(__import__("sys").path)
    outcome = verify_program(program, translate=lambda text, path: text)
    assert outcome.equal, outcome.error
    assert __import__("sys").path == before
    assert not [path.name for path in program.parent.iterdir() if path.suffix != ".py"]


EVERYTHING = """
import matplotlib.pyplot as plt
import numpy as np

x = np.linspace(0.0, 1.0, 5)


def main():
    y = np.cumsum(x)
    print("sum", y.sum())
    plt.plot(x, y)
    np.save("y.npy", y)
"""


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"sum"', '"total"', "line 1 of the output"),
        ("0.0, 1.0", "0.0, 1.1", "line 1 of the output"),
        ("plt.plot(x, y)", "plt.plot(x, 2 * y)", "figures[0][0]['lines'][0] at [1, 1]"),
        ('np.save("y.npy", y)', 'np.save("y.npy", y + 1)', "y.npy: result at [0]: value "),
        ('np.save("y.npy", y)', "pass", "files: ['y.npy'] on NumPy, [] translated"),
        ("x = np.linspace(0.0, 1.0, 5)", "x = np.linspace(0.0, 1.0, 5)\nz = x", "module: keys"),
    ],
)
def test_all_that_a_program_shows_is_compared(
    program: Path, old: str, new: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a result, there are printed text, figures, files and the arrays of the module."""
    pytest.importorskip("matplotlib", reason="figures are matplotlib's")
    monkeypatch.chdir(program.parent)
    program.write_text(EVERYTHING)
    equal = verify_program(program, translate=lambda text, path: text)
    assert equal.message == "equal"
    assert equal.compared == ["1 printed line", "1 array of the module", "1 figure", "1 file"]
    outcome = verify_program(program, translate=lambda text, path: text.replace(old, new))
    assert outcome.code == "NP2TF923"
    assert said in outcome.error


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("x = np.ones(3)", "main() returns nothing"),
        ("return 0", "main() returns nothing"),
        ("print(np.random.rand())", "two runs on NumPy differ: line 1 of the output"),
        ("return np.random.rand(3)", "two runs on NumPy differ: result at [0]: value"),
    ],
)
def test_nothing_compared_is_not_equal(program: Path, body: str, reason: str) -> None:
    program.write_text(f"import numpy as np\n\n\ndef main():\n    {body}\n")
    outcome = verify_program(program)
    assert (outcome.code, outcome.compared) == ("NP2TF929", [])
    assert reason in outcome.error


def test_what_takes_too_long_has_failed(program: Path) -> None:
    program.write_text("import time\n\n\ndef main():\n    time.sleep(60)\n")
    outcome = verify_program(program, timeout=0.2)
    assert (outcome.code, "it took more than 0.2 s" in outcome.error) == ("NP2TF921", True)


def test_quick_programs_are_not_faster(program: Path) -> None:
    """A ratio of times near the clock's resolution is not counted."""
    program.write_text("import numpy as np\n\n\ndef main():\n    return np.ones(2)\n")
    outcome = verify_program(program)
    assert outcome.equal
    assert not outcome.is_measurable


def test_find_programs(tmp_path: Path):
    for name in ("b.py", "a.py", "c.txt"):
        (tmp_path / name).write_text("")
    assert [path.name for path in find_programs([tmp_path])] == ["a.py", "b.py"]
    assert [path.name for path in find_programs([tmp_path, tmp_path / "c.txt"], "b")] == ["b.py"]


def test_command_prints_a_table_and_exits_1_where_one_fails(program: Path):
    (program.parent / "broken.py").write_text("import numpy as np\n")
    done = CliRunner().invoke(verify, [str(program), str(program.parent / "broken.py"), "--repeat", "2"])
    assert done.exit_code == 1, done.output
    assert "lines.py" in done.output
    assert "NP2TF924" in done.output
    assert "2 programs: 1 equal, 0 different, 1 failed" in done.output
    assert "1e-07" in done.output


def test_command_prints_json(program: Path):
    done = CliRunner().invoke(verify, [str(program), "--json", "--repeat", "2"])
    assert done.exit_code == 0, done.output
    data = json.loads(done.stdout)
    assert data["summary"]["equal"] == 1
    assert data["programs"][0]["message"] == "equal"


def test_command_without_programs_is_a_usage_error(tmp_path: Path):
    assert CliRunner().invoke(verify, [str(tmp_path)]).exit_code == 2
    assert CliRunner().invoke(verify, [str(tmp_path / "nothing.py")]).exit_code == 2


def test_programs_are_verified_where_pytest_is_not_installed(tmp_path: Path) -> None:
    """README's first command installs np2tf without what its tests need."""
    (tmp_path / "program.py").write_text("import numpy as np\n\n\ndef main():\n    return np.arange(3)\n")
    program = "import sys; sys.modules['pytest'] = None; from np2tf.cli.main import main; main(sys.argv[1:])"
    command = [sys.executable, "-c", program, "verify", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 equal" in done.stdout
