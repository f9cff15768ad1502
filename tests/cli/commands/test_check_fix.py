"""`np2tf check --fix`: what NumPy 2 removed is written as its migration guide says. Nothing is translated."""

from __future__ import annotations

import builtins
import json
import os
import warnings
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from np2tf.cli.main import np2tf as command
from np2tf.core import rules
from np2tf.translator.pipeline import convert
from tests.helpers.command_runner import CliRunner, Result

HEAD = "import numpy as np\n"
REPLACED = {
    name.removeprefix("numpy."): rule
    for name, rule in rules.rules().items()
    if rule.removed and (rule.new_name or rule.expression)
}
PLAIN = sorted(
    name for name, rule in REPLACED.items() if not (rule.flattens or rule.arguments or rule.keywords)
)


def check(*args: object, data: str | None = None) -> Result:
    """Run `np2tf check` in this process."""
    return CliRunner().invoke(command, ["check", "--format", "concise", *map(str, args)], input=data)


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a program is, in the current folder."""
    monkeypatch.chdir(tmp_path)
    return Path("a.py")


def fixed(file: Path, text: str, *options: str) -> str:
    """A program's text after `--fix`."""
    file.write_text(text)
    check("--fix", *options, file)
    return file.read_text()


def value(text: str) -> Any:
    """What a program binds to x."""
    names: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(text, "<fixed>", "exec"), names)
    return names["x"]


@pytest.mark.parametrize("name", PLAIN)
def test_a_plain_name(name: str, file: Path) -> None:
    """The new name is there in the NumPy of today, and means what the table says."""
    rule = REPLACED[name]
    text = fixed(file, f"{HEAD}x = np.{name}\n")
    assert f"np.{name}\n" not in text
    if rule.expression:
        assert (str(value(text)), type(value(text))) == (rule.expression, float)
    elif rule.negated:
        assert value(text) == -np.inf
    elif rule.new_name not in ("nan",):
        assert value(text) is attrgetter(rule.new_name)(builtins if rule.builtin else np)
    assert check("--fix", "--diff", file).stdout == ""


# What NumPy 1.26 had, word for word.


def asfarray(a: Any, dtype: Any = np.float64) -> Any:
    if not np.issubdtype(dtype, np.inexact):
        dtype = np.float64
    return np.asarray(a, dtype=dtype)


def in1d(ar1: Any, ar2: Any, assume_unique: bool = False, invert: bool = False) -> Any:
    return np.isin(np.asarray(ar1).ravel(), ar2, assume_unique, invert)


def msort(a: Any) -> Any:
    b = np.array(a, subok=True, copy=True)
    b.sort(0)
    return b


OLD = {"asfarray": asfarray, "in1d": in1d, "msort": msort}
ARRAYS = [
    "np.arange(6).reshape(2, 3)",
    "np.float32([[3, 1], [2, 4]])",
    "np.float16([1, 2])",
    "np.array([[True, False]])",
    "np.complex64([1j, 2])",
    "[[3, 1], [2, 4]]",
    "np.zeros((0, 2), np.uint8)",
]


@pytest.mark.parametrize("array", ARRAYS)
@pytest.mark.parametrize(
    ("call", "new"),
    [
        ("asfarray({})", "asarray({}, dtype=np.float64)"),
        ("asfarray({}, np.float32)", "asarray({}, np.float32)"),
        ("asfarray({}, dtype=np.complex64)", "asarray({}, dtype=np.complex64)"),
        ("asfarray({}, dtype=float)", "asarray({}, dtype=float)"),
        ("asfarray({}, 'f')", "asarray({}, 'f')"),
        ("asfarray({}, int)", None),
        ("asfarray({}, dtype=DTYPE)", None),
        ("in1d({}, [1, 2])", "isin(np.ravel({}), [1, 2])"),
        ("in1d({}, ar2=[1, 2], invert=True)", "isin(np.ravel({}), test_elements=[1, 2], invert=True)"),
        ("in1d(ar2=[1, 2], ar1={})", None),
        ("in1d({}, **{{'ar2': [1]}})", None),
        ("msort({})", "sort({}, axis=0)"),
        ("msort({},)", "sort({}, axis=0)"),
    ],
)
def test_a_call(call: str, new: str | None, array: str, file: Path) -> None:
    """The new call gives the values and the dtype of NumPy's old function; another call stays."""
    before = f"{HEAD}DTYPE = np.int8\nx = np.{call.format(array)}\n"
    text = fixed(file, before)
    if new is None:
        assert text == before
        return
    assert text.splitlines()[-1] == f"x = np.{new.format(array)}"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        old = eval(call.format(array), {**OLD, "np": np})
    assert value(text).dtype == old.dtype
    np.testing.assert_array_equal(value(text), old)


