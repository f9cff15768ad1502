"""A translation in the place of the source touches what NumPy has a part in, and lowers what is compiled."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import pytest

from np2tf.cli.main import np2tf as command
from np2tf.core import rules
from np2tf.translator.pipeline import convert
from np2tf.translator.sources.array_flow import files_with_arrays
from np2tf.translator.sources.options import Options
from tests.helpers.command_runner import CliRunner

AS_SOURCE = Options(as_source=True)

#: Functions of a file with NumPy that stay, as they are written.
STAYING = {
    "a list of its own": """
        def primes(n):
            flags = [True] * (n + 1)
            for i in range(2, n + 1):
                if flags[i]:
                    for j in range(i * i, n + 1, i):
                        flags[j] = False
            return [i for i in range(2, n + 1) if flags[i]]
    """,
    "values of another library": """
        def net(x, n):
            for k in range(n):
                x = torch.relu(x * 2 + k)
            return x
    """,
    "a database": """
        def store(rows, connection):
            for row in rows:
                sqlite3.connect(connection).execute("insert into t values (?)", (row[0, 1] * 2,))
                row[0] = 0
    """,
    "a plot in a loop": """
        def show(field, n):
            for k in range(n):
                field[1:-1] = 0.5 * (field[2:] + field[:-2])
                plt.imshow(field)
    """,
}
#: Functions that are compiled, with lines that stay in them and lines that change.
COMPILED = {
    "a write whose array nothing reads later": (
        """
        def clear(field):
            total = np.sum(field[1:] * field[:-1] - field[1:] ** 2)
            field[0] = 0.0
            return total
        """,
        "    field[0] = 0.0",
    ),
    "a loop over objects": (
        """
        def move(particles, dt):
            for p in particles:
                p.place = np.mod(p.place + p.speed * dt, 1.0)
            return np.sum(particles[0].place * dt)
        """,
        "    for p in particles:",
    ),
}


@pytest.mark.parametrize("text", STAYING.values(), ids=STAYING)
def test_functions_that_numpy_has_no_part_in_stay(text: str) -> None:
    names = ("sqlite3", "matplotlib.pyplot as plt", "numpy as np", "torch")
    imports = "".join(f"import {name}\n" for name in names) + "\nzero = np.zeros(3)\n"
    after = convert(imports + dedent(text), AS_SOURCE).text
    assert dedent(text) in after
    assert "np2tf.jit" not in after
    assert "tnp.zeros(3)" in after
    everything = convert(imports + dedent(text), Options(as_source=True, numpy_only=False)).text
    assert dedent(text) not in everything


@pytest.mark.parametrize(("text", "line"), COMPILED.values(), ids=COMPILED)
def test_what_needs_no_lowering_stays_in_compiled_functions(text: str, line: str) -> None:
    after = convert("import numpy as np\n" + dedent(text), AS_SOURCE).text
    assert "@np2tf.jit" in after
    assert line in after.splitlines()


@pytest.mark.parametrize(
    "after",
    [
        "    return total + field[0]",
        "    again = lambda: field\n    return again()",
        "    for k in range(3):\n        total = total + k\n    return total * field",
    ],
)
def test_a_write_is_a_rebinding_where_its_array_is_read_later(after: str) -> None:
    before = "    total = np.sum(field[1:] * field[:-1] - field[1:] ** 2)\n    field[0] = 0.0\n"
    text = f"import numpy as np\n\n\ndef f(field):\n{before}{after}\n"
    assert "field = tnp.at(field)[0].set(0.0)" in convert(text, AS_SOURCE).text


def test_writes_outside_of_compiled_functions_stay() -> None:
    writes = "field[1] = 2.0\nnp.add.at(field, [0, 0], 1.0)\nfield.sort()\n"
    text = f"import numpy as np\n\nfield = np.zeros(3)\n{writes}"
    after = convert(text, AS_SOURCE).text
    assert after.splitlines()[3:] == [
        "field[1] = 2.0",
        "field = tnp.add_at(field, [0, 0], 1.0)",
        "field.sort()",
    ]


def test_every_attribute_of_an_array_is_known_to_be_one() -> None:
    """A loop over items with other attributes runs over objects."""
    names = [name for name in dir(np.ndarray) if not name.startswith("_")]
    assert [name for name in names if rules.find(f"numpy.ndarray.{name}") is None] == []


PROJECT = {
    "main.py": "import numpy as np\n\nfrom low import relax\nfrom tools import names\nimport other\n\n"
    "print(relax(np.ones(9), 3), names(3), other)\n",
    "low.py": "from lower import mean\n\n\ndef relax(u, n):\n    for k in range(n):\n"
    "        u[1:-1] = 0.5 * mean(u[2:], u[:-2])\n    return u\n",
    "lower.py": "def mean(a, b):\n    for k in range(40):\n        a = 0.5 * (a + b) * 1.0\n    return a\n",
    "tools.py": "def names(n):\n    total = 0\n    for k in range(n):\n        total = total * 2 + k\n"
    "    return total\n",
    "other.py": "def area(w, h):\n    for k in range(3):\n        w = w * h\n    return w\n",
}


def _written(folder: Path) -> list[tuple[Path, bytes]]:
    for name, text in PROJECT.items():
        (folder / name).write_text(text)
    return [(folder / name, (folder / name).read_bytes()) for name in PROJECT]


def test_files_that_arrays_come_into(tmp_path: Path) -> None:
    """Calls with values lead from a file with arrays to another; calls with constants do not."""
    found = files_with_arrays(_written(tmp_path))
    assert {path.name for path in found} == {"main.py", "low.py", "lower.py"}


@pytest.mark.parametrize(
    ("option", "expected"), [([], {"low.py", "lower.py"}), (["--everything"], set(PROJECT))]
)
def test_convert_touches_files_with_arrays(tmp_path: Path, option: list[str], expected: set[str]) -> None:
    _written(tmp_path)
    result = CliRunner().invoke(command, ["convert", "--check", "--no-cache", *option, str(tmp_path)])
    changed = {name for name in PROJECT if f"{name}: would change" in result.output}
    assert changed == expected | {"main.py"}


CONTINUED = """
def f(x, pairs):
    first = [a * 2.0 for a, _, _ in pairs]
    for k in range(len(x)):
        if np.sum(x) > 3 and \\
           np.max(x) < 100:
            x[k] = x[k] + 1 \\
                + k
        else:
            x[k] = x[0] * 2
    while(np.sum(x) > 2):
        x = x / 2
        if np.sum(x) < \\
           4:
            break
    return np.sum(x) + first[0]
"""


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_continued_lines_and_unspaced_keywords(end: str) -> None:
    """Layouts of published scripts; what a lambda cannot have as parameters stays a comprehension."""
    text = ("import numpy as np\n\n" + CONTINUED).replace("\n", end)
    after = convert(text, AS_SOURCE).text
    values: dict[str, dict[str, Any]] = {"source": {}, "translation": {}}
    exec(text, values["source"])
    exec(after, values["translation"])
    assert "@np2tf.jit" in after
    assert "for a, _, _ in pairs" in after
    (expected, value) = (names["f"](np.arange(5.0), [(1.0, 2, 3)]) for names in values.values())
    assert value == expected
