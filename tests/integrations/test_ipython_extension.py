"""`%load_ext np2tf`: cells that are run in IPython are translated, and mean what they meant."""

from __future__ import annotations

import inspect
import re
import sys
import types
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from np2tf import config, tnp
from np2tf.loading.functions.cells import translated_cell
from np2tf.staging.host.jit import JittedFunction

pytest.importorskip("IPython")
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config


@pytest.fixture(scope="module")
def only_shell() -> Iterator[InteractiveShell]:
    settings = Config()
    settings.HistoryManager.enabled = False
    before = warnings.formatwarning
    main = sys.modules["__main__"]  # a shell puts its own module there
    yield InteractiveShell.instance(config=settings)
    InteractiveShell.clear_instance()
    sys.modules["__main__"] = main
    warnings.formatwarning = before


@pytest.fixture
def shell(only_shell: InteractiveShell) -> Iterator[InteractiveShell]:
    """A shell in which nothing is bound, and nothing loaded."""
    only_shell.reset()
    yield only_shell
    only_shell.run_line_magic("unload_ext", "np2tf")


def run(shell: InteractiveShell, cell: str) -> Any:
    """Return the value that a cell shows."""
    done = shell.run_cell(cell, store_history=True)
    done.raise_error()
    return done.result


CELLS = [
    "import numpy as np\nfrom numpy import linalg, cumsum as cs\n",
    "x = np.arange(6.0).reshape(2, 3)\nx",
    "x[0] = 5\nx[1, 1:] += 2\nx",
    "x += 1\nx *= np.float32(2)\nx",
    "def smooth(u, n=3):\n    for _ in range(n):\n        u[1:-1] = (u[2:] + u[:-2]) / 2\n    return u\n\n"
    "smooth(np.ones(5))",
    "y = smooth(np.array([0.0, 8.0, 0.0, 4.0, 0.0]), n=2)\ny",
    "np.add.at(y, [0, 0, 1], 1)\ny",
    "z = y\nz.sort()\nz is y, y",
    "linalg.norm(x), cs(y), np.linalg.det(np.eye(2))",
    "total = 0\nfor row in x:\n    total += row.sum()\ntotal",
    "s = np.sin\ns(0.0), s(y)",
    "k = 3\nk += 4\nk, np.int8(100) + np.int8(100 - k)",
    "class Box:\n    def __init__(self, n):\n        self.x = np.zeros(n)\n\n    def put(self, k):\n"
    "        self.x[k] = 1\n        return self.x\n\nBox(3).put(1)",
    "[np.sum(row) for row in x]",
    "text = 'np.zeros(3)'; text  # np.zeros",
    "np.asarray(x).dtype, np.zeros(0).sum(), np.pi",
    "x[[0, 0]] += 1; x",
    "from __future__ import annotations\nw = np.ones(2)\nw",
    "async def later():\n    return np.ones(3).sum()\n\nlater.__name__",
]


@pytest.mark.parametrize("first", [0, 4])
def test_cells_mean_what_they_meant(shell: InteractiveShell, first: int) -> None:
    """The shell translates all cells, or only the later cells, which use names that the earlier cells have
    bound.
    """
    expected = {}
    plain: dict[str, Any] = {}
    shown = []
    for number, cell in enumerate(CELLS):
        if number == first:
            run(shell, "%load_ext np2tf")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            body, last = _split(cell)
            exec(body, plain)
            value = eval(last, plain) if last else None
            shown.append((value, run(shell, cell)))
    for expected_result, actual in shown:
        _same(expected_result, actual)
    expected = {name: value for name, value in plain.items() if isinstance(value, (np.ndarray, float, int))}
    for name, value in expected.items():
        _same(value, shell.user_ns[name])
    assert shell.user_ns["tnp"] is tnp
    assert isinstance(shell.user_ns["smooth"], JittedFunction) == (first <= 4)


def _split(cell: str) -> tuple[str, str]:
    import ast

    tree = ast.parse(cell)
    if not isinstance(tree.body[-1], ast.Expr):
        return cell, ""
    last = tree.body.pop()
    return ast.unparse(tree), ast.unparse(last)


def _same(expected: Any, actual: Any) -> None:
    if isinstance(expected, (tuple, list)):
        assert type(expected) is type(actual)
        for expected_item, actual_item in zip(expected, actual, strict=True):
            _same(expected_item, actual_item)
    elif isinstance(expected, (np.ndarray, np.generic)):
        assert type(expected) is type(actual)
        assert expected.dtype == actual.dtype
        np.testing.assert_array_equal(expected, actual)
    else:
        assert expected == actual


