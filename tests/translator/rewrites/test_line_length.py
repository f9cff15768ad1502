"""`line_length`: how long the lines may be that the translator makes itself."""

from __future__ import annotations

import ast

import pytest

from np2tf import convert
from np2tf.translator.sources.options import Options

SOURCE = """\
import numpy as np


class Solver:
    def first(self, values, threshold, weights):
        total = 0.0
        correction = 0.0
        while np.sum(values * weights) > threshold:
            values = values / 2 + np.sin(values)
            total = total + np.sum(values)
            correction = correction + np.max(values) * np.min(weights)
            if np.sum(values) > 3 * threshold:
                total = total + 1.0
                correction = correction - 1.0
            else:
                total = total - 1.0
        return values, total, correction
"""


def lines(length: int) -> list[str]:
    """The lines of the translation."""
    return convert(SOURCE, Options(line_length=length)).text.splitlines()


@pytest.mark.parametrize("length", [60, 72, 79, 99, 200])
def test_no_line_is_longer_than_it_may_be(length: int) -> None:
    """Every call of an operator is broken at the length, also in a class; all lengths give the same tree."""
    made = lines(length)
    made_lines = [line for line in made if line not in SOURCE.splitlines() and "tnp." not in line]
    assert max(map(len, made_lines)) <= length
    assert ast.dump(ast.parse("\n".join(made))) == ast.dump(ast.parse("\n".join(lines(99))))


def test_a_long_tuple_is_broken() -> None:
    """The values with which a loop begins are one argument."""
    names = [f"value_number_{number}" for number in range(6)]
    text = "import numpy as np\n\ndef f(x, n):\n    for i in range(n):\n"
    text += "".join(f"        {name} = np.sin(x + {number})\n" for number, name in enumerate(names))
    text += f"    return {', '.join(names)}\n"
    made = convert(text).text
    assert '        (\n            np2tf.undefined("value_number_0"),\n' in made
    assert '            np2tf.undefined("value_number_5"),\n        ),\n    )\n' in made
    assert convert(made).text == made


def test_what_fits_is_not_broken() -> None:
    assert len(lines(60)) > len(lines(99)) >= len(lines(200))
    assert max(map(len, lines(200))) > 79


def test_lines_of_the_source_stay() -> None:
    """A line that only has other names in it is never broken."""
    text = "import numpy as np\n\nx = np.sin(1.0) + np.sin(2.0) + np.sin(3.0) + np.sin(4.0)\n"
    assert "x = tnp.sin(1.0) + tnp.sin(2.0) + tnp.sin(3.0) + tnp.sin(4.0)\n" in (
        convert(text, Options(line_length=40)).text
    )
