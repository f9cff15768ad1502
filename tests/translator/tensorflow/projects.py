"""Projects of several modules that are translated for TensorFlow alone, and projects that are refused."""

from __future__ import annotations

import random
from functools import lru_cache
from pathlib import Path

from np2tf.translator.batch.programs import translate_sources
from np2tf.translator.pipeline import Result
from np2tf.translator.sources.names_between_files import reexports_of
from np2tf.translator.tree.source import Source
from tests.translator.tensorflow.small_programs import HELPERS, Maker

Files = dict[str, str]

OPS = """\
import numpy as np
from . import settings

WEIGHTS = np.array([0.5, 0.25])


def relax(u, f):
    un = u.copy()
    u[1:-1] = WEIGHTS[0] * (un[2:] + un[:-2]) - f
    return np.abs(u - un).max()


def norm(u):
    return np.sqrt((u * u).sum()) * settings.SCALE


def weights():
    return WEIGHTS
"""
SETTINGS = """\
from enum import Enum

SCALE = 2.0
NAMES = ("a", "b")


class Choice(Enum):
    SIZE = 9


def default_size():
    return Choice.SIZE.value
"""
INIT = '"""A package."""\n\nfrom .ops import norm, relax\n'
PACKAGE = {"pack/__init__.py": INIT, "pack/ops.py": OPS, "pack/settings.py": SETTINGS}


def main_of(body: str, imports: str) -> str:
    """A program whose main function has this body."""
    lines = "\n".join(f"    {line}" for line in body.strip("\n").split("\n"))
    return f"import numpy as np\n{imports}\n\n\ndef main():\n{lines}\n"