@pytest.mark.parametrize("array", ARRAYS)
@pytest.mark.parametrize(
    "call", ["asfarray({})", "asfarray({}, np.float32)", "in1d({}, ar2=[1])", "msort({})"]
)
def test_a_translated_call(call: str, array: str) -> None:
    """`convert` gives the same values as the old function, too."""
    text = convert(f"{HEAD}x = np.asarray(np.{call.format(array)})\n").text
    assert "np2tf import tnp" in text
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        old = eval(call.format(array), {**OLD, "np": np})
    names: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(text + "import numpy\nx = numpy.asarray(x)\n", names)
    assert names["x"].dtype == old.dtype
    np.testing.assert_array_equal(names["x"], old)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("from numpy import product\n", "from numpy import prod as product\n"),
        ("from numpy import (\n    sin, # a\n    float_ as f,\n)\n", None),
        ("from numpy import AxisError\n", "from numpy.exceptions import AxisError\n"),
        ("from numpy import AxisError, sin\n", "from numpy import AxisError, sin\n"),
        ("from numpy import float, NINF, in1d\n", "from numpy import float, NINF, in1d\n"),
        ("import numpy\nx = numpy.linalg.norm(numpy.float_(1))\n", None),
        (
            "import numpy as np\nfloat = 3\nx = np.float(1)\n",
            "import numpy as np\nfloat = 3\nx = np.float64(1)\n",
        ),
        (
            "import numpy as np\nx = (np  .product)([2])  # c\n",
            "import numpy as np\nx = (np  .prod)([2])  # c\n",
        ),
    ],
)
def test_imports_and_spellings(before: str, after: str | None, file: Path) -> None:
    if after is None:
        after = before.replace("float_ as f", "float64 as f").replace("numpy.float_", "numpy.float64")
    assert fixed(file, before) == after


@pytest.mark.parametrize(
    "stays",
    [
        "try:\n    x = np.trapezoid\nexcept AttributeError:\n    x = np.trapz\n",
        "x = np.trapezoid if hasattr(np, 'trapezoid') else np.trapz\n",
        "if np.__version__ < '2':\n    x = np.product\n",
        "try:\n    from numpy import trapezoid as f\nexcept ImportError:\n    from numpy import trapz as f\n",
        "np.float = float\nx = np.float(1)\n",
        "x = np.product  # np2tf: ignore[NP2TF008]\n",
        "x = np.asscalar(np.ones(1))\n",
        "x = 'np.product'\n",
        "def f(np):\n    return np.product\n",
        "y = np.sin(1)\n\n\ndef f(x):\n    for i in range(9):\n        x[i] = np.cos(x)\n    return x\n",
    ],
)
def test_what_stays(stays: str, file: Path) -> None:
    """Code for other versions, hidden findings, other names, and all that only a translation changes."""
    assert fixed(file, HEAD + stays) == HEAD + stays


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"import numpy as np\r\nif 1:\r\n\tx = np.product([1])\t# a\r\n", (b"product", b"prod")),
        (b"\xef\xbb\xbfimport numpy as np\nx = np.NaN  # \xc3\xa9\n", (b"NaN", b"nan")),
        (b"# coding: latin-1\nimport numpy as np\nx = np.NaN, '\xe9'", (b"NaN", b"nan")),
        (b"import numpy as np\rx = np.NaN\r", (b"NaN", b"nan")),
    ],
)
def test_bytes_stay(before: bytes, after: tuple[bytes, bytes], file: Path) -> None:
    file.write_bytes(before)
    assert check("--fix", file).exit_code == 0
    assert file.read_bytes() == before.replace(*after)


def test_what_is_printed(file: Path) -> None:
    """The fixes go to standard error, the findings that are left to standard output."""
    file.write_text(f"{HEAD}x = np.product([1])\ny = np.wrong\n")
    told = check(file)
    assert told.stdout.splitlines() == [
        "a.py:2:5: NP2TF008 [*] NumPy removed `np.product`; it is `np.prod` now",
        "a.py:3:5: NP2TF002 NumPy has no public name `np.wrong`; it stays on NumPy",
        "a.py: would change",
    ]
    assert "1 fixable with --fix [*]" in told.stderr
    entries = json.loads(CliRunner().invoke(command, ["check", "--format", "json", "a.py"]).stdout)
    assert [entry["fixable"] for entry in entries] == [True, False]

    before = file.read_bytes()
    shown = check("--fix", "--diff", file)
    assert shown.exit_code == 1
    assert shown.stdout == (
        "--- a.py\n+++ a.py\n@@ -1,3 +1,3 @@\n import numpy as np\n"
        "-x = np.product([1])\n+x = np.prod([1])\n y = np.wrong\n"
    )
    assert "Would fix 1 finding in 1 file." in shown.stderr
    assert file.read_bytes() == before

    done = check("--fix", file)
    assert done.exit_code == 1
    assert done.stderr.splitlines()[:2] == [
        "a.py:2:5: NP2TF008 fixed: NumPy removed `np.product`; it is `np.prod` now",
        "Fixed 1 finding in 1 file.",
    ]
    assert "NP2TF008" not in done.stdout
    assert "NP2TF002" in done.stdout
    assert check("--fix", "--diff", file).exit_code == 0


