"""NumPy's names throughout a project: however a file gets them, the translated project does what it did."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from np2tf import Options, convert
from np2tf.cli.commands.check import check
from np2tf.cli.commands.convert import convert as command
from np2tf.translator.sources.names_between_files import passed_on
from tests.helpers.command_runner import CliRunner

ROOT = Path(__file__).resolve().parents[3]
FILES = {
    "__init__.py": """
        from .compat import np
        from . import star
        __all__ = ["np", "star"]
        """,
    "compat.py": """
        try:
            import numpy as np
        except ImportError:
            np = None
        HAS = np is not None
        """,
    "plain.py": """
        import numpy as np
        from numpy import float64, linalg as la
        one = np.ones(1)
        """,
    "tried.py": """
        try:
            import numpy as np
            HAS = True
        except ImportError:
            HAS = False

        def total(x):
            return np.sum(x)
        """,
    "optional.py": """
        try:
            import numpy
            np = numpy
        except ImportError:
            np = None

        def filled(container, values):
            if np is None or container is list:
                return container(values)
            if isinstance(container, type) and issubclass(container, np.ndarray):
                return np.ones(len(values), dtype=float)
            return np.fromiter(values, float) if container is np.array else np.zeros(3)
        """,
    "uses.py": '''
        """It says np.array."""
        from __future__ import annotations
        from typing import TYPE_CHECKING
        from .plain import np, float64, la
        from . import plain
        import pk.tried as t
        if TYPE_CHECKING:
            import numpy.typing as npt

        def work(x: npt.NDArray[np.float64]) -> np.ndarray:
            y = np.zeros(3)
            y[0] = np.sum(x)
            return y + plain.np.ones(3) + float64(la.norm(x)) + t.np.ones(3)
        ''',
    "asks.py": """
        import sys
        from .compat import np
        from .tried import np as xp

        def total(x):
            if np is None:
                return sum(x)
            if not np or xp is None:
                return None
            y = np.zeros(2)
            for i in range(2):
                y[i] = xp.sum(x) + len(x)
            return y

        def module(x):
            return x is np
        """,
    "common.py": """
        import numpy as np
        from numpy import linalg, pi, sum

        def double(x):
            return np.multiply(x, 2)
        """,
    "by_star.py": """
        from .plain import *
        from .common import *

        def work(x):
            return sum(double(np.abs(x))) + linalg.norm(x) + pi + one[0]
        """,
    "alias.py": """
        import numpy as np
        import numpy

        xp = np
        if hasattr(xp, "sin"):
            sin = xp.sin

        def by_alias(x):
            return xp.sum(x) + getattr(np, "mean")(x) + getattr(xp, "max")(x) + sin(x)

        def by_name(name, x):
            return getattr(np, name)(x)

        @np.vectorize
        def sign(a):
            return 1 if a > 0 else -1

        half = np.vectorize(lambda a: a / 2, otypes=[float])

        class Holder:
            xp = numpy

            def total(self, x):
                return self.xp.cumsum(x)
        """,
    "star.py": """
        from numpy import *

        __all__ = ["total", "zeros", "sin"]

        def total(x):
            return sum(x * 2) + zeros(3)
        """,
    "open_star.py": """
        from numpy import *

        def mean_of(x):
            return mean(x)
        """,
    "named.py": """
        from numpy import linalg, array as arr, float64
        from numpy.linalg import norm

        __all__ = ["norm", "arr", "linalg"]

        def use(x):
            return norm(arr(x, dtype=float64)) + linalg.det(arr([[1.0, 0], [0, 2]]))
        """,
    "typed.py": '''
        import numpy as np
        import numpy.typing as npt
        from typing import TYPE_CHECKING, Optional, get_type_hints

        if TYPE_CHECKING:
            from numpy.typing import ArrayLike

        Values = npt.NDArray[np.float64]

        def scaled(x: "npt.NDArray[np.float64]", y: Optional[np.ndarray] = None) -> npt.NDArray[np.float64]:
            """Takes np.array and returns np.ndarray."""
            # np.array here
            z: np.ndarray = np.asarray(x)
            return z * np.float64(2)

        def hints():
            return sorted(get_type_hints(scaled)), Values == npt.NDArray[np.float64]
        ''',
    "__main__.py": """
        from pk import np
        from pk.star import *
        from pk.open_star import *
        from pk.named import norm, arr
        import pk.alias as al
        from pk import asks, by_star, compat, named, optional, star, tried, typed, uses

        def work(x):
            s = np.cumsum(x)
            s[0] = 7
            return norm(s) + al.xp.sum(zeros(3)) + arr([1.0])[0]

        x = np.linspace(-1, 2, 5)
        print(work(x), compat.HAS, tried.HAS, tried.total(x))
        print(uses.work(x).tolist(), uses.__doc__)
        print(al.by_alias(x).tolist(), [float(al.by_name(name, x)) for name in ("sum", "max", "argmin")])
        print(al.sign(x).tolist(), al.half(x).tolist(), al.Holder().total(x).tolist())
        print(total(arange(3)).tolist(), sin(0.0), mean_of(x), cumsum(x).tolist(), star.__all__, named.use(x))
        print([getattr(star, name) is not None for name in star.__all__], named.linalg.det(np.eye(2)))
        print(typed.scaled(x).tolist(), typed.hints(), typed.scaled.__doc__)
        print(asks.total(x).tolist(), asks.module(x), asks.module(compat.np), by_star.work(x))
        print([list(optional.filled(container, (1, 2))) for container in (list, np.array, np.ndarray, max)])
        """,
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the package, and `out` beside it with the translation."""
    folder = tmp_path_factory.mktemp("names")
    for name, text in FILES.items():
        (folder / "pk").mkdir(exist_ok=True)
        (folder / "pk" / name).write_text(dedent(text).lstrip())
    words = ["--out", str(folder / "out" / "pk"), "--copy-other", "-q", "--no-cache", str(folder / "pk")]
    done = CliRunner().invoke(command, words)
    assert done.exit_code == 0, done.output
    return folder


