"""Modules that the tests of the import machinery write to disk and import translated."""

from __future__ import annotations

#: A function fails at its line that ends in `# here`; each function is called with an array of 4 numbers.
FAILING = """\
import numpy as np
from numpy import linalg


def in_expression(x):
    y = np.sqrt(np.abs(x))
    return (y +
            y[:3] + np.ones(2))  # here


def in_while(x):
    err = 1.0
    while err > 0.1:
        err = err / 2
        x[7] = np.sum(x) * err  # here
    return x


def in_while_test(x):
    while np.sum(x) > x[9]:  # here
        x = x / 2
    return x


def in_for(x):
    total = np.zeros(2)
    for i in range(len(x)):
        total[i] += x[i] * np.sum(x)  # here
    return total


def in_nested_for(x):
    table = np.zeros((3, 3))
    for i in range(3):
        for j in range(4):
            table[i, j] = np.sqrt(np.abs(x[i]))  # here
    return table


def in_if(x):
    if np.sum(x) > 0:
        y = x + 1
    elif np.max(x) > x[11]:
        y = x
    else:
        y = np.zeros(3) + x
    if np.min(x) < 100:
        y = y + np.ones(5)  # here
    return y


def in_if_test(x):
    y = np.abs(x)
    if y[4] > np.sum(y):  # here
        y = y + 1
    return y


def in_break(x):
    total = 0.0
    for i in range(10):
        if x[i] * np.sum(x) > 1e9:  # here
            break
        total += x[i]
    return total


def raises(x):
    s = np.sum(x * x)
    if s > 0:
        raise ValueError("positive")  # here
    return np.sqrt(s)


def asserts(x):
    y = np.cumsum(x)
    assert np.all(y < 0), "not negative"  # here
    return np.exp(y)


def in_ternary(x):
    y = np.abs(x) * 2
    return np.sum(y) if np.sum(y) < y[6] else y  # here


def solves(x):
    a = np.outer(x, x) + np.abs(x)
    return linalg.solve(a, np.ones(7))  # here


def called(x):
    def inner(v):
        return v[[1, 99]] + np.sum(v)  # here

    return inner(np.sin(x))


class Model:
    def __init__(self, x):
        self.x = np.asarray(x)

    @property
    def last(self):
        return np.max(self.x) + self.x[4]  # here


def in_property(x):
    return Model(np.abs(x)).last


def in_comprehension(x):
    return [np.sum(x)
            + x[k] for k in (0, 8)]  # here


# Ünïcödé: columns are counted in bytes. 漢字
def behind_unicode(x):
    return "漢字", x[np.argmax(x) + 1 + 0 * len("漢字")]  # here
"""

PACKAGE = {
    "solid/__init__.py": """\
        '''A package.'''
        from .shapes import Ball, area
        from . import shapes
        __all__ = ["Ball", "area"]
        """,
    "solid/shapes.py": """\
        from __future__ import annotations

        from typing import TYPE_CHECKING

        import numpy as np
        from numpy import pi, sqrt as root

        from .deep.units import scaled

        if TYPE_CHECKING:
            import numpy.typing as npt
            from .deep.cycle import Partner

        class Ball:
            '''A ball.

            >>> Ball(1.0).volume()
            np.float64(4.1887902047863905)
            >>> np.arange(3) * Ball(2.0).radius
            array([0., 2., 4.])
            '''

            def __init__(self, radius: float) -> None:
                self.radius = np.asarray(radius, dtype=float)

            def volume(self) -> npt.ArrayLike:
                return 4 / 3 * pi * self.radius ** 3

        def area(x):
            '''The area.

            >>> area([1.0, 2.0])
            array([ 3.14159265, 12.56637061])
            >>> area(np.zeros((2, 1))).shape
            (2, 1)
            '''
            x = scaled(np.asarray(x))
            out = np.zeros(x.shape)
            out[...] = pi * x * x
            return out

        def diagonal(x: "np.ndarray") -> "np.ndarray":
            return root(np.sum(np.asarray(x) ** 2))
        """,
    "solid/deep/__init__.py": "",
    "solid/deep/units.py": """\
        import numpy as np
        from ..constants import FACTOR

        def scaled(x):
            return np.multiply(x, FACTOR)
        """,
    "solid/deep/cycle.py": """\
        import numpy as np
        from . import partner

        class Partner:
            value = np.float64(2.0)

        def both():
            return np.add(Partner.value, partner.one())
        """,
    "solid/deep/partner.py": """\
        import numpy as np
        import solid.deep.cycle

        def one():
            return np.ones(1)[0] * solid.deep.cycle.Partner.value
        """,
    "solid/constants.py": "FACTOR = 1.0\n",
    "solid/late.py": "import numpy as np\n\ndef f(x):\n    return np.sum(x)\n",
    "solid/__main__.py": """\
        import sys
        import numpy as np
        print("main", sys.argv[1:], type(np.ones(3)).__module__, float(np.sum(np.ones(3))))
        """,
    "spacious/inner/mod.py": "import numpy as np\n\ndef f(x):\n    return np.sum(x)\n",
    "takes_np.py": """\
        from solid.shapes import np, root, area
        from solid.shapes import pi

        def f(x):
            return np.sum(root(x)) + pi
        """,
}