def test_selection_and_baseline(file: Path) -> None:
    """Only findings that are shown are mended."""
    text = f"{HEAD}x = np.product([1])\n"
    assert fixed(file, text, "--ignore", "NP2TF008") == text
    check("--write-baseline", "known.json", file)
    assert fixed(file, text, "--baseline", "known.json") == text
    assert fixed(file, text, "--select", "NP2TF008") == text.replace("product", "prod")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--diff", "a.py"], "--diff needs --fix"),
        (["--fix", "-"], "`-` cannot be combined with other paths, --fix"),
        (["--fix", "--add-ignore", "a.py"], "--fix and --add-ignore cannot be used together"),
        (
            ["--fix", "--write-baseline", "b.json", "a.py"],
            "--write-baseline and --fix cannot be used together",
        ),
        (["--fix", "--diff", "--format", "json", "a.py"], "--diff cannot be used with --format json"),
    ],
)
def test_wrong_usage(options: list[str], message: str, file: Path) -> None:
    file.write_text(HEAD)
    result = check(*options, data="")
    assert (result.exit_code, message in result.stderr) == (2, True), result.stderr


def test_a_read_only_file_stays(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.write_text(f"{HEAD}x = np.NaN\n")
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK)  # root may write every file
    result = check("--fix", file)
    assert result.exit_code == 1
    assert "NP2TF906 the file cannot be read or written: the file is read-only" in result.stdout
    assert file.read_text() == f"{HEAD}x = np.NaN\n"


def test_a_file_that_changes_meanwhile_stays(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from np2tf.cli.check import fixes

    whole = fixes.mend_bytes

    def interrupted(*args: Any) -> Any:
        outcome = whole(*args)
        file.write_text("other = 1\n")
        return outcome

    monkeypatch.setattr(fixes, "mend_bytes", interrupted)
    file.write_text(f"{HEAD}x = np.NaN\n")
    result = check("--fix", file)
    assert (result.exit_code, file.read_text()) == (1, "other = 1\n")
    assert "it changed while np2tf was working on it" in result.stdout


def test_notebooks(file: Path) -> None:
    """Are mended cell by cell; magics, outputs and all other text stay."""
    cell = {"cell_type": "code", "execution_count": 1, "metadata": {}, "outputs": []}
    sources = [
        "import numpy as np\n%matplotlib inline\n!pip list",
        "%time x = np.product([1])",
        "y = np.NaN\nx",
    ]
    content = {"cells": [{**cell, "source": source} for source in sources], "metadata": {}, "nbformat": 4}
    notebook = Path("n.ipynb")
    notebook.write_text(json.dumps(content, indent=1) + "\n")
    before = notebook.read_text()
    shown = check("--fix", "--diff", ".")
    assert (
        shown.stdout
        == "--- n.ipynb:cell 3\n+++ n.ipynb:cell 3\n@@ -1,2 +1,2 @@\n-y = np.NaN\n+y = np.nan\n x\n"
    )
    assert "for reading" in shown.stderr
    assert notebook.read_text() == before
    assert "n.ipynb:cell 3:1:5: NP2TF008 fixed: NumPy removed `np.NaN`" in check("--fix", ".").stderr
    assert notebook.read_text() == before.replace("np.NaN", "np.nan")


def test_an_import_that_cannot_be_mended_is_told(file: Path) -> None:
    """One finding for a name, at its import; what is no plain name any more is told where it is used."""
    file.write_text(
        "from numpy import AxisError, float_, NINF\n\nx = AxisError, float_\ny = float_(1), NINF\n"
    )
    assert check("-q", file).stdout.splitlines() == [
        "a.py:1:19: NP2TF008 NumPy removed `numpy.AxisError`; it is `numpy.exceptions.AxisError` now",
        "a.py:1:30: NP2TF008 [*] NumPy removed `numpy.float_`; it is `numpy.float64` now",
        "a.py:4:16: NP2TF008 NumPy removed `NINF`; it is `-np.inf` now",
    ]


def test_pages_are_not_mended(file: Path) -> None:
    page = Path("a.md")
    page.write_text("```python\nimport numpy as np\nx = np.product([1])\n```\n")
    result = check("--docs", "--fix", page)
    assert "a.md:3:5: NP2TF008 NumPy removed `np.product`" in result.stdout
    assert "np.product" in page.read_text()
