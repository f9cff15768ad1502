"""NumPy's names that files import from other files: found where they are surely NumPy's, and nowhere else."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

import pytest

from np2tf.translator.sources.names_between_files import Reexport, Reexports, read_file, reexports_of


def written(folder: Path, **texts: str) -> list[tuple[Path, bytes]]:
    """Write a package `pk`, and return its files with their bytes."""
    (folder / "pk").mkdir()
    texts = {"__init__": "", **texts}
    for name, text in texts.items():
        (folder / "pk" / f"{name}.py").write_text(dedent(text))
    return [(path, path.read_bytes()) for path in sorted((folder / "pk").iterdir())]


TRY = "try:\n    import numpy as np\nexcept ImportError:\n    "


@pytest.mark.parametrize(
    ("compat", "expected"),
    [
        ("import numpy as np\n", ("numpy", False)),
        ("from numpy import linalg as np\n", ("numpy.linalg", False)),
        ("import numpy.linalg as np\n", ("numpy.linalg", False)),
        (f"{TRY}np = None\n", ("numpy", True)),
        (f"{TRY}raise\n", ("numpy", False)),
        ("if x:\n    import numpy as np\nelse:\n    import numpy as np\n", ("numpy", False)),
        ("from .origin import np\n", ("numpy", False)),
        ("from .origin import np\nnp: object\n", ("numpy", True)),
        ("from pk.origin import (\n    other,  # np\n    np,\n)\n", ("numpy", False)),
        ("from numpy import *\nimport numpy as np\n", ("numpy", False)),
        ("def f():\n    np = 3\n    return np\nimport numpy as np\n", ("numpy", False)),
        ("import numpy\nnp = numpy\n", None),
        (f"{TRY}import cupy as np\n", None),
        (f"{TRY}np = []\n", None),
        ("import numpy as np\nnp = wrap(np)\n", None),
        ("import numpy as np\ndef use(other):\n    global np\n    np = other\n", None),
        ("import numpy as np\nfor np in (1, 2):\n    pass\n", None),
        ("import numpy as np\nwith open('x') as np:\n    pass\n", None),
        ("import numpy as np\nprint(np := 3)\n", None),
        ("import numpy as np\ndel np\n", None),
        ("import numpy as np\nnp += 1\n", None),
        ("import numpy as np\n(np, x) = 1, 2\n", None),
        ("import numpy as np\ntry:\n    pass\nexcept OSError as np:\n    pass\n", None),
        ("import numpy as np\nmatch x:\n    case {**np}:\n        pass\n", None),
        ("import numpy as np\nclass np:\n    pass\n", None),
        ("import numpy as np\nglobals()['np'] = 3\n", None),
        ("import numpy as np\nimport sys\nsys.modules[__name__].np = 3\n", None),
        ("import numpy as np\nimport pk.compat\npk.compat.np = 3\n", None),
        ("import numpy as np\nfrom .origin import *\n", None),
        ("from .compat import np\n", None),
        ("from .other import np\nimport numpy as np\n", None),
        ("from jax import numpy as np\n", None),
        ("import jax.numpy as np\n", None),
        ("import math as np\n", None),
        ("import numpy as np\n)", None),
        ("", None),
    ],
)
def test_bindings(tmp_path: Path, compat: str, expected: tuple[str, bool] | None) -> None:
    """Of a name that another file imports. The importing file is looked at alone, and with its program."""
    origin = "import numpy as np\nother = 1\n"
    files = written(tmp_path, compat=compat, origin=origin, user="from .compat import np\nnp.sin\n")
    user = tmp_path / "pk" / "user.py"
    reexports = (Reexport(".compat", "np", *expected),) if expected is not None else ()
    assert Reexports(read_file).of(user, user.read_bytes()) == reexports
    assert reexports_of(files).get(user, ()) == reexports


@pytest.mark.parametrize(
    ("line", "module"),
    [
        ("from .compat import np", ".compat"),
        ("from pk.compat import np", "pk.compat"),
        ("from pk.compat import np as xp", "pk.compat"),
        ("from . import np", "."),
        ("from pk import np", "pk"),
        ("from ..pk import np", "..pk"),
        ("from ...compat import np", None),
        ("from compat import np", None),
        ("from numpy import np", None),
        ("from math import np", None),
        ("from .sub import np", None),
    ],
)
def test_modules(tmp_path: Path, line: str, module: str | None) -> None:
    written(tmp_path, __init__="import numpy as np\n", compat="import numpy as np\n")
    (tmp_path / "__init__.py").touch()
    user = tmp_path / "pk" / "user.py"
    if module == "pk" or line.startswith("from pk"):
        (tmp_path / "__init__.py").unlink()
    reexports = Reexports(read_file).of(user, line.encode())
    assert reexports == ((Reexport(module, "np", "numpy"),) if module is not None else ())


def test_relative_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A path is relative to the current folder, which may be in a package."""
    written(tmp_path, compat="import numpy as np\n")
    folder = tmp_path / "pk" / "sub"
    folder.mkdir()
    (folder / "compat.py").write_text("import math as np\n")
    (folder / "user.py").write_text("from ..compat import np\n")
    monkeypatch.chdir(folder)
    files = [(path, path.read_bytes()) for path in (Path("compat.py"), Path("user.py"))]
    assert reexports_of(files) == {Path("user.py"): (Reexport("..compat", "np", "numpy"),)}


