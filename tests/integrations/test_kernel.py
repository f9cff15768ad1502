"""A notebook in a real Jupyter kernel shows the same on NumPy, with `%load_ext np2tf`, and converted."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from np2tf.cli.main import np2tf
from tests.helpers.command_runner import CliRunner

nbformat: Any = pytest.importorskip("nbformat")
nbclient: Any = pytest.importorskip("nbclient")
pytest.importorskip("ipykernel")

ROOT = Path(__file__).resolve().parents[2]
CELLS = [
    "import numpy as np\n%precision 6\nrng = np.random.default_rng(3)\nx = rng.normal(size=(40, 3))",
    "def smooth(x, n):\n    for _ in range(n):\n        x[1:-1] = (x[2:] + x[:-2]) / 2\n    return x",
    "smooth(x, 300).sum(axis=0).round(9)",
    "%%capture shown\nprint(np.round(x, 3))",
    "print(len(shown.stdout), type(x), x.dtype, x.flags.writeable)\nx[0]",
    "y = np.linalg.svd(x, compute_uv=False)\n[float(np.round(value, 9)) for value in y]",
    "%%bash\necho no Python",
    "mask = x[:, 0] > 0\nx[mask] *= -1\nassert (x[:, 0] <= 0).all()\nx[mask].shape",
    "np.array([1, 2]) + np.array([1, 2, 3])",
]


def executed(cells: list[str], folder: Path) -> list[object]:
    """Return each cell's output in a new kernel: texts and values, or the class and message of an error."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    client = nbclient.NotebookClient(
        notebook,
        timeout=300,
        kernel_name="python3",
        allow_errors=True,
        resources={"metadata": {"path": str(folder)}},
    )
    client.execute()
    return [[_told(output) for output in cell.outputs] for cell in notebook.cells]


def _told(output: Any) -> object:
    if output.output_type == "stream":
        return (output.name, output.text)
    if output.output_type == "error":
        return (output.ename, output.evalue)
    return output.data["text/plain"]


@pytest.mark.slow
def test_the_same_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("PYTHONPATH", path)
    monkeypatch.setenv("NP2TF_TIER", "compile")
    monkeypatch.delenv("TF_CPP_MIN_LOG_LEVEL", raising=False)
    expected = executed(CELLS, tmp_path)
    assert expected[2]
    assert expected[-1] == [("ValueError", "operands could not be broadcast together with shapes (2,) (3,) ")]
    loaded = executed(["%load_ext np2tf", *CELLS, "type(smooth).__name__"], tmp_path)
    assert loaded[0] == []
    assert loaded[1:-1] == expected
    assert loaded[-1] == ["'JittedFunction'"]
    file = tmp_path / "n.ipynb"
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    nbformat.write(notebook, file)
    done = CliRunner().invoke(np2tf, ["convert", "--write", "--no-cache", str(file)])
    assert done.exit_code == 0, done.output
    converted = ["".join(cell["source"]) for cell in json.loads(file.read_text())["cells"]]
    assert any("np2tf.for_loop" in cell for cell in converted)
    assert executed(converted, tmp_path) == expected
