"""Translation at import: modules, packages, the hook, and what pytest does with it."""

from __future__ import annotations

import importlib
import inspect
import subprocess
import sys
import textwrap
import types
from pathlib import Path

import numpy as np
import pytest

import np2tf
from np2tf.loading.import_hook import TranslatingFinder, TranslatingLoader, TranslationWarning

ROOT = Path(__file__).resolve().parents[2]
FILES = {
    "shapes_pkg/__init__.py": """
        from .areas import circle
        from . import deep
        __version__ = "1"
    """,
    "shapes_pkg/areas.py": """
        import numpy as np
        from .deep.scale import scaled

        def circle(r):
            return np.pi * scaled(np.asarray(r)) ** 2
    """,
    "shapes_pkg/deep/__init__.py": "",
    "shapes_pkg/deep/scale.py": """
        import numpy as np
        from ..constants import FACTOR

        def scaled(x):
            out = np.array(x, dtype=float)
            out[...] = out * FACTOR
            return out
    """,
    "shapes_pkg/constants.py": "FACTOR = 2.0\n",
    "shapes_pkg/tests/__init__.py": "",
    "shapes_pkg/tests/test_areas.py": """
        import numpy as np
        from shapes_pkg import circle
        import shapes_pkg.areas

        def test_circle():
            assert np.allclose(circle(1.0), 4 * np.pi)

        def test_module_is_translated():
            assert shapes_pkg.areas.tnp.__name__ == "np2tf.tnp"

        def test_itself_is_not():
            assert np.__name__ == "numpy"
    """,
    "shapes_pkg/conftest.py": "import numpy as np\nimport shapes_pkg\nassert np.__name__ == 'numpy'\n",
    "single_mod.py": """
        import numpy as np

        def total(x):
            x[0] = 10
            return np.sum(x)

        def fail(x):
            y = np.sum(x)
            raise KeyError("here")
    """,
    "broken_mod.py": "import numpy as np\n\ndef f(:\n    pass\n",
    "plain_mod.py": "VALUE = 3\n",
    "stubborn_mod.py": """
        import numpy as np

        def g(xp):
            return xp.pi

        def f():
            return g(np)
    """,
}


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The files on sys.path; what they leave in sys.modules and in the hook is taken away again."""
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        if name.split(".")[0] in ("shapes_pkg", "single_mod", "broken_mod", "plain_mod", "stubborn_mod"):
            del sys.modules[name]
    np2tf.uninstall()
    assert not any(isinstance(finder, TranslatingFinder) for finder in sys.meta_path)


def translated(module: object) -> bool:
    return isinstance(module.__spec__.loader, TranslatingLoader)


def test_by_name(files: Path):
    module = np2tf.import_module("single_mod")
    assert translated(module)
    x = np.arange(3.0)
    assert module.total(x) == 13
    assert x[0] == 10
    assert module.tnp is np2tf.tnp


def test_a_module_whose_assertions_pytest_rewrites(files: Path):
    """Pytest does so for all modules of a package that has a plugin, also in a checkout with metadata."""
    pytest.register_assert_rewrite("single_mod")
    module = np2tf.import_module("single_mod")
    assert translated(module)
    assert module.__spec__.loader.translated


def test_by_path(files: Path):
    for path in (files / "single_mod.py", str(files / "single_mod.py")):
        module = np2tf.import_module("another_name", path)
        assert module.__name__ == "another_name"
        assert module.total(np.arange(3.0)) == 13
        assert "another_name" not in sys.modules


def test_the_classes_of_a_module_are_those_of_its_source(tmp_path: Path):
    """Tests of packages call every class that `inspect` finds in a module (pyunlocbox)."""
    path = tmp_path / "classes.py"
    path.write_text("import numpy as np\n\nclass A:\n    def f(self, x):\n        return np.sin(x) + x[0]\n")
    module = np2tf.import_module("classes", path)
    assert "_np2tf_type" in vars(module)  # the module has boundaries
    assert [name for name, _ in inspect.getmembers(module, inspect.isclass)] == ["A"]


def test_no_such_file_or_module(files: Path):
    with pytest.raises(ImportError, match=r"no Python source file .*nothing\.py"):
        np2tf.import_module("nothing", files / "nothing.py")
    with pytest.raises(ModuleNotFoundError):
        np2tf.import_module("no_such_module_here")


def test_package_with_relative_imports(files: Path):
    package = np2tf.import_module("shapes_pkg")
    assert translated(package.areas)
    assert translated(sys.modules["shapes_pkg.deep.scale"])
    np.testing.assert_allclose(np.asarray(package.circle(np.ones(2))), 4 * np.pi)
    assert package.__version__ == "1"


def test_what_was_imported_before_stays(files: Path):
    original = importlib.import_module("shapes_pkg")
    areas = sys.modules["shapes_pkg.areas"]
    module = np2tf.import_module("shapes_pkg")
    assert module is not original
    assert sys.modules["shapes_pkg"] is original
    assert sys.modules["shapes_pkg.areas"] is areas
    assert not translated(areas)
    assert translated(module.areas)


def test_what_was_imported_before_stays_when_the_import_fails(files: Path):
    module = importlib.import_module("single_mod")
    (files / "single_mod.py").write_text("import numpy as np\nraise RuntimeError('no')\n")
    with pytest.raises(RuntimeError, match="no"):
        np2tf.import_module("single_mod")
    assert sys.modules["single_mod"] is module


def test_files_are_only_read(files: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in files.rglob("*.py")}
    np2tf.import_module("shapes_pkg").circle(1.0)
    np2tf.import_module("single_mod")
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in files.rglob("*.py")} == before
    # Python writes bytecode of the files that have nothing to translate.
    written = {path.name.partition(".")[0] for path in files.rglob("*.pyc")}
    assert written <= {"__init__", "constants"}, (
        "the translation must not become Python's bytecode of the file"
    )


def test_the_bytecode_of_the_original_is_not_used(files: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    importlib.import_module("single_mod")
    assert list(files.rglob("single_mod*.pyc"))
    names = np2tf.import_module("single_mod").total.__code__.co_names
    # The names of the translation or, where TensorFlow is not loaded, of the source's code in its place.
    assert "tnp" in names or "np2tf: np" in names
    assert "np" not in names


def test_install_and_uninstall(files: Path):
    np2tf.install(["shapes_pkg"])
    assert translated(importlib.import_module("shapes_pkg.areas"))
    assert not translated(importlib.import_module("plain_mod"))
    tests = importlib.import_module("shapes_pkg.tests.test_areas")
    assert tests.np is np
    np2tf.uninstall()
    for name in [name for name in sys.modules if name.startswith("shapes_pkg")]:
        del sys.modules[name]
    assert not translated(importlib.import_module("shapes_pkg.areas"))


def test_patterns_and_exclusions(files: Path):
    np2tf.install(["shapes_*", "single_*"], exclude=["shapes_pkg.deep.*"])
    importlib.import_module("shapes_pkg")
    assert translated(sys.modules["shapes_pkg.areas"])
    assert not translated(sys.modules["shapes_pkg.deep.scale"])
    assert translated(importlib.import_module("single_mod"))


def test_similar_names_are_not_meant(files: Path):
    np2tf.install(["single"])
    assert not translated(importlib.import_module("single_mod"))


def test_translating(files: Path):
    with np2tf.translating("single_mod"):
        module = importlib.import_module("single_mod")
    assert translated(module)
    assert not translated(importlib.import_module("shapes_pkg"))


def test_syntax_error(files: Path):
    with pytest.warns(TranslationWarning, match="broken_mod"), pytest.raises(SyntaxError) as caught:
        np2tf.import_module("broken_mod")
    assert caught.value.lineno == 3
    assert str(caught.value.filename).endswith("broken_mod.py")


def test_without_numpy(files: Path):
    assert np2tf.import_module("plain_mod").VALUE == 3


def test_findings_can_be_asked_for(files: Path):
    module = np2tf.import_module("stubborn_mod")
    assert [found.code for found in module.__spec__.loader.diagnostics] == ["NP2TF004"]
    assert module.f() == np.pi


def test_source_is_the_files(files: Path):
    import inspect

    module = np2tf.import_module("single_mod")
    assert module.__file__ == str(files / "single_mod.py")
    assert inspect.getsource(module.total).endswith("return np.sum(x)\n")


def run_pytest(files: Path, *arguments: str) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    environment = {"PYTHONPATH": f"{ROOT}:{files}", "PATH": "/usr/bin:/bin", "TF_CPP_MIN_LOG_LEVEL": "3"}
    return subprocess.run(command, cwd=files, env=environment, capture_output=True, text=True, timeout=120)


def test_pytest_plugin(files: Path):
    """Tests inside the package stay as they are, a conftest that imports the package early does no harm."""
    done = run_pytest(files, "-p", "np2tf.imports.pytest_plugin", "--np2tf", "shapes_pkg", "shapes_pkg/tests")
    assert "3 passed" in done.stdout, done.stdout + done.stderr
    assert "shapes_pkg translated" in done.stdout
    assert "jitted calls:" in done.stdout


def test_pytest_plugin_asked_for_nothing(files: Path):
    done = run_pytest(files, "-p", "np2tf.imports.pytest_plugin", "shapes_pkg/tests")
    assert "1 failed, 2 passed" in done.stdout, done.stdout + done.stderr
    assert "translated" not in done.stdout.splitlines()[-1]


def test_inspect_lists_the_functions_of_the_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Jitted functions are listed, and no function of np2tf's is."""
    source = """import numpy as np

def plain(x):
    return np.sum(x)

def loop(x):
    total = 0.0
    for k in range(len(x)):
        total += np.sin(x[k]) * x[k]
    return total

class Box:
    def area(self, x):
        total = 0.0
        for value in x:
            total += np.sqrt(value)
        return total
"""
    (tmp_path / "listed.py").write_text(source)
    monkeypatch.syspath_prepend(str(tmp_path))
    module = np2tf.import_module("listed")
    assert type(module.loop) is not types.FunctionType
    assert [name for name, _ in inspect.getmembers(module, inspect.isfunction)] == ["loop", "plain"]
    assert [name for name, _ in inspect.getmembers(module, inspect.isclass)] == ["Box"]
    assert [name for name, _ in inspect.getmembers(module.Box, inspect.isfunction)] == ["area"]
