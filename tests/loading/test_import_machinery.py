"""importlib, pickle, doctest, coverage and other tools work with a translated module."""

from __future__ import annotations

import doctest
import importlib
import inspect
import os
import pickle
import runpy
import subprocess
import sys
import textwrap
import typing
import zipfile
from pathlib import Path

import numpy as np
import pytest

import np2tf
from np2tf.loading.import_hook import TESTS, TranslatingFinder, TranslatingLoader
from tests.helpers import import_programs

ROOT = Path(__file__).resolve().parents[2]
OURS = ("solid", "spacious", "takes_np", "zipped")


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The package on sys.path; what it leaves in sys.modules and in the hook is taken away again."""
    for name, text in import_programs.PACKAGE.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in [name for name in sys.modules if name.split(".")[0] in OURS]:
        del sys.modules[name]
    np2tf.uninstall()
    assert not any(isinstance(finder, TranslatingFinder) for finder in sys.meta_path)


@pytest.fixture
def solid(files: Path):
    np2tf.install(["solid"])
    return importlib.import_module("solid")


def translated(module: object) -> bool:
    loader = module.__spec__.loader
    return isinstance(loader, TranslatingLoader) and loader.translated is True


def test_attributes_of_modules(files: Path, solid):
    shapes = solid.shapes
    assert translated(shapes)
    assert shapes.__file__ == str(files / "solid" / "shapes.py")
    assert shapes.__spec__.origin == shapes.__file__
    assert shapes.__spec__.name == shapes.__name__ == "solid.shapes"
    assert shapes.__spec__.parent == shapes.__package__ == "solid"
    assert shapes.__spec__.has_location
    assert shapes.__spec__.submodule_search_locations is None
    assert solid.__path__ == solid.__spec__.submodule_search_locations == [str(files / "solid")]
    assert shapes.__loader__ is shapes.__spec__.loader
    assert shapes.__loader__.get_source("solid.shapes") == (files / "solid" / "shapes.py").read_text()
    assert not shapes.__loader__.is_package("solid.shapes")
    assert solid.__loader__.is_package("solid")
    assert solid.__doc__ == "A package."
    assert importlib.util.find_spec("solid.shapes") is shapes.__spec__


def test_sources(files: Path, solid):
    text = (files / "solid" / "shapes.py").read_text()
    assert inspect.getsource(solid.shapes) == text
    assert inspect.getsource(solid.area) in text
    assert inspect.getsource(solid.Ball) in text
    assert inspect.getsource(solid.Ball.volume) in text
    assert inspect.signature(solid.area).parameters.keys() == {"x"}
    assert inspect.getmodule(solid.shapes.diagonal) is solid.shapes
    assert solid.area.__module__ == "solid.shapes"


def test_pickling(solid):
    ball = pickle.loads(pickle.dumps(solid.Ball(2.0)))
    assert type(ball) is solid.Ball
    assert ball.radius == 2.0
    for function in (solid.area, solid.shapes.diagonal, solid.Ball):
        assert pickle.loads(pickle.dumps(function)) is function


def test_names_and_annotations(solid):
    """`np` is still a name of the module, and what it stands for is what the module uses."""
    assert solid.shapes.np is np2tf.tnp
    assert solid.shapes.root is np2tf.tnp.sqrt
    assert solid.shapes.pi == np.pi
    hints = typing.get_type_hints(solid.shapes.diagonal)
    assert hints["x"] is np2tf.tnp.ndarray
    assert "npt" not in vars(solid.shapes)
    assert "Partner" not in vars(solid.shapes)


@pytest.mark.parametrize("include", ["solid", "takes_np", "both"])
def test_names_of_numpy_from_a_translated_module(files: Path, include: str):
    np2tf.install(["solid", "takes_np"] if include == "both" else [include])
    module = importlib.import_module("takes_np")
    assert float(module.f([1.0, 4.0])) == pytest.approx(3 + np.pi)


def test_circular_imports(solid):
    cycle = importlib.import_module("solid.deep.cycle")
    assert translated(cycle)
    assert translated(sys.modules["solid.deep.partner"])
    assert cycle.both() == 4.0


def test_namespace_packages(files: Path):
    second = files / "elsewhere" / "spacious" / "other"
    second.mkdir(parents=True)
    (second / "more.py").write_text("import numpy as np\n\ndef g(x):\n    return np.max(x)\n")
    sys.path.append(str(files / "elsewhere"))
    try:
        np2tf.install(["spacious"])
        first = importlib.import_module("spacious.inner.mod")
        other_module = importlib.import_module("spacious.other.more")
        assert len(list(sys.modules["spacious"].__path__)) == 2
    finally:
        sys.path.remove(str(files / "elsewhere"))
    assert translated(first)
    assert translated(other_module)
    assert sys.modules["spacious"].__file__ is None


def test_reload(files: Path, solid):
    late = importlib.import_module("solid.late")
    old = late.f
    path = files / "solid" / "late.py"
    path.write_text("import numpy as np\n\n\ndef f(x):\n    return np.sum(x) + 1000\n")
    assert importlib.reload(late) is late
    assert late.f is not old
    assert late.f(np.ones(2)) == 1002
    assert translated(late)
    np2tf.uninstall()
    importlib.reload(late)
    assert type(late.__spec__.loader) is importlib.machinery.SourceFileLoader
    assert late.np is np


def test_reload_of_an_imported_module(files: Path):
    module = np2tf.import_module("solid.late")
    assert translated(importlib.reload(module))


def test_modules_that_are_imported_later_are_translated_too(files: Path):
    np2tf.import_module("solid")
    assert translated(importlib.import_module("solid.late"))


def test_the_parent_of_a_module_imported_before_keeps_it(files: Path):
    late = importlib.import_module("solid.late")
    other_module = np2tf.import_module("solid.late")
    assert other_module is not late
    assert sys.modules["solid"].late is late
    assert sys.modules["solid.late"] is late
    assert not any(isinstance(finder, TranslatingFinder) for finder in sys.meta_path)


def test_package_by_path(files: Path):
    sys.path.remove(str(files))
    for module in (np2tf.import_module(files / "solid"), np2tf.import_module(str(files / "solid"))):
        assert module.__name__ == "solid"
        assert translated(module.shapes)
    assert str(files) not in sys.path
    alone = np2tf.import_module(files / "solid" / "late.py")
    assert (alone.__name__, alone.f(np.ones(3))) == ("late", 3.0)


def test_doctests(solid):
    finder = doctest.DocTestFinder()
    names = {test.name for test in finder.find(solid.shapes) if test.examples}
    assert names == {"solid.shapes.Ball", "solid.shapes.area"}
    lines = {test.name: test.lineno for test in finder.find(solid.shapes)}
    source = inspect.getsource(solid.shapes).splitlines()
    assert "A ball" in source[lines["solid.shapes.Ball"]]
    # Most versions of doctest look for lines of plain functions alone, and not of jitted functions.
    place = lines["solid.shapes.area"]
    assert place is None or "The area" in source[place]
    done = doctest.testmod(solid.shapes)
    assert done.attempted == 4
    assert done.failed == 0


def test_running_as_a_program(files: Path, capsys: pytest.CaptureFixture, monkeypatch: pytest.MonkeyPatch):
    np2tf.install(["solid"])
    monkeypatch.setattr(sys, "argv", ["solid", "one"])
    names = runpy.run_module("solid", run_name="__main__", alter_sys=False)
    assert capsys.readouterr().out == "main ['one'] numpy 3.0\n"
    assert names["np"] is np2tf.tnp


def test_zip_files_are_left_alone(files: Path):
    with zipfile.ZipFile(files / "zipped.zip", "w") as archive:
        archive.writestr("zipped.py", "import numpy as np\n\ndef f(x):\n    return np.sum(x)\n")
    sys.path.insert(0, str(files / "zipped.zip"))
    try:
        np2tf.install(["zipped"])
        module = importlib.import_module("zipped")
    finally:
        sys.path.remove(str(files / "zipped.zip"))
    assert type(module.__spec__.loader).__name__ == "zipimporter"
    assert module.np is np


def test_bytecode_without_source_is_left_alone(files: Path):
    import py_compile

    path = files / "solid" / "late.py"
    py_compile.compile(str(path), cfile=str(files / "solid" / "late.pyc"))
    path.unlink()
    np2tf.install(["solid"])
    module = importlib.import_module("solid.late")
    assert type(module.__spec__.loader) is importlib.machinery.SourcelessFileLoader
    assert module.f(np.ones(2)) == 2


def test_other_finders_are_asked(files: Path):
    """Editable installs find their modules by finders of their own."""

    class Editable:
        @classmethod
        def find_spec(cls, fullname, path=None, target=None):
            if fullname == "solid_elsewhere":
                return importlib.util.spec_from_file_location(fullname, files / "solid" / "late.py")
            return None

    sys.meta_path.append(Editable)
    try:
        np2tf.install(["solid_elsewhere"])
        assert translated(importlib.import_module("solid_elsewhere"))
    finally:
        sys.meta_path.remove(Editable)
        sys.modules.pop("solid_elsewhere", None)


def test_everything_but_what_we_stand_on(files: Path):
    finder = np2tf.install(["*"])
    assert finder.matches("solid.shapes")
    for name in ("numpy", "numpy.linalg", "tensorflow", "np2tf.tnp", "json", "libcst", "solid.tests.x"):
        assert not finder.matches(name)


def test_test_modules_are_meant_only_in_full():
    finder = TranslatingFinder(["pkg", "pkg.test_bench", "other.*"], exclude=["pkg.sub"])
    names = ("pkg", "pkg.a", "pkg.test_bench", "other.a.b")
    assert [finder.matches(name) for name in names] == [True] * 4
    names = ("pkg.test_other", "pkg.tests.a", "pkg.sub", "other", "pkgs", "other.conftest")
    assert [finder.matches(name) for name in names] == [False] * 6
    assert all("test" in pattern for pattern in TESTS)  # which is looked for first


def test_one_name_is_a_list_of_one():
    assert TranslatingFinder("pkg", "pkg.a").matches("pkg.b")
    assert not TranslatingFinder("pkg", "pkg.a").matches("pkg.a")


COVERAGE = """
import sys, coverage
sys.path.insert(0, {files!r})
measured = coverage.Coverage(data_file=None, include=[{files!r} + "/*"])
measured.start()
import np2tf
import numpy as np
with np2tf.translating("solid"):
    import solid.shapes
solid.shapes.area([1.0, 2.0])
measured.stop()
path, statements, excluded, missing, _ = measured.analysis2(solid.shapes)
print(path)
print(statements)
print(missing)
"""


def test_coverage(files: Path):
    """The lines that coverage reports are the user's: what has run is not missing, and the rest is."""
    pytest.importorskip("coverage")
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3"}
    command = [sys.executable, "-c", COVERAGE.format(files=str(files))]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)
    assert done.returncode == 0, done.stderr
    path, statements, missing = done.stdout.splitlines()
    source = (files / "solid" / "shapes.py").read_text().splitlines()
    assert path == str(files / "solid" / "shapes.py")
    assert len(eval(statements)) > 15
    missed = [source[line - 1].strip() for line in eval(missing)]
    assert "return root(np.sum(np.asarray(x) ** 2))" in missed
    assert "return 4 / 3 * pi * self.radius ** 3" in missed
    for run in ("out = np.zeros(x.shape)", "out[...] = pi * x * x", "return out", "def area(x):"):
        assert run not in missed
