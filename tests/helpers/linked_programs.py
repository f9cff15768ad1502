"""Programs of several modules, by the way in which a function's callee is found.

Each program is a package `pk`. `pk.main.run(x)` calls a function of another module, which ends in `act(x)` of
`pk.work`. In one version of that module `act` opens a file, in the other version it only computes.
"""

from __future__ import annotations

from textwrap import dedent

#: No module but `main.py` names NumPy.
ACTING = """\
COUNTS = {}


def act(x):
    with open(__file__) as file:
        return x * len(file.read(1))
"""
COMPUTING = """\
COUNTS = {}


def act(x):
    return x * 1.0
"""
MAIN = """

def main():
    done = []
    for k in range(3):
        done.append(run(np.arange(6.0) + k))
    return done
"""


def sources(text: str, work: str) -> dict[str, str]:
    """Return the files of the package."""
    first, *file_texts = dedent(text).split("\n# file ")
    files = {"__init__.py": "", "work.py": work, "main.py": "import numpy as np\n" + first + MAIN}
    for file_text in file_texts:
        name, _, text_of_file = file_text.partition("\n")
        files[name] = text_of_file
    return files


PROGRAMS: dict[str, str] = {
    "from import": """
        from .work import act

        def run(x):
            for i in range(5):
                x = x * 0.5 + act(x)
            return x
        """,
    "from import under another name": """
        from pk.work import act as other

        def run(x):
            for i in range(5):
                x = x * 0.5 + other(x)
            return x
        """,
    "by way of the module": """
        from . import work

        def run(x):
            for i in range(5):
                x = x * 0.5 + work.act(x)
            return x
        """,
    "import as": """
        import pk.work as w

        def run(x):
            for i in range(5):
                x = x * 0.5 + w.act(x)
            return x
        """,
    "import of a dotted name": """
        import pk.work

        def run(x):
            for i in range(5):
                x = x * 0.5 + pk.work.act(x)
            return x
        """,
    "import in the function": """
        def run(x):
            from .work import act
            for i in range(5):
                x = x * 0.5 + act(x)
            return x
        """,
    "re-export through __init__": """
        from .tools import renamed

        def run(x):
            for i in range(5):
                x = x * 0.5 + renamed(x)
            return x
        # file tools/__init__.py
        from ..work import act as renamed
        """,
    "star imports": """
        from .api import *

        def run(x):
            for i in range(5):
                x = x * 0.5 + act(x)
            return x
        # file api.py
        from .work import *
        """,
    "a chain of three": """
        from .middle import one

        def run(x):
            for i in range(5):
                x = x * 0.5 + one(x)
            return x
        # file middle.py
        from . import work

        def one(x):
            return two(x) + 1.0

        def two(x):
            return work.act(x)
        """,
    "a method of a base class elsewhere": """
        from .base import Base

        class Model(Base):
            def __init__(self, k):
                self.k = k

            def fit(self, x):
                for i in range(5):
                    x = x * 0.5 + self.step(x) * self.k
                return x

        def run(x):
            return Model(2.0).fit(x)
        # file base.py
        from .work import act

        class Base:
            def step(self, x):
                return act(x)
        """,
    "super of a class elsewhere": """
        from .base import Base

        class Model(Base):
            def __init__(self, k):
                self.k = k

            def fit(self, x):
                for i in range(5):
                    x = x * 0.5 + super().step(x) * self.k
                return x

        def run(x):
            return Model(2.0).fit(x)
        # file base.py
        from .work import act

        class Base:
            def step(self, x):
                return act(x)
        """,
    "an abstract method, overridden elsewhere": """
        from .models import Model

        def run(x):
            return Model(2.0).fit(x)
        # file base.py
        from abc import ABC, abstractmethod

        class Base(ABC):
            def __init__(self, k):
                self.k = k

            @abstractmethod
            def step(self, x):
                raise NotImplementedError

            def fit(self, x):
                for i in range(x.shape[0]):
                    x = x * 0.5 + self.step(x) * self.k
                return x
        # file models.py
        from .base import Base
        from .work import act

        class Model(Base):
            def step(self, x):
                return act(x)
        """,
    "an attribute that the constructor makes": """
        from .losses import SquareLoss

        class Model:
            def __init__(self):
                self.loss = SquareLoss(2.0)

            def fit(self, x):
                for i in range(5):
                    x = x * 0.5 + self.loss.value(x)
                return x

        def run(x):
            return Model().fit(x)
        # file losses.py
        from .work import act

        class SquareLoss:
            def __init__(self, k):
                self.k = k

            def value(self, x):
                return act(x) * self.k
        """,
    "an object that can be called": """
        from .losses import SquareLoss

        LOSS = SquareLoss()

        def run(x):
            for i in range(5):
                x = x * 0.5 + LOSS(x)
            return x
        # file losses.py
        from .work import act

        class SquareLoss:
            def __call__(self, x):
                return act(x)
        """,
    "a constructor": """
        from .losses import Scaled

        def run(x):
            for i in range(5):
                x = x * 0.5 + Scaled(x).x
            return x
        # file losses.py
        from .work import act

        class Scaled:
            def __init__(self, x):
                self.x = act(x)
        """,
    "a dispatch table": """
        from .work import act
        from .tools import also

        def run(x, name="b"):
            for i in range(5):
                x = x * 0.5 + {"a": act, "b": also}[name](x)
            return x
        # file tools.py
        from .work import act

        def also(x):
            return act(x) + 1.0
        """,
    "a dispatch table elsewhere": """
        from .tools import TABLE

        def run(x, name="b"):
            step = TABLE.get(name)
            for i in range(5):
                x = x * 0.5 + step(x)
            return x
        # file tools.py
        from .work import act

        def also(x):
            return act(x) + 1.0

        TABLE = {"a": act, "b": also}
        """,
    "functools.partial": """
        from .tools import halved

        def run(x):
            for i in range(5):
                x = x * 0.5 + halved(x)
            return x
        # file tools.py
        from functools import partial
        from .work import act

        def scaled(k, x):
            return act(x) * k

        halved = partial(scaled, 0.5)
        """,
    "a decorator that only wraps": """
        from .tools import scaled

        def run(x):
            for i in range(5):
                x = x * 0.5 + scaled(x)
            return x
        # file tools.py
        import functools
        from .work import act

        def checked(function):
            @functools.wraps(function)
            def inner(x):
                if x is None:
                    raise ValueError("nothing")
                return function(x)
            return inner

        @checked
        def scaled(x):
            return act(x) * 0.5
        """,
    "a decorator that does it itself": """
        from .tools import scaled

        def run(x):
            for i in range(5):
                x = x * 0.5 + scaled(x)
            return x
        # file tools.py
        from .work import act

        def acting(factor):
            def wrap(function):
                def inner(x):
                    return act(function(x)) * factor
                return inner
            return wrap

        @acting(2.0)
        def scaled(x):
            return x * 0.5
        """,
    "a decorator that registers": """
        from .tools import scaled

        def run(x):
            for i in range(5):
                x = x * 0.5 + scaled(x)
            return x
        # file tools.py
        from .work import act

        KNOWN = {}

        def register(name):
            def wrap(function):
                KNOWN[name] = function
                return function
            return wrap

        @register("scaled")
        def scaled(x):
            return act(x) * 0.5
        """,
    "a property of a base class elsewhere": """
        from .base import Base

        class Model(Base):
            def __init__(self, x):
                self.x = x

            def fit(self, x):
                for i in range(5):
                    x = x * 0.5 + self.scaled
                return x

        def run(x):
            return Model(x).fit(x)
        # file base.py
        from .work import act

        class Base:
            @property
            def scaled(self):
                return act(self.x)
        """,
    "a dataclass as an annotated parameter": """
        from .settings import Settings

        def fit(x, settings: Settings):
            for i in range(5):
                x = x * 0.5 + settings.applied(x)
            return x

        def run(x):
            return fit(x, Settings(2.0))
        # file settings.py
        from dataclasses import dataclass
        from .work import act

        @dataclass
        class Settings:
            rate: float = 1.0

            def applied(self, x):
                return act(x) * self.rate
        """,
    "what a dataclass runs after its constructor": """
        from .settings import Settings

        def run(x):
            for i in range(5):
                x = x * 0.5 + Settings(x).x
            return x
        # file settings.py
        from dataclasses import dataclass
        from .work import act

        @dataclass
        class Settings:
            x: object

            def __post_init__(self):
                self.x = act(self.x)
        """,
    "a dataclass with an object made by default": """
        from .settings import Settings

        SETTINGS = Settings()

        def run(x):
            for i in range(5):
                x = x * 0.5 + SETTINGS.loss.value(x)
            return x
        # file settings.py
        from dataclasses import dataclass, field
        from .work import act

        class Loss:
            def value(self, x):
                return act(x)

        @dataclass
        class Settings:
            loss: Loss = field(default_factory=Loss)
        """,
    "a NamedTuple": """
        from .settings import Pair

        def run(x):
            pair = Pair(x, 2.0)
            for i in range(5):
                x = x * 0.5 + pair.applied()
            return x
        # file settings.py
        from typing import NamedTuple
        from .work import act

        class Pair(NamedTuple):
            x: object
            k: float

            def applied(self):
                return act(self.x) * self.k
        """,
    "an enum": """
        from .modes import Mode

        def run(x):
            for i in range(5):
                x = x * 0.5 + Mode.FAST.applied(x)
            return x
        # file modes.py
        from enum import Enum
        from .work import act

        class Mode(Enum):
            FAST = 1
            SLOW = 2

            def applied(self, x):
                return act(x) * self.value
        """,
    "a static and a class method": """
        from .losses import Loss

        def run(x):
            for i in range(5):
                x = x * 0.5 + Loss.scaled(x)
            return x
        # file losses.py
        from .work import act

        class Loss:
            @staticmethod
            def doubled(x):
                return act(x) * 2.0

            @classmethod
            def scaled(cls, x):
                return cls.doubled(x)
        """,
    "an inner function": """
        from .work import act

        def run(x):
            def step(x):
                return act(x)
            for i in range(5):
                x = x * 0.5 + step(x)
            return x
        """,
    "a function of another file with the loop": """
        from .steps import stepped

        def run(x):
            return stepped(x) + x.T @ x
        # file steps.py
        from .work import act

        def stepped(x):
            for i in range(x.shape[0]):
                x = x * 0.5 + act(x)
            return x
        """,
}