def ran(folder: Path, *words: str) -> str:
    """Run a Python process and return the text that it prints."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_project_does_what_it_did(project: Path) -> None:
    """Converted, and run by `np2tf run`."""
    expected = ran(project, "-m", "pk")
    assert expected.count("\n") == 9
    assert ran(project / "out", "-m", "pk") == expected
    assert ran(project, str(ROOT / "cli.py"), "run", "-m", "pk") == expected


def test_it_is_translated(project: Path) -> None:
    """A file's own uses of NumPy are translated; NumPy names that other files read from it stay bound."""
    texts = {path.name: path.read_text() for path in (project / "out" / "pk").glob("*.py")}
    assert texts["plain.py"] == (
        "import numpy as np\nfrom np2tf import tnp\n"
        "from np2tf.tnp import float64, linalg as la\none = tnp.ones(1)\n"
    )
    assert "    return tnp.sum(x)\n" in texts["tried.py"]
    assert "    import numpy as np\n    from np2tf import tnp\n    HAS = True\n" in texts["tried.py"]
    assert (
        "    import np2tf\n    from np2tf import tnp\n    np = tnp\nexcept ImportError:\n    np = None\n"
        in texts["optional.py"]
    )
    assert "issubclass(container, numpy.ndarray)" in texts["optional.py"]
    assert "    if np is None or container is list:\n" in texts["optional.py"]
    test = "np2tf.numpy_function(container) is numpy.array"
    assert f"tnp.fromiter(values, float) if {test} else tnp.zeros(3)" in " ".join(
        texts["optional.py"].split()
    )
    assert texts["uses.py"].count("from .plain import np, float64, la\n") == 1
    assert "np2tf.call(tnp.float64)(tnp.linalg.norm(x))" in texts["uses.py"]
    assert "    if np is None:\n        return np2tf.sum(x)\n" in texts["asks.py"]
    assert "    if not np or tnp is None:\n" in texts["asks.py"]
    assert "    y = tnp.zeros(2)\n" in texts["asks.py"]
    assert texts["asks.py"].startswith(
        "import sys\nfrom .compat import np\nimport np2tf\nfrom np2tf import tnp\n"
    )
    assert texts["by_star.py"].startswith("from .plain import *\nimport np2tf\nfrom np2tf import tnp\n")
    assert "(tnp.abs(x))) + tnp.linalg.norm(x) + tnp.pi + one[0]\n" in texts["by_star.py"]
    assert 'xp.sum(x) + getattr(tnp, "mean")(x)' in texts["alias.py"]
    assert "    return getattr(tnp, name)(x)\n\n@tnp.vectorize\n" in texts["alias.py"]
    assert texts["alias.py"].startswith("from np2tf import tnp\n")
    assert texts["star.py"].startswith(
        'from np2tf import tnp\nfrom numpy import *\n\n__all__ = ["total", "zeros", "sin"]'
    )
    assert "    return tnp.sum(x * 2) + tnp.zeros(3)\n" in texts["star.py"]
    assert texts["open_star.py"].startswith("from np2tf import tnp\nfrom numpy import *\n")
    assert "tnp.linalg.norm(tnp.array(x, dtype=tnp.float64))" in texts["named.py"]
    assert '__all__ = ["norm", "arr", "linalg"]' in texts["named.py"]