def test_a_submodule_hides_a_name_of_its_package(tmp_path: Path) -> None:
    written(tmp_path, __init__="import numpy as np\n", np="")
    user = tmp_path / "pk" / "user.py"
    assert Reexports(read_file).of(user, b"from . import np\n") == ()


@pytest.mark.parametrize(
    ("stars", "expected"),
    [
        ("from .a import *", {"np": "numpy", "norm": "numpy.linalg.norm"}),
        ("from .listed import *", {"norm": "numpy.linalg.norm"}),
        ("from .a import *\nfrom .own import *", {"np": "numpy"}),
        ("from .own import *\nfrom .a import *", {"np": "numpy", "norm": "numpy.linalg.norm"}),
        ("from .a import *\nfrom math import *", {}),
        ("from .a import *\nfrom numpy import *", {}),
        ("from .a import *\nfrom .unlisted import *", {}),
        ("from .a import *\nfrom .of_numpy import *", {}),
        ("try:\n    from .a import *\nexcept ImportError:\n    pass", {}),
        ("from .optional import *", {}),
    ],
)
def test_stars(tmp_path: Path, stars: str, expected: dict[str, str]) -> None:
    """The last module that exports a name has it, if the exports of all modules are known."""
    written(
        tmp_path,
        a="import numpy as np\nfrom numpy.linalg import norm\nimport numpy as _np\n",
        listed="import numpy as np\nfrom numpy.linalg import norm\n__all__ = ['norm', 'f']\ndef f(): pass\n",
        unlisted="import numpy as np\n__all__ = ['f']\n__all__ += ['np']\n",
        own="def norm(x): pass\n",
        of_numpy="from numpy import *\n",
        optional=f"{TRY}np = None\n",
    )
    reexports = Reexports(read_file).of(tmp_path / "pk" / "user.py", stars.encode())
    assert {reexport.name: reexport.qualified_name for reexport in reexports} == expected
    assert all(reexport.by_star for reexport in reexports)


@pytest.mark.parametrize("line", ["compat.np = jax.numpy\n", "setattr(compat, 'np', jax.numpy)\n"])
def test_another_file_binds_the_name(tmp_path: Path, line: str) -> None:
    """Of all names of the program with this spelling none counts."""
    files = written(
        tmp_path,
        compat="import numpy as np\nimport numpy\n",
        backend=f"from . import compat\nimport jax\ndef use_jax():\n    {line}",
        user="from .compat import np, numpy\n",
    )
    assert reexports_of(files) == {tmp_path / "pk" / "user.py": (Reexport(".compat", "numpy", "numpy"),)}
