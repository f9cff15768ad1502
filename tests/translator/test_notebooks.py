"""Notebooks: checked and converted cell by cell, all that is not translated byte for byte."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from np2tf.cli.main import np2tf as command
from np2tf.translator.notebooks import Notebook, Place, elements, members, spelled_like, whole
from np2tf.translator.tree.source import SourceError
from tests.helpers.command_runner import CliRunner, Result

LOOP = "def f(x):\n    for i in range(9):\n        x = np.sin(x)\n    return x"


def cell(source: str | list[str], kind: str = "code") -> dict[str, Any]:
    """One cell, a code cell with an output that names NumPy."""
    made: dict[str, Any] = {"cell_type": kind, "metadata": {}, "source": source}
    if kind == "code":
        output = {"output_type": "stream", "name": "stdout", "text": ["np.ones(2) é \u2028\n"]}
        made |= {"execution_count": 1, "outputs": [output]}
    return made


def notebook(*cells: str | dict[str, Any], indent: int | None = 1, ascii: bool = False, **more: Any) -> bytes:
    """A notebook's file, its sources as lists of lines."""
    made = [
        given_cell if isinstance(given_cell, dict) else cell(given_cell.splitlines(keepends=True))
        for given_cell in cells
    ]
    content = {"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5, **more}
    return (json.dumps(content, indent=indent, ensure_ascii=ascii) + "\n").encode()


def run(*args: object) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(command, [str(arg) for arg in args])


def converted(path: Path, data: bytes) -> list[str]:
    """The sources of the cells after `convert --write`."""
    path.write_bytes(data)
    result = run("convert", "--write", "--no-cache", path)
    assert result.exit_code == 0, result.output
    return ["".join(given_cell["source"]) for given_cell in json.loads(path.read_text())["cells"]]


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a notebook is."""
    monkeypatch.chdir(tmp_path)
    return Path("n.ipynb")


def test_convert(path: Path) -> None:
    """Names of earlier cells are known in later cells; cells that are no code stay."""
    data = notebook(
        cell("# np.ones(2)\n", "markdown"),
        "import numpy as np\nx = np.ones(2)",
        LOOP,
        "np.wrong",
        "# np.sum\n",
    )
    first, second, third, *further_cells = converted(path, data)
    assert [first, *further_cells] == ["# np.ones(2)\n", "np.wrong", "# np.sum\n"]
    assert second == "import np2tf\nimport numpy as np\nfrom np2tf import tnp\nx = tnp.ones(2)"
    assert third == (
        "@np2tf.jit\ndef f(x):\n    def step_i(i, x):\n        x = tnp.sin(x)\n        return x\n\n"
        "    x = np2tf.for_loop(range(9), step_i, x)\n    return x"
    )
    assert run("convert", "--check", "--no-cache", path).exit_code == 0


@pytest.mark.parametrize("indent", [None, 1, 4])
@pytest.mark.parametrize("ascii", [True, False])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_all_else_is_byte_for_byte(indent: int | None, ascii: bool, end: str, path: Path) -> None:
    """Outputs, metadata, spaces, escapes and line ends stay; of the cells, only the changed cells differ."""
    first, two, three = "import numpy as np\nx = 'é'", "s = 'np.ones \u00e9 \\u00e9'\n\n", "y = np.ones(2)"
    make = lambda first, last: notebook(  # noqa: E731
        first, two, cell(last), indent=indent, ascii=ascii, extra={"a": [1.0, 1e5, None, True]}
    ).replace(b"\n", end.encode())
    converted(path, make(first, three))
    assert path.read_bytes() == make(
        first.replace("import numpy as np", "from np2tf import tnp"), "y = tnp.ones(2)"
    )


@pytest.mark.parametrize(
    "magic",
    [
        "%matplotlib inline",
        '!ls *.py | grep "it\'s"',
        "np.sum?",
        "?np.sum",
        "%%time\n",
        "files = !ls",
        "t = %timeit -o f(1)",
        "%timeit np.sum(x)",
        "for i in range(3):\n    !echo {i}\n    %time f(i)",
        "x = f'''\n%not a magic\n'''\n%magic (",
        "y = (3\n% 2)\n%time f(2)",
    ],
)
def test_magics_stay(magic: str, path: Path) -> None:
    """Code that only IPython understands stays as it is, and its NumPy stays imported."""
    before = ["import numpy as np", f"{magic}\nx = np.ones(2)"]
    first, second = converted(path, notebook(*before))
    assert second == f"{magic}\nx = tnp.ones(2)"
    assert "import numpy as np" in first
    assert "from np2tf import tnp" in first
    assert run("check", "-q", path).stdout == ""


def test_cells_in_other_languages(path: Path) -> None:
    """Cells in other languages are not read; nor is a notebook in another language."""
    bash = "%%bash\nimport numpy as np; np.wrong ((("
    assert converted(path, notebook("import numpy as np\nnp.ones(2)", bash))[1] == bash
    foreign_notebook = notebook("import numpy as np\nnp.ones(2)", metadata={"language_info": {"name": "R"}})
    path.write_bytes(foreign_notebook)
    assert run("convert", "--write", "--no-cache", path).exit_code == 0
    assert path.read_bytes() == foreign_notebook


@pytest.mark.parametrize(
    "place", ["    %time g(x)\n    while", "    while np.sum(x) > 2:\n        !ls\n    while"]
)
def test_a_function_with_a_magic_is_not_staged(place: str, path: Path) -> None:
    """A magic runs at every call, and not when the function is traced."""
    loop = "def f(x):\n    while np.sum(x) > 1:\n        x = x / 2\n    return x"
    before = loop.replace("    while", place, 1)
    assert converted(path, notebook("import numpy as np", before))[1] == before.replace("np.sum", "tnp.sum")
    path.write_bytes(notebook("import numpy as np", before))
    (entry,) = json.loads(run("check", "--format", "json", path).stdout)
    assert (entry["code"], entry["cell"]) == ("NP2TF401", 2)


def test_a_magic_that_would_not_be_first(path: Path) -> None:
    """Where an import would come before the magic of a cell, the notebook is left as it is, and told."""
    rows = "    for i in range(len(x)):\n        x[i, :] = x[i, :] * 0.5 - i\n"
    data = notebook(f"%%time\ndef f(x):\n{rows}    return x")
    path.write_bytes(data)
    result = run("convert", "--everything", "--write", "--no-cache", path)
    assert result.exit_code == 1
    assert "NP2TF909 the notebook cannot be translated: something would come before %%time" in result.stderr
    assert path.read_bytes() == data


def test_notebooks_of_a_folder(path: Path) -> None:
    """Are read like Python files, unless `include` leaves them out; checkpoints are not."""
    path.write_bytes(notebook("import numpy as np\nnp.wrong"))
    Path(".ipynb_checkpoints").mkdir()
    Path(".ipynb_checkpoints", "n-checkpoint.ipynb").write_bytes(path.read_bytes())
    assert run("check", ".").exit_code == 1
    told = run("convert", ".").stderr
    assert "n.ipynb:cell 1:2:1: NP2TF002" in told
    assert "checkpoint" not in told
    assert run("check", "-q", "--include", "*.py", ".").stdout == ""
    Path("np2tf.toml").write_text('include = ["*.py"]\n')
    assert run("check", "-q", ".").stdout == ""


DIFF = """\
--- n.ipynb:cell 1
+++ n.ipynb:cell 1
@@ -1,2 +1,2 @@
-import numpy as np
+from np2tf import tnp
 a = 1
--- n.ipynb:cell 3
+++ n.ipynb:cell 3
@@ -1 +1 @@
-x = np.ones(2)
+x = tnp.ones(2)
"""


def test_diffs_are_by_cell(path: Path) -> None:
    """A patch has the name of the notebook and the number of the cell, and is for reading, which is told."""
    data = notebook("import numpy as np\na = 1", cell("np.ones", "markdown"), "x = np.ones(2)", "y = x\n")
    path.write_bytes(data)
    for options in ((), ("--diff",)):
        result = run("convert", "--no-cache", *options, ".")
        assert (result.exit_code, result.stdout) == (1, DIFF)
        assert "`patch` and `git apply` cannot apply them, --write can" in result.stderr
    assert path.read_bytes() == data
    assert "git apply" not in run("convert", "--no-cache", "--check", ".").stderr
    standard_input = CliRunner().invoke(command, ["convert", "--diff", "-"], input=data)
    assert standard_input.stdout == DIFF.replace("n.ipynb", "<stdin>.ipynb")


def test_a_notebook_on_standard_input(path: Path) -> None:
    """Is known by its content, also without `--stdin-filename`."""
    data = notebook("import numpy as np\nx = np.ones(2)", "np.wrong")
    result = CliRunner().invoke(command, ["convert", "-"], input=data)
    assert result.exit_code == 0
    cells = json.loads(result.stdout)["cells"]
    assert "".join(cells[0]["source"]).endswith("x = tnp.ones(2)")
    assert "<stdin>.ipynb:cell 2:1:1: NP2TF002" in result.stderr
    told = CliRunner().invoke(command, ["check", "-"], input=data)
    assert told.stdout.startswith("<stdin>.ipynb:cell 2:1:1: NP2TF002")
    named = CliRunner().invoke(command, ["check", "--stdin-filename", "b.ipynb", "-"], input=data)
    assert named.stdout.startswith("b.ipynb:cell 2:1:1: NP2TF002")


CALLER = "def g(x):\n    for i in range(9):\n        x = np.sin(act(x))\n    return x"
ACT = "def act(x):\n    print(x, file=OUT)\n    return x"


def test_functions_of_notebooks_are_counted(path: Path) -> None:
    """`-v`, `--summary` and `report` have them, with the places of their cells; so have the reasons."""
    path.write_bytes(notebook("import numpy as np\n%matplotlib inline", f"y = 1\n\n{LOOP}", ACT, CALLER))
    told = run("check", "-v", ".").stdout
    assert "n.ipynb:cell 2:3: f: compiled\n" in told
    assert "n.ipynb:cell 4:1: g: interpreted: " in told
    assert "`act` (cell 3:1)" in told
    assert "(line" not in told
    findings = run("check", "--format", "concise", ".").stdout
    assert "n.ipynb:cell 4:3:20: NP2TF401 `g` is not jitted" in findings
    assert "`act` (cell 3:1)" in findings
    table = run("check", "--summary", "--exit-zero", ".").stdout
    assert "compiled  1  50 %" in " ".join(table.split()).replace("compiled 1 50 %", "compiled  1  50 %")
    page = run("report", "--markdown", ".").output
    assert "| `n.ipynb:cell 2:3` | `f` |" in page
    assert "of 2 functions over arrays" in page
    assert "1 file, 1 would change" in page


def test_findings_of_an_unchanged_notebook_keep_their_cells(path: Path) -> None:
    """The second run has the findings from the cache."""
    path.write_bytes(notebook("import numpy as np", "np.wrong"))
    first = run("convert", ".").stderr
    assert "n.ipynb:cell 2:1:1: NP2TF002" in first
    assert run("convert", ".").stderr == first


@pytest.mark.parametrize("name", ["convert", "check"])
def test_an_empty_folder_is_warned_of(name: str, path: Path) -> None:
    """The warning has the patterns; the status stays 0, and standard output stays empty."""
    Path("empty").mkdir()
    Path("empty", "a.txt").write_text("x")
    Path("b.py").write_text("x = 1\n")
    result = run(name, "empty", ".")
    assert (result.exit_code, result.stdout) == (0, "")
    assert (
        "warning: no files found in empty: none matches *.py, *.ipynb without being excluded" in result.stderr
    )
    assert "found in .:" not in result.stderr
    assert "*.py, *.ipynb, *.md, *.markdown, *.rst" in run(name, "--docs", "empty").stderr
    assert "none matches *.pyx" in run(name, "--include", "*.pyx", ".").stderr
    assert "warning" not in run(name, "-q", "empty").stderr
    assert "warning" not in run(name, ".", ".").stderr


def test_check_tells_cell_and_line(path: Path) -> None:
    """Lines are counted in cells, and cells from 1; frames show the cell."""
    path.write_bytes(
        notebook("import numpy as np", cell("text", "markdown"), "%time x\nx = 1\ny = np.wrong\n")
    )
    result = run("check", "-q", path)
    assert result.exit_code == 1
    assert result.stdout == (
        "n.ipynb:cell 3:3:5: NP2TF002 NumPy has no public name `np.wrong`; it stays on NumPy\n"
        "  |\n3 | y = np.wrong\n  |     ^^^^^^^^\n  |\n"
    )
    (entry,) = json.loads(run("check", "--format", "json", path).stdout)
    assert (entry["path"], entry["cell"], entry["line"], entry["end_column"]) == ("n.ipynb", 3, 3, 13)
    github = run("check", "--format", "github", path).stdout
    assert "file=n.ipynb,line=1,endLine=1,col=1" in github
    assert "NP2TF002 cell 3, line 3: NumPy has" in github
    for form in ("gitlab", "sarif", "junit"):
        assert "cell 3, line 3: NumPy has" in run("check", "--format", form, path).stdout


def test_suppressions_and_baselines(path: Path) -> None:
    """Hold in cells as in files; comments are written by hand there."""
    path.write_bytes(
        notebook(
            "import numpy as np", "np.wrong  # np2tf: ignore\nnp.wrong", "x = 1  # np2tf: ignore[NP2TF002]"
        )
    )
    lines = run("check", "-q", "--format", "concise", path).stdout.splitlines()
    assert [line.split(" Num")[0].split(" `")[0] for line in lines] == [
        "n.ipynb:cell 2:2:1: NP2TF002",
        "n.ipynb:cell 3:1:8: NP2TF911",
    ]
    before = path.read_bytes()
    for option in ("--add-ignore", "--fix-ignores"):
        result = run("check", option, path)
        assert result.exit_code == 1
        assert "NP2TF906" in result.stdout
        assert "written by hand" in result.stdout
    assert path.read_bytes() == before
    run("check", "--write-baseline", "b.json", path)
    assert "cell 2" not in run("check", "-q", "--baseline", "b.json", path).stdout
    path.write_bytes(notebook("import numpy as np", "x = 1", "x = 2", "y = 2\nnp.wrong"))
    assert run("check", "-q", "--baseline", "b.json", path).stdout == ""


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "n.ipynb:1:1: NP2TF900"),
        (b"{", "n.ipynb:1:2: NP2TF900 not a notebook that np2tf can read: it is not valid JSON: Expecting"),
        (b"[]", "n.ipynb:1:1: NP2TF900 not a notebook that np2tf can read: it is not in Jupyter's format 4"),
        (b'{"nbformat": 3, "worksheets": []}', "n.ipynb:1:1: NP2TF900"),
        (
            b'{"nbformat": 4, "cells": [{"cell_type": "code", "source": 1}]}',
            "the source of cell 1 is not text",
        ),
        (b'{"nbformat": 4, "cells": [1]}', ""),
        (b'{"nbformat": 4}', ""),
        (b"\xff", "n.ipynb:1:1: NP2TF900"),
        (b"[" * 100_000, "n.ipynb:1:1: NP2TF900"),
        (notebook("import numpy as np", "x = (\n\n"), "n.ipynb:cell 2:1:5: NP2TF901 not valid Python"),
        (notebook("import numpy as np", "if x:", "y"), "n.ipynb:cell 2:"),
    ],
)
def test_what_is_no_notebook(data: bytes, told: str, path: Path) -> None:
    """Is told with a code, and left as it is."""
    path.write_bytes(data)
    result = run("check", "--format", "concise", "-q", path)
    assert result.exit_code == bool(told)
    assert told in result.stdout
    assert run("convert", "--write", "--no-cache", path).exit_code == bool(told)
    assert path.read_bytes() == data


def test_a_notebook_is_no_module(path: Path) -> None:
    """A notebook of the same name does not hide a module from what other files say of it."""
    Path("act.py").write_text("def act(x):\n    print(x, file=OUT)\n    return x\n")
    Path("act.ipynb").write_bytes(notebook("x = 1"))
    Path("a.py").write_text(
        f"import numpy as np\nfrom act import act\n{LOOP}\n".replace("np.sin(x)", "np.sin(act(x))")
    )
    alone = run("check", "--format", "concise", "-q", "a.py", "act.py").stdout
    assert "NP2TF402" in alone
    assert run("check", "--format", "concise", "-q", "a.py", "act.py", "act.ipynb").stdout == alone


VALUES = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)


@given(VALUES, st.sampled_from([None, 1, 3]), st.booleans())
def test_places(value: Any, indent: int | None, ascii: bool) -> None:
    """The part of a text that spells a value is found, however it is written."""
    text = " " + json.dumps(value, indent=indent, ensure_ascii=ascii) + "\n"

    def look(value: Any, place: Place) -> None:
        assert json.loads(text[place.start : place.end]) == value
        if isinstance(value, dict):
            found = dict(members(text, place))
            assert list(found) == list(value)
            for key, inner in found.items():
                look(value[key], inner)
        if isinstance(value, list):
            places = list(elements(text, place))
            assert len(places) == len(value)
            for item, inner in zip(value, places):
                look(item, inner)

    look(value, whole(text))


@given(
    st.lists(st.text(st.sampled_from('a é\u2028"\\\r'), max_size=4), max_size=4),
    st.sampled_from([None, 1]),
    st.booleans(),
)
def test_spelled_like(lines: list[str], indent: int | None, is_list: bool) -> None:
    """A text that is spelled like another text keeps its content."""
    old = json.dumps(["x\n", "y"] if is_list else "x", indent=indent)
    new = "\n".join(lines)
    made = json.loads(spelled_like(old, new))
    assert isinstance(made, list) == is_list
    assert "".join(made) == new
    assert not is_list or all(line.count("\n") <= 1 for line in made)


def test_nothing_is_changed_where_nothing_is_translated() -> None:
    """The program put back as it is gives the file as it was."""
    data = b"\xef\xbb\xbf" + notebook("%time 1\nx = 1\n", "\n\n", "", "# end", indent=2)
    read = Notebook.of(data, "n.ipynb")
    assert read.with_program(read.text).encode() == data
    with pytest.raises(SourceError):
        Notebook.of(data[:-20], "n.ipynb")


def test_cells_compute_what_they_did(path: Path) -> None:
    """A converted notebook run cell by cell gives NumPy's results, in one process with the original."""
    cells = [
        "import numpy as np\nrng = np.random.default_rng(1)\nx = rng.normal(size=(50, 3))\n",
        "def smooth(x):\n    for i in range(20):\n        x[1:-1] = (x[:-2] + x[2:]) / 2\n    return x\n",
        "before = x.copy()\ny = smooth(x)",
        "z = np.where(y > 0, y, np.abs(before))\nk = int(np.argmax(z))",
    ]
    results = []
    for sources in (cells, converted(path, notebook(*cells))):
        names: dict[str, Any] = {"__name__": "__main__"}
        for source in sources:
            exec(compile(source, "<cell>", "exec"), names)
        results.append([np.asarray(names[name]) for name in ("x", "y", "z", "k")])
    assert "np." not in "".join(sources).replace("tnp.", "")
    assert "@np2tf.jit" in sources[1]
    for translated, original in zip(*results):
        assert translated.dtype == original.dtype
        np.testing.assert_allclose(translated, original, rtol=1e-12)
