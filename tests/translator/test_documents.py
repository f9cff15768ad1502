"""`--docs`: code in pages and docstrings is translated; all else stays byte for byte."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from np2tf.cli.commands.check import check
from np2tf.cli.commands.convert import convert
from np2tf.translator.documents import in_markdown, in_rst, translated_page
from np2tf.translator.sources.options import Options
from tests.helpers.command_runner import CliRunner

PAGE = """\
# Use `np.array`

np.zeros(3) in prose, and    trailing blanks  \x20

```python title="a"
import numpy as np

x = np.zeros(3)   # three
\x20\x20
x[0] = 1
```

1. In a list:

   ```pycon
   >>> x[1] = 2
   >>> for k in range(3):
   ...     x[k] = np.sum(x)
   ...
   >>> x    # np.zeros
   array([3., 5., 8.])
   ```

```sh
python -c "import numpy as np; np.zeros(3)"
```

```python
np.zeros(3) and so on …
```

~~~{.py}
def f(u):
    return np.wrong(np.sum(u))
~~~

> ```python
> np.zeros(3)
> ```
"""
EXPECTED = {
    "import numpy as np\n\nx = np.zeros(3)   # three": "import numpy as np\nfrom np2tf import tnp\n\n"
    "x = tnp.zeros(3)   # three",
    "\nx[0] = 1\n": "\nx = tnp.at(x)[0].set(1)\n",
    "   >>> x[1] = 2\n": "   >>> x = tnp.at(x)[1].set(2)\n",
    "   ...     x[k] = np.sum(x)\n": "   ...     x = tnp.at(x)[k].set(tnp.sum(x))\n",
    "np.wrong(np.sum(u))": "np.wrong(tnp.sum(u))",
}
RST = """\
Title
=====

.. code-block:: python
   :linenos:

   import numpy as np

   y = np.cumsum(np.ones(3))

Literal, of which nobody knows the language::

   np.zeros(3)

>>> import numpy as np
>>> np.arange(3) + 1
array([1, 2, 3])

.. code:: sh

   np.zeros

.. testcode::

   z = y + np.ones(3)
"""
MODULE = '''\
"""A module.