def test_standard_input(project: Path) -> None:
    """A program from standard input gets the names that the file at its place would get."""
    file = project / "pk" / "by_star.py"
    words = ["-", "--stdin-filename", str(file)]
    done = CliRunner().invoke(command, words, input=file.read_text())
    assert "tnp.abs(x)" in done.output
    assert "tnp" not in CliRunner().invoke(command, ["-"], input=file.read_text()).output


def test_findings(project: Path) -> None:
    """`np2tf check` tells of a wrong name where its module is another file's NumPy."""
    file = project / "pk" / "wrong.py"
    file.write_text("from .plain import np\n\nvalue = np.no_such_name\n")
    done = CliRunner().invoke(check, ["--format", "concise", str(file)])
    file.unlink()
    assert "wrong.py:3:9: NP2TF002" in done.output


def test_annotations_and_docs(project: Path) -> None:
    """The parameters of NumPy's own types are NumPy's; comments and docstrings are the author's."""
    text = (project / "out" / "pk" / "typed.py").read_text()
    assert "Values = npt.NDArray[np.float64]\n" in text
    assert (
        '(x: "npt.NDArray[np.float64]", y: Optional[tnp.ndarray] = None) -> npt.NDArray[np.float64]:' in text
    )
    assert '    """Takes np.array and returns np.ndarray."""\n    # np.array here\n' in text
    assert "    z: tnp.ndarray = tnp.asarray(x)\n    return z * tnp.float64(2)\n" in text
    assert "    return sorted(get_type_hints(scaled)), Values == npt.NDArray[np.float64]\n" in text
    assert "import numpy as np\n" in text


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        ('"np.ndarray"', '"tnp.ndarray"'),
        ('"npt.NDArray[np.float64] | np.ndarray"', '"npt.NDArray[np.float64] | tnp.ndarray"'),
        ("list[npt.NDArray[np.float64]]", "list[npt.NDArray[np.float64]]"),
        ("dict[str, np.ndarray]", "dict[str, tnp.ndarray]"),
        ("NDArray[np.int64]", "NDArray[np.int64]"),
    ],
)
def test_annotations(annotation: str, expected: str) -> None:
    text = (
        "import numpy as np\nimport numpy.typing as npt\nfrom numpy.typing import NDArray\n\n\n"
        "def f(x: {}) -> None:\n    return np.sum(x)\n"
    )
    made = convert(text.format(annotation), Options(jit=False)).text
    assert f"def f(x: {expected}) -> None:\n    return tnp.sum(x)\n" in made
    assert ("import numpy as np\n" in made) == ("[np." in expected)
    assert convert(made, Options(jit=False)).text == made


def test_quoted_annotations_of_an_ambiguous_name_stay() -> None:
    """Only type checkers see the import; at run time the name is bound in another way."""
    text = (
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import numpy as np\nelse:\n"
        "    np = load('numpy')\n\n\ndef f(x: 'np.ndarray') -> None:\n    return np.sum(x)\n"
    )
    made = convert(text)
    assert (made.text, [finding.code for finding in made.diagnostics]) == (text, ["NP2TF001"])
    plain = text.replace("else:\n    np = load('numpy')\n", "")
    assert "    from np2tf import tnp\n\n\ndef f(x: 'tnp.ndarray')" in convert(plain).text


