"""Programs of several modules with calls whose callees the text does not show, and the fate of each call.

Each program is a package `pk`; `pk.main.main()` is run on NumPy and translated.
"""

from __future__ import annotations

from textwrap import dedent
from typing import NamedTuple

#: A file of every package.
UTILS = """\
import numpy as np

RATE = 0.5


def scaled(x):
    return x * RATE


def halved_where_large(x):
    for i in range(x.shape[0]):
        if x[i] > 1.0:
            x[i] = x[i] / 2
    return x


def shouted(x):
    print("shouted")
    return x
"""
#: The end of every `main.py`.
MAIN = """

def main():
    done = []
    for k in range(3):
        x = np.arange(6.0) + k
        done.append(({call}, x))
    return done
"""


class CalleeProgram(NamedTuple):
    """One program.

    Attributes:
        text: the files, each behind a line with its name; the text before the first such line is `main.py`.
        call: the expression that `main` evaluates three times.
        staged: whether it is compiled, or a word from the reason why not; None if `np2tf check` gives the
            reason.
    """

    text: str
    call: str
    staged: bool | str | None = True

    def sources(self) -> dict[str, str]:
        """Return the files of the package."""
        first, *file_texts = dedent(self.text).split("\n# file ")
        texts = {"__init__.py": "", "utils.py": UTILS}
        texts["main.py"] = "import numpy as np\n" + first + MAIN.format(call=self.call)
        for file_text in file_texts:
            name, _, text = file_text.partition("\n")
            texts[name] = text
        return texts