>>> area(np.ones(3))
np.float64(3.0)
"""
import numpy as np


def area(x):
    """The area, by np.sum.

    Example:
        >>> x = np.zeros(3)
        >>> x[0] = 4   # four

        >>> area(x)
        np.float64(4.0)
        >>> np.array([1,
        ...           2])
        array([1, 2])
    """
    return np.sum(x)


class Alone:
    r"""
    >>> import numpy as np
    >>> a = np.zeros(2); np.add.at(a, [0, 0], 1); a
    array([2., 0.])
    >>> print(r"\\t", np.sin(0.0))
    \\t 0.0
    """

    text = """>>> np.zeros(3)"""


def escaped():
    """
    >>> import numpy as np
    >>> np.zeros(2).sum()  # a \\\\ b
    np.float64(0.0)
    """
'''


def translated(text: str, path: str) -> str:
    return translated_page(text, path, Options(docs=True))[0]


def test_markdown() -> None:
    """Blocks and sessions of a page are one program; prose, outputs and other languages stay."""
    expected = PAGE
    for old, new in EXPECTED.items():
        assert expected.count(old) == 1
        expected = expected.replace(old, new)
    assert translated(PAGE, "a.md") == expected
    assert translated(expected, "a.md") == expected


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_ends_of_lines_stay(end: str) -> None:
    text = translated(PAGE, "a.md")
    assert translated(PAGE.replace("\n", end), "a.md") == text.replace("\n", end)


def test_rst() -> None:
    """Directives; sessions that import NumPy are a program of their own, as doctest runs them."""
    made = translated(RST, "a.rst")
    changed = dict(zip(RST.splitlines(), made.splitlines()))
    assert len(RST.splitlines()) == len(made.splitlines())
    assert {old: new for old, new in changed.items() if old != new} == {
        "   import numpy as np": "   from np2tf import tnp",
        "   y = np.cumsum(np.ones(3))": "   y = tnp.cumsum(tnp.ones(3))",
        ">>> import numpy as np": ">>> from np2tf import tnp",
        ">>> np.arange(3) + 1": ">>> tnp.arange(3) + 1",
        "   z = y + np.ones(3)": "   z = y + tnp.ones(3)",
    }


def test_which_blocks_are_python() -> None:
    opened = (
        "python",
        "Python3",
        "py",
        "pycon",
        "{python}",
        "{.python .x}",
        "{code-block} python",
        "python x=1",
    )
    for word in opened:
        assert len(list(in_markdown([f"```{word}", "x = 1", "```"]))) == 1, word
    for word in ("", "pythonic", "sh", "{.sh}", "text python", "ipython"):
        assert list(in_markdown([f"```{word}", "x = 1", "```"])) == [], word
    assert [block.lines for block in in_markdown(["````py", "```", "````", "~~~py", "x", "```", "~~~"])] == [
        ("```",),
        ("x", "```"),
    ]
    assert list(in_markdown(["```python", "```", "```py", "", "```", "```py"])) == []
    assert [
        block.text for block in in_rst([".. code:: python", "   :a: b", "", "   x", "", "     y", "z"])
    ] == ["x\n\n  y\n"]


def test_doctests(tmp_path: Path) -> None:
    """They are translated beside the module, and give the outputs that are written there."""
    file = tmp_path / "module.py"
    file.write_text(MODULE)
    done = run(convert, "--docs", "--write", "-q", file)
    assert done.exit_code == 0, done.output
    text = file.read_text()
    new = [line for line in text.splitlines() if line not in MODULE.splitlines()]
    assert [line.strip() for line in new] == [
        ">>> area(tnp.ones(3))",
        "from np2tf import tnp",
        ">>> x = tnp.zeros(3)",
        ">>> tnp.array([1,",
        "...            2])",
        "return tnp.sum(x)",
        ">>> from np2tf import tnp",
        ">>> a = tnp.zeros(2); a = tnp.add_at(a, [0, 0], 1); a",
        '>>> print(r"\\t", tnp.sin(0.0))',
    ]
    assert len(text.splitlines()) == len(MODULE.splitlines())
    code = "import doctest, module; print(doctest.testmod(module))"
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=120
    )
    assert "failed=0" in ran.stdout, ran.stdout
    assert run(convert, "--docs", "--check", "-q", file).exit_code == 0


def run(command: Any, *words: object) -> Any:
    return CliRunner().invoke(command, list(map(str, words)))


def test_commands(tmp_path: Path) -> None:
    """Pages are found with --docs only; findings tell the page's lines."""
    (tmp_path / "a.md").write_text(PAGE)
    (tmp_path / "b.rst").write_text(RST)
    (tmp_path / "c.py").write_text(MODULE)
    (tmp_path / "bad.md").write_bytes(b"\xff")
    done = run(check, "--docs", "--format", "concise", "-q", tmp_path)
    line = PAGE.splitlines().index("    return np.wrong(np.sum(u))") + 1
    assert f"a.md:{line}:12: NP2TF002" in done.output
    assert "bad.md:1:1: NP2TF902" in done.output
    assert not re.search(r"a\.md|b\.rst", run(check, tmp_path).output)
    shown = run(convert, "--docs", "--check", "-q", "--no-cache", tmp_path)
    assert [Path(line.split(":")[0]).name for line in shown.output.splitlines()] == ["a.md", "b.rst", "c.py"]
    shown = run(convert, "--check", "-q", "--no-cache", tmp_path)
    assert [Path(line.split(":")[0]).name for line in shown.output.splitlines()] == ["c.py"]
    before = (tmp_path / "a.md").read_bytes()
    assert run(check, "--docs", "--add-ignore", tmp_path / "a.md").exit_code == 1
    assert (tmp_path / "a.md").read_bytes() == before


def test_pages_and_notebooks_are_no_modules(tmp_path: Path) -> None:
    """Facts about several files come from modules alone, whatever stands in pages and notebooks."""
    (tmp_path / "told.md").write_text("# 1.5 it is\n\nNo program, but the text of `told`, from 01.02.\n")
    (tmp_path / "told.rst").write_text("It's 12px wide::\n\n    class told(Base):\n")
    (tmp_path / "told.ipynb").write_text('{"nbformat": 4, "cells": [], "metadata": {"a": -Infinity}}')
    (tmp_path / "c.py").write_text(
        "import numpy as np\nfrom told import told\n\n\ndef f(x):\n    for _ in range(3):\n"
        "        x = told(np.sin(x))\n    return x\n"
    )
    (tmp_path / "np2tf.toml").write_text('include = ["*.py", "*.ipynb"]\n')
    for command in (convert, check):
        done = run(command, "--docs", tmp_path)
        assert "NP2TF905" not in done.output
        assert done.exception is None or isinstance(done.exception, SystemExit)
        assert "@np2tf.jit" in done.output or command is check