@pytest.mark.parametrize(
    ("exports", "is_kept"),
    [
        ("__all__ = ['f']\n", False),
        ("__all__ = ('f', 'np')\n", True),
        ("", True),
        ("__all__ = ['f']\n__all__.append('np')\n", True),
        ("__all__ = ['f'] + NAMES\n", True),
        ("if True:\n    __all__ = ['f']\n", True),
    ],
)
def test_import_star_reads_what_a_file_exports(exports: str, is_kept: bool, tmp_path: Path) -> None:
    """A list of names in `__all__` says that other files get no other names by `import *`."""
    text = f"import numpy as np\n{exports}\ndef f(x):\n    return np.sum(x)\n"
    (tmp_path / "a.py").write_text(text)
    (tmp_path / "__init__.py").write_text("from .a import *\n")
    assert CliRunner().invoke(command, ["--write", "--no-cache", str(tmp_path)]).exit_code == 0
    made = (tmp_path / "a.py").read_text()
    assert ("import numpy as np\n" in made) == is_kept
    assert "    return tnp.sum(x)\n" in made


def test_which_names_are_read(tmp_path: Path) -> None:
    """In every form of an import; none of other modules."""
    texts = {
        "a/__init__.py": "import numpy as np\n",
        "a/b.py": "import numpy\nimport numpy as np\nfrom numpy import (\n    w,\n    x as y,\n)\n",
        "a/c.py": "from . import np\nfrom .b import (\n    np as xp,  # why\n    numpy,\n)\n",
        "d.py": "import a.b as e\nfrom a import b as g\ne.x; g.y; h.z\nfrom a.b import \\\n    w\n",
        "f.py": "from a.b import *\nimport numpy as np\n",
        "g.py": "from numpy import np2\nx = f\n",
        "b.py": "import numpy as np\nfrom numpy import x, y\n",
        "a/h/b.py": "import numpy as np\nfrom ..c import np\nfrom numpy import *\n",
        "a/h/__init__.py": "from .b import other\nfrom h.b import further\nfrom ... import d\n",
    }
    files = [(tmp_path / name, text.encode()) for name, text in texts.items()]
    assert {str(path.relative_to(tmp_path)): names for path, names in passed_on(files).items()} == {
        "a/__init__.py": ("np",),
        "a/b.py": ("*", "np", "numpy", "w", "x", "y"),
        "b.py": ("x", "y"),
        "a/h/b.py": ("further", "other", "x", "y"),
    }
    assert passed_on(files[:1]) == {}


def test_names_that_files_read_from_one_another_are_found(tmp_path: Path) -> None:
    """Each spelling of an import and of an attribute, in lines, continued, and behind other text."""
    texts = {
        "compat.py": "import numpy as np\nfrom numpy import pi, e, sin\n",
        "other.py": "import os\n",
        "my-script.py": "import numpy as np\n",
        "direct.py": "if True:\n    from compat import (\n        np,  # e\n        pi as p,\n    )\n",
        "through.py": "import pkg.compat as c\n\nx = c.sin(c.e.real)\nmy = script = 1\nz = my-script.np\n",
        "text.py": "# from compat import cos\ny = 'import compat as q'\nq.tan\n",
    }
    found = passed_on([(tmp_path / name, text.encode()) for name, text in texts.items()])
    assert found == {tmp_path / "compat.py": ("e", "np", "pi", "sin")}


def test_a_second_run_changes_nothing(tmp_path: Path) -> None:
    """Neither of the whole project nor of single files, though other files read what is left of NumPy."""
    files = {
        **FILES,
        "helpers.py": """
            from numpy import ndarray, zeros_like

            def zero(x: ndarray):
                return zeros_like(x)
            """,
        "reads.py": "from .helpers import *\nfrom .helpers import ndarray\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(dedent(text).lstrip())
    assert CliRunner().invoke(command, ["--write", "--no-cache", str(tmp_path)]).exit_code == 0
    assert (
        (tmp_path / "helpers.py")
        .read_text()
        .startswith("from np2tf import tnp\nfrom numpy import ndarray, zeros_like\n")
    )
    for path in (tmp_path, *sorted(tmp_path.iterdir())):
        done = CliRunner().invoke(command, ["--diff", "-q", "--no-cache", str(path)])
        assert (done.exit_code, done.output) == (0, "")