def test_magics_stay(shell: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> None:
    """Magics with code in them stay, too; their code is translated where IPython runs it as a cell."""
    run(shell, "%load_ext np2tf")
    run(shell, "import numpy as np\nx = np.zeros(3)")
    assert run(shell, "%time x[1] = 2\nx").tolist() == [0, 2, 0]
    run(shell, "%%time\nx[2] = np.sum(x)\nx")
    assert shell.user_ns["x"].tolist() == [0, 2, 2]
    assert run(shell, "found = !echo $(( 3 + 4 ))\nnp.array(found)").tolist() == ["7"]
    run(shell, "%timeit -n1 -r1 np.sin(x)")
    assert "Wall time" in capsys.readouterr().out
    assert run(shell, "get_ipython().execution_count > 1")


def test_it_shows_what_was_written(shell: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> None:
    """Sources and tracebacks; names of np2tf's are none of the user's."""
    cell = (
        "import numpy as np\n\ndef late(x):\n    # why\n    y = np.zeros(3)\n    y[0] = 1\n    return y[x]\n"
    )
    run(shell, "%load_ext np2tf")
    run(shell, cell)
    late = shell.user_ns["late"]
    assert inspect.getsource(inspect.unwrap(late)) == cell.partition("\n\n")[2]
    with pytest.raises(IndexError) as caught:
        run(shell, "late(7)")
    assert [entry.lineno + 1 for entry in caught.traceback if entry.name == "late"] == [7]
    assert "return y[x]" in re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)
    run(shell, "%who")
    assert capsys.readouterr().out.split() == ["late", "np"]


def test_unloading(shell: InteractiveShell) -> None:
    """Cells after the unloading run as they are; twice loaded is once loaded."""
    run(shell, "%load_ext np2tf")
    run(shell, "%reload_ext np2tf")
    run(shell, "import numpy as np\nf = np.sin")
    run(shell, "%unload_ext np2tf")
    assert "np2tf" not in str(shell.ast_transformers + shell.input_transformers_post)
    run(shell, "def g(u):\n    for k in range(3):\n        u[k] = np.sum(u)\n    return u")
    assert isinstance(shell.user_ns["g"], types.FunctionType)


def test_what_cannot_be_translated_is_told_and_runs(shell: InteractiveShell, capfd: Any) -> None:
    run(shell, "%load_ext np2tf")
    with pytest.warns(UserWarning, match=r"In \[\d+\]:3:9: NP2TF002 NumPy has no public name `np.wrong`"):
        run(shell, "import numpy as np\nif False:\n    x = np.wrong\nnp.ones(2)")


def test_findings_have_the_number_of_their_cell(shell: InteractiveShell) -> None:
    run(shell, "%load_ext np2tf")
    run(shell, "import numpy as np")
    with pytest.warns(UserWarning, match=rf"In \[{shell.execution_count}\]:2:5: NP2TF002"):
        run(shell, "if False:\n    np.wrong")


def test_a_failure_of_np2tf_is_no_failure_of_the_cell(
    shell: InteractiveShell, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(shell, "%load_ext np2tf")

    def fails(*_: object) -> None:
        raise ValueError("ours")

    monkeypatch.setattr("np2tf.loading.functions.cells.translated_cell", fails)
    with pytest.warns(UserWarning, match="NP2TF905 .*ValueError: ours.*the cell runs untranslated"):
        assert run(shell, "import numpy as np\nnp.ones(2)").tolist() == [1, 1]
    assert len(shell.ast_transformers) == 1


def test_names_are_what_they_hold() -> None:
    """np of a translated cell is NumPy to the next cell; another np is not NumPy."""
    for numpy in (np, tnp):
        tree, _ = translated_cell("a = np.sin(x)\n", {"np": numpy, "x": np.ones(2)}, "In [1]")
        assert tree is not None
    assert translated_cell("a = np.sin(x)\n", {"np": types, "x": np.ones(2)}, "In [1]") == (None, [])
    assert translated_cell("a = np.sin(x)\n", {}, "In [1]") == (None, [])
    tree, _ = translated_cell("a = norm(x)\n", {"norm": tnp.linalg.norm, "x": 1}, "In [1]")
    assert tree is not None
    assert config.jit == "on"