START = "u, f = np.linspace(0, 1, 9), np.ones(7)\n"
TRANSLATED: dict[str, Files] = {
    "names of a package": {
        **PACKAGE,
        "program.py": main_of(
            START + "c = relax(u, f)\nreturn c, u, norm(u)", "from pack import norm, relax"
        ),
    },
    "attributes of modules": {
        **PACKAGE,
        "program.py": main_of(
            START
            + "c = ops.relax(u, f)\npack.relax(u, f)\nd = o.relax(u, f)\nreturn c, d, u, o.weights() * 2",
            "from pack import ops\nimport pack\nimport pack.ops as o",
        ),
    },
    "names of NumPy from other modules": {
        "compat.py": "import numpy as np\n\n\ndef double(x):\n    return np.multiply(x, 2.0)\n",
        "origin.py": "from compat import np as xp, double as twice\n\n\ndef half(x):\n"
        "    return xp.divide(x, 2.0) + twice(x)\n",
        "work.py": "from numpy import sin\nfrom compat import np, double\nfrom origin import (\n"
        "    half,\n)\n\n\ndef f(x):\n    return np.cos(double(x)) + half(x) + sin(x)\n",
        "program.py": main_of("return f(np.ones(3))", "from work import f"),
    },
    "modules that stay on Python": {
        **PACKAGE,
        "program.py": main_of(
            "print(settings.NAMES, default_size())\nreturn np.zeros(len(settings.NAMES)) + settings.SCALE",
            "from pack import settings\nfrom pack.settings import default_size",
        ),
    },
    "a module without NumPy that gets arrays": {
        "places.py": "def clear(x):\n    x[1:] = 0\n\n\ndef total(x):\n    return x.sum() + x[0]\n",
        "program.py": main_of(
            "x = np.ones(3)\nclear(x)\nreturn x, total(x)", "from places import clear, total"
        ),
    },
    "a dataclass with a name as its default": {
        "shapes.py": "from dataclasses import dataclass, field\n\nimport numpy as np\n\nSIDE = 2\n\n\n"
        "@dataclass\nclass Box:\n    width: float\n    side: int = SIDE\n"
        "    seen: list = field(default_factory=list)\n\n"
        "    def edges(self):\n        self.seen.append(self.side)\n        return np.full(self.side, "
        "self.width)\n",
        "program.py": main_of(
            "box = Box(2.5)\nreturn box.edges(), Box(1.0, 3).edges(), box.side, box.seen",
            "from shapes import Box",
        ),
    },
    "an import that only type checkers run": {
        "boxes.py": "from __future__ import annotations\n\nfrom typing import TYPE_CHECKING\n\n"
        "import numpy as np\n\nif TYPE_CHECKING:\n    from program import Plan\n\n\n"
        "def size(plan: Plan, x: np.ndarray) -> float:\n    return np.sqrt(x).sum() * plan.scale\n",
        "program.py": "import numpy as np\nfrom boxes import size\n\n\nclass Plan:\n    scale = 2.0\n\n\n"
        "def main():\n    return size(Plan(), np.arange(4.0))\n",
    },
    "modules in a folder": {
        "tools/first.py": "import numpy as np\nfrom second import half\n\n\n"
        "def f(x):\n    return half(np.sin(x))\n",
        "tools/second.py": "def half(x):\n    y = x * 1\n    y /= 2\n    return y\n",
        "tools/program.py": main_of("return first.f(np.arange(3.0))", "import first"),
    },
    "a callee that calls a callee that writes": {
        "low.py": "def put(x, k):\n    x[k] = k\n",
        "middle.py": "import low\n\n\ndef fill(x):\n    for k in range(len(x)):\n        low.put(x, k)\n"
        "    return len(x)\n",
        "program.py": main_of("x = np.ones(3)\nn = middle.fill(x)\nreturn x, n", "import middle"),
    },
    "a function as an argument": {
        "maps.py": "def twice(f, x):\n    return f(f(x))\n",
        "program.py": main_of(
            "return maps.twice(double, np.arange(3))",
            "import maps\n\n\ndef double(t):\n    return t * 2",
        ),
    },
    "a loop that calls a function of another module": {
        "steps.py": "import numpy as np\n\n\ndef step(u):\n    return 0.5 * (u + np.roll(u, 1))\n",
        "program.py": main_of(
            "u = np.arange(5.0)\nfor i in range(100):\n    u = steps.step(u)\nreturn u", "import steps"
        ),
    },
}
#: Project -> for each refused module the code.
REFUSED: dict[str, tuple[Files, dict[str, str]]] = {
    "an attribute of another module that is NumPy's": (
        {
            "compat.py": "import numpy as np\n\n\ndef double(x):\n    return np.multiply(x, 2.0)\n",
            "program.py": main_of("return compat.np.sin(np.ones(3))", "import compat"),
        },
        {"program.py": "NP2TF607", "compat.py": "NP2TF610"},
    ),
    "a name of NumPy's that one module passes to another": (
        {
            "compat.py": "import numpy as np\n\nSIZE = np.ones(3)\n",
            "between.py": "from compat import np\n",
            "program.py": main_of("return np.sin(SIZE)", "from between import np\nfrom compat import SIZE"),
        },
        {"between.py": "NP2TF603", "program.py": "NP2TF610"},
    ),
    "a write to an array of another module": (
        {**PACKAGE, "program.py": main_of("WEIGHTS[0] = 1\nreturn 1", "from pack.ops import WEIGHTS")},
        {"program.py": "NP2TF604", "pack/__init__.py": "NP2TF610"},
    ),
    "a write at the top level to an array of another module": (
        {**PACKAGE, "program.py": "import numpy as np\nfrom pack.ops import WEIGHTS as w\nw += np.ones(2)\n"},
        {"program.py": "NP2TF604"},
    ),
    "a write to an array that another module keeps": (
        {**PACKAGE, "program.py": main_of("w = weights()\nw[0] = 1", "from pack.ops import weights")},
        {"program.py": "NP2TF604"},
    ),
    "an array in a container of another module": (
        {
            "store.py": "import numpy as np\n\nKEPT = [np.zeros(2)]\n\n\ndef keep(x):\n    KEPT.append(x)\n",
            "program.py": main_of("x = np.ones(2)\nstore.keep(x)\nx[0] = 5", "import store"),
        },
        {"store.py": "NP2TF604", "program.py": "NP2TF610"},
    ),
    "a write to an array in a container of another module": (
        {
            "store.py": "import numpy as np\n\nKEPT = [np.zeros(2)]\n",
            "program.py": main_of("x = store.KEPT[0]\nx[0] = 5\nreturn store.KEPT", "import store"),
        },
        {"program.py": "NP2TF604"},
    ),
    "a library": (
        {
            "low.py": "import scipy.linalg as la\nimport numpy as np\n\n\ndef f(x):\n    return la.inv(x)\n",
            "program.py": main_of("return low.f(np.eye(2))", "import low"),
            "beside.py": "import numpy as np\n\nx = np.ones(2)\n",
        },
        {"low.py": "NP2TF607", "program.py": "NP2TF610"},
    ),
    "modules that import one another": (
        {
            "first.py": "import numpy as np\n\nW = np.zeros(2)\nimport second\n\nW[0] = 1\n",
            "second.py": "import numpy as np\nimport first\n\nV = first.W\n",
        },
        {"first.py": "NP2TF6", "second.py": "NP2TF6"},
    ),
    "an attribute of a module": (
        {**PACKAGE, "program.py": main_of("settings.SCALE = 3\nreturn norm(np.ones(2))",
                                          "from pack import norm, settings")},
        {"program.py": "NP2TF603"},
    ),
    "names that no text shows": (
        {**PACKAGE, "program.py": main_of("return norm(np.ones(2))", "from pack import *")},
        {"program.py": "NP2TF607"},
    ),
    "a name that is not there": (
        {**PACKAGE, "program.py": main_of("return ops.nothing(np.ones(2))", "from pack import ops")},
        {"program.py": "NP2TF607"},
    ),
    "arrays in a module that stays on Python": (
        {
            **PACKAGE,
            "pack/settings.py": SETTINGS + "\n\ndef last(x):\n    return x[-1]\n",
            "program.py": main_of("return last(np.ones(2))", "from pack.settings import last"),
        },
        {"program.py": "NP2TF607"},
    ),
    "a class": (
        {
            "low.py": "import numpy as np\n\n\nclass C(np.ndarray):\n    x = np.ones(2)\n",
            "program.py": main_of("return low.C().x", "import low"),
        },
        {"low.py": "NP2TF603", "program.py": "NP2TF6"},
    ),
}  # fmt: skip
RANDOM = range(110)
_STYLES = (
    "from {module} import {names}",
    "import {module}",
    "import {module} as h",
    "from {package} import {last}",
)