PROGRAMS: dict[str, CalleeProgram] = {
    "operator.concat of arrays is refused, as NumPy's": CalleeProgram(
        """
        import operator

        import numpy as np


        def joined(x, y):
            return operator.concat(x, y) * 2


        def tried(f, x):
            try:
                return f(x, x)
            except TypeError as error:
                return str(error)
        """,
        "tried(joined, x)",
        None,
    ),
    "a function of another module": CalleeProgram(
        """
        from .utils import scaled

        def run(x, f=None):
            for i in range(5):
                x = x * 0.5 + scaled(x)
            return x
        """,
        "run(x)",
    ),
    "one with control flow of its own": CalleeProgram(
        """
        from .utils import halved_where_large

        def run(x, f=None):
            for i in range(5):
                x = x * 0.5 + halved_where_large(x * 1)
            return x
        """,
        "run(x)",
    ),
    "by way of the module": CalleeProgram(
        """
        from . import utils

        def run(x, f=None):
            for i in range(5):
                x = x * 0.5 + utils.scaled(x)
            return x
        """,
        "run(x)",
    ),
    "by way of a re-export": CalleeProgram(
        """
        from .api import *
        from .api import renamed

        def run(x, f=None):
            for i in range(5):
                x = x * 0.5 + renamed(x) + halved_where_large(x * 1)
            return x
        # file api.py
        from .utils import *
        from .utils import scaled as renamed
        """,
        "run(x)",
    ),
    "one that prints is traced with its print": CalleeProgram(
        """
        from .utils import shouted

        def run(x, f=None):
            for i in range(5):
                x = x * 0.5 + shouted(x)
            return x
        """,
        "run(x)",
    ),
    "a parameter that is NumPy's": CalleeProgram(
        """
        def run(x, f=None):
            for i in range(5):
                x = x * 0.5 + f(x)
            return x
        """,
        "run(x, np.sin)",
    ),
    "a parameter that is NumPy's, and has defaults that are NumPy's": CalleeProgram(
        """
        def run(x, f=None, g=np.sum):
            for i in range(5):
                x = x * 0.5 + f(x) + g(x, 0)
            return x
        """,
        "[run(x, f) for f in (np.mean, np.sum, np.linalg.norm, np.fft.ifftshift)]",
    ),
    "a parameter that is a lambda with a closure": CalleeProgram(
        """
        def run(x, f=None):
            for i in range(5):
                x = x * 0.5 + f(x)
            return x
        """,
        "run(x, lambda v: v * k + x[0])",
    ),
    "a parameter that is an inner function with a branch": CalleeProgram(
        """
        def run(x, f=None):
            for i in range(5):
                x = x * 0.5 + f(x)
            return x

        def made(k):
            def inner(v):
                if v[0] > 2.0:
                    v = v * k
                return v
            return inner
        """,
        "run(x, made(k))",
    ),
    "a parameter that is partial": CalleeProgram(
        """
        import functools

        def run(x, f=None):
            for i in range(5):
                x = x * 0.5 + f(x)
            return x
        """,
        "run(x, functools.partial(np.multiply, 0.5))",
    ),
    "a partial function of the program": CalleeProgram(
        """
        import functools

        def run(x, f=None):
            for i in range(5):
                x = x * 0.5 + f(x, b=2.0)
            return x

        def g(a, v, b):
            return v * a - b
        """,
        "run(x, functools.partial(g, k))",
    ),
    "a bound method as a parameter": CalleeProgram(
        """
        from .model import Model
        m = Model(0.25)

        def run(x, f=None):
            for i in range(5):
                x = x * 0.5 + f(x)
            return x
        # file model.py
        class Model:
            def __init__(self, a):
                self.a = a
                self.calls = 0

            def rhs(self, x):
                self.calls += 1
                return x * self.a
        """,
        "run(x, m.rhs), m.calls",
    ),
    "an object that can be called": CalleeProgram(
        """
        from .model import Model

        def run(x, f=None):
            for i in range(5):
                x = x * 0.5 + f(x)
            return x
        # file model.py
        class Model:
            def __init__(self, a):
                self.a = a

            def __call__(self, x):
                return x * self.a
        """,
        "run(x, Model(k))",
    ),
    "a method of an attribute, overridden elsewhere": CalleeProgram(
        """
        from .square import Square

        class Fit:
            def __init__(self):
                self.loss = Square()
                self.rate = 0.125

            def run(self, x):
                for i in range(5):
                    x = x - self.rate * self.loss.both(x) / 100
                return x

        fit = Fit()
        # file base.py
        import abc

        class Loss(abc.ABC):
            @abc.abstractmethod
            def value(self, x):
                ...

            def both(self, x):
                return self.value(x) + 1
        # file square.py
        from .base import Loss

        class Square(Loss):
            def value(self, x):
                return (x * x).sum()
        """,
        "fit.run(x)",
    ),
    "a table of functions": CalleeProgram(
        """
        from .utils import scaled
        TABLE = {'half': scaled, 'sine': np.sin, 'own': lambda v: v / 3}

        def run(x, name):
            for i in range(5):
                x = x * 0.5 + TABLE[name](x)
            return x
        """,
        "run(x, ['half', 'sine', 'own'][k])",
    ),
    "a decorator that only wraps": CalleeProgram(
        """
        from .tools import wrapping

        @wrapping
        def g(x):
            return x / 4

        def run(x, f=None):
            for i in range(5):
                x = x * 0.5 + g(x)
            return x
        # file tools.py
        import functools

        def wrapping(f):
            @functools.wraps(f)
            def wrapper(*args, **kwargs):
                return f(*args, **kwargs)
            return wrapper
        """,
        "run(x)",
    ),
    "a decorator that counts": CalleeProgram(
        """
        from .tools import CALLS, counting

        @counting
        def g(x):
            return x / 4

        def run(x, f=None):
            for i in range(5):
                x = x * 0.5 + g(x)
            return x
        # file tools.py
        import functools

        CALLS = []

        def counting(f):
            @functools.wraps(f)
            def wrapper(*args, **kwargs):
                CALLS.append(f.__name__)
                return f(*args, **kwargs)
            return wrapper
        """,
        "run(x), len(CALLS)",
        "changed",
    ),
    "a class of another module": CalleeProgram(
        """
        from .points import Pair, Plain, Triple

        def run(x):
            for i in range(5):
                p = Pair(x)
                t = Triple(x, p.b, 3.0)
                x = p.a * p.b - t.a * t.c + Plain(x).total()
            return x
        # file points.py
        from dataclasses import dataclass
        from typing import NamedTuple

        @dataclass
        class Pair:
            a: object
            b: float = 2.0

        class Triple(NamedTuple):
            a: object
            b: object
            c: float

        class Plain:
            def __init__(self, a):
                self.a = a * 2

            def total(self):
                return self.a.sum()
        """,
        "run(x)",
    ),
    "builtins handed on": CalleeProgram(
        """
        def run(x, f=None):
            for i in range(5):
                x = x * 0.5 + f(x[0], x[1])
            return x
        """,
        "run(x, max)",
    ),
    "math handed on": CalleeProgram(
        """
        import math

        def run(x, f=None):
            for i in range(5):
                x = x * 0.5 + f(abs(float(x[1])))
            return x
        """,
        "run(x, math.sqrt)",
    ),
    "a function that writes a file": CalleeProgram(
        """
        import tempfile

        def logged(x):
            with tempfile.TemporaryFile() as file:
                file.write(b'x')
            return x

        def run(x, f=None):
            for i in range(5):
                x = x * 0.5 + f(x)
            return x
        """,
        "run(x, logged)",
        "TemporaryFile",
    ),
    "a global counter in a callee": CalleeProgram(
        """
        from . import count

        def run(x, f=None):
            for i in range(5):
                x = x * 0.5 + count.step(x)
            return x
        # file count.py
        COUNT = 0

        def step(x):
            global COUNT
            COUNT += 1
            return x * COUNT
        """,
        "run(x), count.COUNT",
        "rebinds a global name",
    ),
    "an object's counter in a callee": CalleeProgram(
        """
        from . import count

        def run(x, f=None):
            for i in range(5):
                x = x * 0.5 + count.counter.step(x)
            return x
        # file count.py
        class Counter:
            total = 0

            def step(self, x):
                self.total += 1
                return x * 0.5

        counter = Counter()
        """,
        "run(x), count.counter.total",
        "changed",
    ),
    "a closure's counter in a callee": CalleeProgram(
        """
        def run(x, f=None):
            for i in range(5):
                x = x * 0.5 + f(x)
            return x

        def made():
            n = 0
            def inner(v):
                nonlocal n
                n += 1
                return v * n
            return inner

        held = made()
        """,
        "run(x, held)",
        "changed",
    ),
    "a table that changes": CalleeProgram(
        """
        TABLE = {}

        def run(x):
            for i in range(5):
                x = x * 0.5 + TABLE['f'](x)
            return x

        def again(x, k):
            TABLE['f'] = [np.sin, np.cos, np.tanh][k]
            return run(x)
        """,
        "again(x, k)",
    ),
    "a global that a callee reads changes": CalleeProgram(
        """
        from . import utils

        def run(x, f=None):
            for i in range(5):
                x = x * 0.5 + utils.scaled(x)
            return x

        def again(x, k):
            utils.RATE = 0.1 * k
            return run(x)
        """,
        "again(x, k)",
    ),
    "a method that the base's own code calls": CalleeProgram(
        """
        from .base import Base

        LOG = []

        class Loud(Base):
            def step(self, x):
                LOG.append('step')
                return x * 0.5

        loud = Loud()
        # file base.py
        import numpy as np

        class Base:
            def step(self, x):
                return np.sin(x)

            def run(self, x):
                for i in range(5):
                    x = x * 0.5 + self.step(x)
                return x
        """,
        "loud.run(x), len(LOG)",
        "changed",
    ),
    "a property elsewhere that prints": CalleeProgram(
        """
        from .base import Base

        class Model(Base):
            def __init__(self, k):
                self.k = k

            def run(self, x):
                for i in range(5):
                    x = x * 0.5 + self.rate
                return x

        model = Model(2.0)
        # file base.py
        class Base:
            @property
            def rate(self):
                print("rate", self.k)
                return self.k * 2
        """,
        "model.run(x)",
        "which cannot be compiled: it prints",
    ),
    "an operator elsewhere that calls what prints": CalleeProgram(
        """
        from .base import Vector

        def run(x, v):
            for i in range(5):
                x = x * 0.5 + (v + v).x
            return x

        vector = Vector(2.0)
        # file base.py
        from .utils import shouted

        class Vector:
            def __init__(self, x):
                self.x = x

            def __add__(self, other):
                return type(self)(shouted(self.x + other.x))
        """,
        "run(x, vector)",
        "which cannot be compiled: it prints",
    ),
    "an operator elsewhere that only computes": CalleeProgram(
        """
        from .base import Vector

        def run(x, v):
            for i in range(5):
                x = x * 0.5 + (v + v).x
            return x

        vector = Vector(2.0)
        # file base.py
        from .utils import scaled

        class Vector:
            def __init__(self, x):
                self.x = x

            def __add__(self, other):
                return type(self)(scaled(self.x + other.x) + self.twice())

            def twice(self):
                return self.x * 2
        """,
        "run(x, vector)",
    ),
    "a method that overrides and prints": CalleeProgram(
        """
        from .base import Base

        class Loud(Base):
            def step(self, x):
                print("step")
                return x * 0.5

        loud = Loud()
        # file base.py
        import numpy as np

        class Base:
            def step(self, x):
                return np.sin(x)

            def run(self, x):
                for i in range(5):
                    x = x * 0.5 + self.step(x)
                return x
        """,
        "loud.run(x)",
        "which cannot be compiled: it prints",
    ),
    "what a dataclass elsewhere runs, and prints": CalleeProgram(
        """
        from .base import Pair

        def run(x):
            for i in range(5):
                x = x * 0.5 + Pair(x).x
            return x
        # file base.py
        from dataclasses import dataclass

        @dataclass
        class Pair:
            x: object

            def __post_init__(self):
                print("made")
                self.x = self.x * 2
        """,
        "run(x)",
        "which cannot be compiled: it prints",
    ),
    "a method of an enumeration": CalleeProgram(
        """
        from .modes import Mode

        def run(x, mode):
            for i in range(5):
                x = x * 0.5 + mode.applied(x)
            return x
        # file modes.py
        from enum import Enum

        class Mode(Enum):
            FAST = 1
            SLOW = 2

            def applied(self, x):
                return x * self.value if self.name == 'FAST' else x / self.value
        """,
        "run(x, __import__('pk.modes').modes.Mode.FAST), run(x, __import__('pk.modes').modes.Mode.SLOW)",
    ),
    "a method of an enumeration of arrays": CalleeProgram(
        """
        from .modes import Mode

        def run(x, mode):
            for i in range(5):
                x = x * 0.5 + mode.applied(x)
            return x
        # file modes.py
        import numpy as np
        from enum import Enum

        class Mode(Enum):
            FAST = np.arange(6.0)

            def applied(self, x):
                return x * self.value
        """,
        "run(x, __import__('pk.modes').modes.Mode.FAST)",
        "whose effects are unknown",
    ),
    "a method of the object's own": CalleeProgram(
        """
        from .base import Base

        LOG = []

        def loud(x):
            LOG.append('step')
            return x * 0.5

        base = Base()
        base.step = loud
        # file base.py
        import numpy as np

        class Base:
            def step(self, x):
                return np.sin(x)

            def run(self, x):
                for i in range(5):
                    x = x * 0.5 + self.step(x)
                return x
        """,
        "base.run(x), len(LOG)",
        "changed",
    ),
    "a method that is replaced, overridden and overridden by data": CalleeProgram(
        """
        from .base import Base

        class Derived(Base):
            def step(self, x):
                return super().step(x) + self.rate

        def loud(self, x):
            return x * 0.125 + self.rate

        derived = Derived()

        def again(x, k):
            if k == 1:
                Base.step = loud
            if k == 2:
                Derived.step, Derived.rate = loud, 0.75
            return derived.run(x)
        # file base.py
        import numpy as np

        class Base:
            @property
            def rate(self):
                return 0.5

            def step(self, x):
                return np.sin(x)

            def run(self, x):
                for i in range(70):
                    x = np.tanh(x) * 0.5 + self.step(x)
                return x
        """,
        "again(x, k)",
    ),
    "a class that is replaced": CalleeProgram(
        """
        class Half:
            def __init__(self, a):
                self.a = a

            def total(self):
                return self.a * 0.5

        class Quarter(Half):
            def total(self):
                return self.a * 0.25

        def run(x):
            for i in range(70):
                x = np.sin(x) * 0.5 + Half(x).total()
            return x

        def again(x, k):
            global Half
            if k == 1:
                Half = Quarter
            return run(x)
        """,
        "again(x, k)",
    ),
    "super of another module": CalleeProgram(
        """
        from .base import Base

        class Derived(Base):
            def run(self, x):
                for i in range(5):
                    x = x * 0.5 + super().step(x)
                return x
        # file base.py
        class Base:
            def step(self, x):
                return x * 0.25
        """,
        "Derived().run(x)",
    ),
    "a list of the object's": CalleeProgram(
        """
        class Fit:
            def __init__(self):
                self.history = []

            def step(self, x):
                self.history.append(float(x[0]))
                return np.sin(x[1:]) @ x[1:] * 0.5

        fit = Fit()
        """,
        "fit.step(x), list(fit.history)",
    ),
    "an argument that a branch may keep, written in the first round of a loop": CalleeProgram(
        """
        def run(x):
            if np.any(x > 6.5):
                x = x * 0.5
            for i in range(70):
                x[1:] *= 0.7
                x = np.tanh(np.roll(x, 1) - 0.25)
            return x * 0.9
        """,
        "run(x)",
    ),
    "a list of the object's behind a function that reads another": CalleeProgram(
        """
        NAMES = []

        def inner(x):
            return x * (0.5 + len(NAMES))

        class Fit:
            def __init__(self):
                self.inner = inner
                self.history = []

            def step(self, x):
                self.history.append(float(x[0]))
                return self.inner(np.sin(x[1:]) @ x[1:])

        fit = Fit()
        """,
        "fit.step(x), list(fit.history), list(NAMES)",
    ),
    "a list of the object's that its function reads by name": CalleeProgram(
        """
        NAMES = []

        def inner(x):
            return x * (0.5 + len(NAMES))

        class Fit:
            def __init__(self):
                self.history = NAMES
                self.inner = inner

            def step(self, x):
                self.history.append(float(x[0]))
                return self.inner(np.sin(x[1:]) @ x[1:])

        fit = Fit()
        """,
        "fit.step(x), list(fit.history), list(NAMES)",
        "global",
    ),
    "a list of the object's, in a loop that is unrolled": CalleeProgram(
        """
        class Fit:
            def __init__(self):
                self.history = []

            def run(self, x):
                for i in range(20):
                    x = x * 0.5
                    self.history.append(x[0])
                return x

        fit = Fit()
        """,
        "fit.run(x), list(fit.history)",
    ),
    "a list of the object's, in a loop": CalleeProgram(
        """
        class Fit:
            def __init__(self):
                self.history = []

            def run(self, x, n):
                for i in range(n):
                    x = x * 0.5
                    self.history.append(x[0])
                return x

        fit = Fit()
        """,
        "fit.run(x, 70 + k), list(fit.history)",
    ),
    "a list of the class's": CalleeProgram(
        """
        class Fit:
            history = []

            def step(self, x):
                self.history.append(float(x[0]))
                return np.sin(x[1:]) @ x[1:] * 0.5

        fit = Fit()
        """,
        "fit.step(x), list(fit.history)",
        "changed",
    ),
    "a method called update": CalleeProgram(
        """
        from .state import State

        class Fit:
            def __init__(self):
                self.state = State()

            def run(self, x):
                for i in range(5):
                    x = x * 0.5 + self.state.update(x)
                return x

        fit = Fit()
        # file state.py
        class State:
            def __init__(self):
                self.count = 0

            def update(self, x):
                self.count += 1
                return x * self.count
        """,
        "fit.run(x), fit.state.count",
    ),
    "a counter that is read by name": CalleeProgram(
        """
        COUNT = 0

        def run(x):
            for i in range(5):
                x = x * 0.5 + COUNT
            return x

        def again(x):
            global COUNT
            COUNT += 1
            return run(x)
        """,
        "again(x), COUNT",
    ),
    "a function of SciPy's": CalleeProgram(
        """
        from scipy import special
        from scipy.stats import norm
        import scipy.linalg as la

        def run(x):
            for i in range(5):
                x = x * 0.5 + special.erf(x) + norm.pdf(x)
            return x + la.solve(np.eye(6) + np.outer(x, x), x)
        """,
        "run(x)",
    ),
    "a function of SciPy's that only the host has": CalleeProgram(
        """
        from scipy import optimize

        def run(x):
            for i in range(5):
                x = x * 0.5 + optimize.brentq(lambda v: v * v - 2, 0, 2)
            return x
        """,
        "run(x)",
        "brentq",
    ),
    "log records, of which some are off": CalleeProgram(
        """
        import logging
        import sys
        logger = logging.getLogger("pk.of.callees")

        class Fit:
            def __init__(self):
                self.log = logger

            def run(self, x):
                self.log.info("begins with %s, %.3f", x, x[1])
                for i in range(70):
                    x = x * 0.5 + np.sin(x)
                    logger.debug("round %d", i)
                    if x[0] > 1.0:
                        logger.warning("round %d: %s is large", i, x[0])
                logger.error("done")
                return x

        fit = Fit()

        def shown(x, k):
            handler = logging.StreamHandler(sys.stdout)
            handler.setFormatter(logging.Formatter("%(levelname)s %(funcName)s %(lineno)d %(message)s"))
            logger.propagate = False
            logger.handlers = [handler]
            logger.setLevel([logging.INFO, logging.DEBUG, logging.ERROR][k])
            return fit.run(x)
        """,
        "shown(x, k)",
    ),
    "log records of inner functions": CalleeProgram(
        """
        import functools
        import logging
        import sys
        logger = logging.getLogger("pk.of.callees")

        def telling(f):
            @functools.wraps(f)
            def wrapper(*args):
                logger.info("calls %s", f.__name__)
                return f(*args)
            return wrapper

        @telling
        def g(x):
            return x / 4

        def run(x):
            for i in range(70):
                x = x * 0.5 + g(x)
                logger.info("round %d", i)
            return x

        def shown(x):
            handler = logging.StreamHandler(sys.stdout)
            handler.setFormatter(logging.Formatter("%(funcName)s %(lineno)d %(message)s"))
            logger.propagate = False
            logger.handlers = [handler]
            logger.setLevel(logging.INFO)
            return run(x)
        """,
        "shown(x)",
    ),
    "methods of a named tuple": CalleeProgram(
        """
        from .spans import Span

        def run(x):
            for i in range(5):
                x = x * 0.5 + Span(x[0], x).width()
            return x
        # file spans.py
        from typing import NamedTuple

        class Span(NamedTuple):
            low: object
            high: object

            def width(self):
                return self.high - self.low
        """,
        "run(x)",
    ),
    "a named tuple that holds more than its fields": CalleeProgram(
        """
        from .spans import Counted

        def run(x):
            for i in range(5):
                c = Counted(x, 0.5)
                x = c.scaled() + c.calls
            return x
        # file spans.py
        from collections import namedtuple

        class Counted(namedtuple("Counted", "x factor")):
            calls = 0

            def scaled(self):
                self.calls = self.calls + 1
                return self.x * self.factor
        """,
        "run(x)",
        None,
    ),
    "warnings": CalleeProgram(
        """
        import warnings

        def run(x):
            for i in range(70):
                x = x * 0.5 + np.sin(x)
                if x[0] > 1.0:
                    warnings.warn("large", RuntimeWarning)
            return x

        def told(x):
            with warnings.catch_warnings(record=True) as found:
                warnings.simplefilter("always")
                y = run(x)
            return y, [(str(one.message), one.category, one.lineno) for one in found]
        """,
        "told(x)",
    ),
    "what acts, under a flag": CalleeProgram(
        """
        import os
        from .numbers import sqrt

        LOG = []

        def note(x):
            LOG.append(float(x[0]))
            with open(os.devnull, "w") as file:
                file.write(str(x))

        def run(x, keep=False, where=None):
            for i in range(70):
                x = np.sin(x) * sqrt(2.0)
                if keep and i % 20 == 0:
                    note(x)
            if where is not None:
                np.save(where, x)
                open(where).close()
            return x
        # file numbers.py
        def sqrt(x):
            return x + 1.0
        """,
        "[run(x), run(x, keep=True), list(LOG)]",
    ),
    "methods that Python has made": CalleeProgram(
        """
        from dataclasses import dataclass
        from functools import total_ordering

        @dataclass(frozen=True)
        class Box:
            low: float = 0.5

        @total_ordering
        class Level:
            def __init__(self, k):
                self.k = k

            def __eq__(self, other):
                return self.k == other.k

            def __lt__(self, other):
                return self.k < other.k

        def run(x, box, one, other):
            for i in range(70):
                x = np.sin(x) * box.low + 1.0
            return x * 2 if one >= other else x

        """,
        "run(x, Box(), Level(2), Level(1))",
    ),
    "generators that are gone through at once": CalleeProgram(
        """
        def run(x):
            y = x * 0
            for a, b in ((i, j) for i in range(len(x)) for j in range(i)):
                y[a] += x[b] * 0.5
            total = 0.0
            for i, p in enumerate(np.sin(v) for v in x):
                total = total + p * i
            return y * total + [p * 2.0 for p in (np.cos(v) for v in x)][0]
        """,
        "run(x)",
    ),
    "with blocks": CalleeProgram(
        """
        class Doubled:
            def __init__(self, k):
                self.k = k
                self.inside = 0

            def __enter__(self):
                self.inside = self.inside + 1
                self.k = self.k * 2.0
                return self

            def __exit__(self, *error):
                self.k = self.k / 2.0
                return False

        def run(x, scope):
            total = x * 0
            for i in range(70):
                with scope as inner:
                    x = np.sin(x) * inner.k
                    if x.sum() > 100.0:
                        break
                total = total + x * scope.k
            with Doubled(3.0) as d, np.printoptions(precision=3):
                print(total)
                total = total + d.k
            print(total)
            return total, scope.k, scope.inside
        """,
        "run(x, Doubled(0.7))",
    ),
    "a with block that handles exceptions": CalleeProgram(
        """
        class Quiet:
            def __enter__(self):
                return self

            def __exit__(self, kind, error, trace):
                return kind is ValueError

        def run(x, limit):
            with Quiet():
                for i in range(70):
                    x = np.sin(x) + i
                    if x[0] > limit:
                        raise ValueError("too far")
                x = x * 1000
            return x

        class Locked:
            log = []

            def __enter__(self):
                self.log.append("in")
                return self

            def __exit__(self, *error):
                self.log.append("out")

        def locked(x):
            with Locked():
                for i in range(3):
                    x = np.sin(x)
            return x
        """,
        "[run(x, 20.0), run(x, 1e9), locked(x), list(Locked.log)]",
    ),
    "warnings of what calls": CalleeProgram(
        """
        import warnings

        def check(x):
            for i in range(3):
                x = x * 0.5 + np.sin(x)
                if x[0] > 0.4:
                    warnings.warn("large", RuntimeWarning, stacklevel=2)
                    warnings.warn("far", stacklevel=3)
            return x

        def through(x):
            for i in range(2):
                x = check(x) + 1
            return x

        def told(x):
            with warnings.catch_warnings(record=True) as found:
                warnings.simplefilter("always")
                y = check(x)
                z = through(x)
            return y, z, [(str(one.message), one.category, one.lineno) for one in found]
        """,
        "told(x)",
    ),
    "a progress bar": CalleeProgram(
        """
        import io
        from tqdm import tqdm

        def run(x, n, file):
            for i in tqdm(range(n), file=file):
                x = x * 0.5 + np.sin(x) * i
            return x

        class Screen(io.StringIO):
            pass

        def shown(x):
            screen = Screen()
            y = run(x, 70, screen)
            return y, "70/70" in screen.getvalue()
        """,
        "shown(x)",
        "Screen",
    ),
    "a progress bar on the screen": CalleeProgram(
        """
        from tqdm import tqdm

        def run(x, n):
            for i, v in enumerate(tqdm(range(n), disable=True)):
                x = x * 0.5 + np.sin(x) * 0.1 * i / (v + 1)
            return x
        """,
        "run(x, 70)",
    ),
    "a dataclass that checks its fields, and a member of an enum": CalleeProgram(
        """
        from .kinds import Pair, Side

        def run(x, side):
            for i in range(5):
                pair = Pair(x, 2.0)
                x = pair.a * 0.5 + pair.total * (1 if Side(side) is Side.LEFT else -1)
            return x
        # file kinds.py
        from dataclasses import dataclass
        from enum import Enum

        class Side(Enum):
            LEFT = "left"
            RIGHT = "right"

        @dataclass
        class Pair:
            a: object
            b: float

            def __post_init__(self):
                if self.b < 0:
                    raise ValueError("b must not be negative")
                self.total = self.a.sum() * self.b / 100
        """,
        "run(x, ['left', 'right'][k % 2])",
    ),
    "functions handed to what calls them": CalleeProgram(
        """
        from .utils import scaled

        def run(x, f):
            for i in range(5):
                x = x * 0.5 + sum(map(f, [x, x + 1]))
            return x
        """,
        "run(x, scaled)",
    ),
    "a function that acts, handed to what calls it": CalleeProgram(
        """
        SEEN = []

        def noted(v):
            SEEN.append(1)
            return v

        def run(x):
            for i in range(5):
                x = x * 0.5 + sum(map(noted, [x, x + 1]))
            return x
        """,
        "run(x), len(SEEN)",
        "changed",
    ),
    "functions handed to what calls them, met while tracing": CalleeProgram(
        """
        import functools
        import operator

        SEEN = []

        def noted(v, w):
            SEEN.append(1)
            return v + w

        def run(x, fold, add):
            for i in range(5):
                x = x * 0.5 + fold(add, [x, x + 1])
            return x

        def both(x, k):
            return run(x, functools.reduce, [operator.add, np.add, noted][k])
        """,
        "both(x, k), len(SEEN)",
    ),
    "an operator that writes": CalleeProgram(
        """
        import operator

        def run(x, write):
            for i in range(70):
                write(x, i % 3, x[0] * 0.5 + i)
            return x
        """,
        "run(x, operator.setitem)",
        "setitem",
    ),
}
