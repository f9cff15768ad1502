"""`np2tf export FILE:FUNCTION --out DIR --input TEXT`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import np2tf
from np2tf.cli.main import np2tf as command
from tests.helpers.command_runner import CliRunner, Result

SCRIPT = """
import numpy as np
import constants

def model(x):
    return np.tanh(x) * constants.SCALE

def talks(x):
    print(x)
    return x

number = 3

if __name__ == "__main__":
    raise SystemExit("this is no module")
"""


def export(folder: Path, *words: str) -> Result:
    """Run the command on a script in the folder."""
    (folder / "exported_script.py").write_text(SCRIPT)
    (folder / "constants.py").write_text("SCALE = 2.0\n")
    places = [
        word.replace("SCRIPT", "HERE/exported_script.py").replace("HERE", str(folder)) for word in words
    ]
    return CliRunner().invoke(command, ["export", *(word.replace("HERE", str(folder)) for word in places)])


def test_a_function_is_saved(tmp_path: Path) -> None:
    text = tmp_path / "model.mlir"
    done = export(
        tmp_path,
        "SCRIPT:model",
        "--out",
        "HERE/out",
        "--input",
        "x: f64[2, 3]",
        "--stablehlo",
        str(text),
        "--device",
        "gpu",
    )
    assert done.exit_code == 0, done.output
    assert "model was saved in" in done.output
    assert "stablehlo.tanh" in text.read_text()
    assert b"StableHLO_v1.0.0" in (tmp_path / "model.mlir.bc").read_bytes()
    x = np.arange(6.0).reshape(2, 3)
    np.testing.assert_allclose(np2tf.load(tmp_path / "out")(x), np.tanh(x) * 2)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["SCRIPT", "--out", "HERE/out", "--input", "x: f64"], "give a file and a function"),
        (["HERE/absent.py:model", "--out", "HERE/out", "--input", "x: f64"], "NP2TF931"),
        (["SCRIPT:absent", "--out", "HERE/out", "--input", "x: f64"], "NP2TF952"),
        (["SCRIPT:number", "--out", "HERE/out", "--input", "x: f64"], "NP2TF952"),
        (["SCRIPT:model", "--out", "HERE/out", "--input", "x: f65"], "NP2TF951"),
        (["SCRIPT:model", "--out", "HERE/out", "--input", "y: f64"], "no parameter 'y'"),
        (["SCRIPT:model", "--out", "HERE/out"], "give the arguments"),
        (["SCRIPT:model", "--input", "x: f64"], "--out"),
        (["SCRIPT:talks", "--out", "HERE/out", "--input", "x: f64[?]"], "NP2TF556"),
        (["SCRIPT:model", "--out", "HERE", "--input", "x: f64[?]"], "not empty"),
        (["SCRIPT:model", "--out", "HERE/o", "--input", "x: f64[?]", "--device", "gpu"], "--stablehlo"),
        (
            [
                "SCRIPT:model",
                "--out",
                "HERE/out",
                "--input",
                "x: f64[?]",
                "--stablehlo",
                "HERE/m",
            ],
            "all lengths",
        ),
    ],
)
def test_errors_are_clear(tmp_path: Path, words: list[str], said: str) -> None:
    done = export(tmp_path, *words)
    assert done.exit_code == 2
    assert said in done.output
    assert not (tmp_path / "out").exists()


def test_a_file_that_fails(tmp_path: Path) -> None:
    (tmp_path / "failing.py").write_text("import numpy as np\n1 / 0\n")
    done = export(tmp_path, "HERE/failing.py:f", "--out", "HERE/out", "--input", "x: f64")
    assert done.exit_code == 2
    assert "NP2TF953" in done.output
    assert "ZeroDivisionError" in done.output
