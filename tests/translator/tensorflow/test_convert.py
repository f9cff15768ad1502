"""`np2tf convert --target tf`: what is written, what is told, and the exit statuses."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from np2tf.cli.main import np2tf as command
from tests.helpers.command_runner import CliRunner, Result

GOOD = "import numpy as np\n\n\ndef half(x):\n    return np.sin(x) / 2\n"
BAD = "import numpy as np\n\n\ndef f(x):\n    return np.nditer(x)\n"


def converted(*arguments: str | Path, text: str | None = None) -> Result:
    """A call of the command."""
    return CliRunner().invoke(command, ["convert", *map(str, arguments)], input=text)


def test_written(tmp_path: Path) -> None:
    """A file that is translated needs TensorFlow alone; a second call changes nothing."""
    file = tmp_path / "a.py"
    file.write_text(GOOD)
    done = converted("--target", "tf", "--write", file)
    assert done.exit_code == 0, done.output
    text = file.read_text()
    assert text.startswith("import tensorflow as tf\nimport tensorflow.experimental.numpy as tnp\n")
    assert "return tnp.sin(x) / 2" in text
    assert "np2tf" not in text
    assert converted("--target", "tf", "--write", file).exit_code == 0
    assert file.read_text() == text


def test_refused(tmp_path: Path) -> None:
    """A file with a refusal stays as it is, with its code and place, and status 1."""
    file = tmp_path / "a.py"
    file.write_text(BAD)
    done = converted("--target", "tf", "--write", file)
    assert done.exit_code == 1
    assert file.read_text() == BAD
    assert "NP2TF601" in done.stderr
    assert "a.py:5:12" in done.stderr


def test_ignore_comments_do_not_help(tmp_path: Path) -> None:
    """No comment makes a translation right."""
    file = tmp_path / "a.py"
    file.write_text("# np2tf: ignore-file\n" + BAD)
    assert converted("--target", "tf", "--write", file).exit_code == 1


def test_modules_that_import_one_another(tmp_path: Path) -> None:
    """Modules that import one another, in whatever form, are translated together; a module that cannot be
    translated keeps the modules connected with it on NumPy, and no other module.
    """
    package = tmp_path / "pack"
    package.mkdir()
    for name in ("first", "second", "third", "alone"):
        (package / f"{name}.py").write_text(GOOD)
    (package / "__init__.py").write_text("from . import third\n")
    (package / "user.py").write_text("from .first import half\nimport pack.second as second\n")
    sources = {path: path.read_text() for path in package.glob("*.py")}
    for jobs in ("1", "2"):
        done = converted("--target", "tf", "--write", "--jobs", jobs, tmp_path)
        assert done.exit_code == 0, done.output
        changed = {path.stem for path in package.glob("*.py") if "tensorflow" in path.read_text()}
        assert changed == {"first", "second", "third", "alone"}
        for path, text in sources.items():
            path.write_text(text)
    (package / "first.py").write_text("import numpy as np\n\n" + GOOD.partition("\n")[2] + "\n\nnp = half\n")
    done = converted("--target", "tf", "--write", tmp_path)
    assert done.exit_code == 1
    changed = {path.stem for path in package.glob("*.py") if "tensorflow" in path.read_text()}
    assert changed == {"alone", "second", "third"}
    assert "NP2TF610" not in done.stderr


def test_configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The target may stand in the configuration; the command line goes before it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "np2tf.toml").write_text('target = "tf"\n')
    assert "import tensorflow" in converted("-", text=GOOD).stdout
    assert "from np2tf import tnp" in converted("--target", "np2tf", "-", text=GOOD).stdout


def test_notebooks(tmp_path: Path) -> None:
    """The cells of a notebook are one program; magics stay, and a cell shows arrays."""
    sources = ["import numpy as np\n%matplotlib inline", "x = np.arange(3.0)\nx[0] = 5", "np.sin(x)"]
    cells = [
        {"cell_type": "code", "source": text, "metadata": {}, "outputs": [], "execution_count": None}
        for text in sources
    ]
    file = tmp_path / "a.ipynb"
    file.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    done = converted("--target", "tf", "--write", "--include", "*.ipynb", file)
    assert done.exit_code == 0, done.output
    first, second, third = (cell["source"] for cell in json.loads(file.read_text())["cells"])
    assert "import tensorflow as tf" in first
    assert "%matplotlib inline" in first
    assert second == "x = _arange(3.0)\nx = _set_slice(x, 0, 5)"
    assert third == "tnp.sin(x).numpy()"


def test_writers_are_told() -> None:
    """A function that returns what it writes to is told of: its callers elsewhere must know."""
    source = GOOD + "\n\ndef f(x):\n    x[0] = 1\n\n\ny = np.zeros(3)\nf(y)\n"
    done = converted("--target", "tf", "-", text=source)
    assert "NP2TF609" in done.stderr
    assert "y = f(y)" in done.stdout


def test_help() -> None:
    """The option is told of."""
    assert "--target [np2tf|tf]" in " ".join(
        CliRunner().invoke(command, ["convert", "--help"]).output.split()
    )


def test_generators_stay(tmp_path: Path) -> None:
    """NumPy's generators stay, with their import; a second call changes nothing and succeeds."""
    file = tmp_path / "a.py"
    file.write_text(
        "import numpy as np\n\n\ndef f(rng):\n    return np.sin(rng.normal(size=3) + np.random.rand())\n"
    )
    assert converted("--target", "tf", "--write", file).exit_code == 0
    text = file.read_text()
    assert text.startswith("import numpy as np\nimport tensorflow as tf\n")
    assert "tnp.sin(_drawn(rng.normal(size=3)) + np.random.rand())" in text
    assert converted("--target", "tf", "--write", file).exit_code == 0
    assert file.read_text() == text


def test_writes_to_parameters_of_callers_elsewhere(tmp_path: Path) -> None:
    """A function that no code in the file calls writes to lists and NumPy arrays, and returns them."""
    source = "import numpy as np\n\n\ndef put(x, k):\n    x[k] = k + 1\n    x[k] += np.abs(-1)\n"
    done = converted("--target", "tf", "-", text=source)
    assert done.exit_code == 0
    script = done.stdout + (
        "\nimport numpy\na, b, c = [0, 0], numpy.zeros(2), tf.zeros(2)\n"
        "assert put(a, 1) is a and put(b, 1) is b\n"
        "print([float(v) for v in a], b.tolist(), put(c, 1).numpy().tolist(), c.numpy().tolist())\n"
    )
    run = subprocess.run([sys.executable, "-I", "-c", script], capture_output=True, text=True, check=False)
    assert run.stdout == "[0.0, 3.0] [0.0, 3.0] [0.0, 3.0] [0.0, 0.0]\n", run.stderr


def test_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`check` judges modules that import one another together, as `convert` does."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "np2tf.toml").write_text('target = "tf"\n')
    (tmp_path / "low.py").write_text(GOOD)
    (tmp_path / "high.py").write_text("import low\n\n\ndef f(x):\n    return low.half(x)\n")
    done = CliRunner().invoke(command, ["check", "--format", "concise", "."])
    assert "NP2TF6" not in done.output
    assert "low.py: would change" in done.output
    (tmp_path / "low.py").write_text(BAD)
    done = CliRunner().invoke(command, ["check", "--format", "concise", "."])
    assert done.output.count("NP2TF601") == 1
    assert "high.py:" not in done.output