def random_project(seed: int) -> Files:
    """A random program whose helper functions are in other modules, which it imports in a random way."""
    choice = random.Random(f"modules {seed}")
    text = Maker(seed).program()
    head, _, main = text.partition("def main():")
    names = [name for name in HELPERS if f"def {name}(" in head]
    if not names:
        return {"program.py": text}
    module = choice.choice(("helpers", "pack.helpers"))
    style = choice.choice(_STYLES[: 4 if "." in module else 3])
    package, _, last = module.rpartition(".")
    line = style.format(module=module, names=", ".join(names), package=package, last=last)
    prefix = {0: "", 1: f"{module}.", 2: "h.", 3: f"{last}."}[_STYLES.index(style)]
    for name in names:
        main = main.replace(f"{name}(", f"{prefix}{name}(")
    files = {
        "program.py": f"import numpy as np\n{line}\n\n\ndef main():{main}",
        f"{module.replace('.', '/')}.py": head.strip() + "\n",
    }
    return {**files, "pack/__init__.py": ""} if package else files


def for_tensorflow(files: Files) -> dict[str, Result]:
    """The translation of each module."""
    sources = [Source.of(text, path) for path, text in files.items()]
    by_path = reexports_of([(Path(path), text.encode()) for path, text in files.items()])
    reexports = [by_path.get(Path(path), ()) for path in files]
    return with_shared_module(dict(zip(files, translate_sources(sources, ["."] * len(files), reexports))))


def with_shared_module(results: dict[str, Result]) -> dict[str, Result]:
    """The translations, and the module with the helpers that several of them import."""
    for result in list(results.values()):
        if result.shared_module is not None:
            path, text = result.shared_module
            results[Path(path).as_posix()] = Result(text, changed=True)
    return results


def errors(results: dict[str, Result]) -> dict[str, list[str]]:
    """The codes for which modules stay as they are."""
    codes = {
        path: [finding.code for finding in result.diagnostics if finding.severity == "error"]
        for path, result in results.items()
    }
    return {path: found for path, found in codes.items() if found}


@lru_cache(maxsize=1)
def every_project() -> dict[str, tuple[Files, Files]]:
    """Name -> modules and translated modules, for all projects that are translated."""
    found = {}
    for name, files in {**TRANSLATED, **{f"random {seed}": random_project(seed) for seed in RANDOM}}.items():
        results = for_tensorflow(files)
        if name in TRANSLATED or not errors(results):
            found[f"project: {name}"] = (files, {path: result.text for path, result in results.items()})
    for name, (files, _) in REFUSED.items():
        texts = {path: result.text for path, result in for_tensorflow(files).items()}
        found[f"project: stays: {name}"] = (files, texts)
    return found
