"""Whatever goes wrong in translated code, it is the user's file, line and text that are shown."""

from __future__ import annotations

import ast
import inspect
import linecache
import sys
import traceback
import warnings
from pathlib import Path

import numpy as np
import pytest

import np2tf
from np2tf.loading.code.translation import translation_of
from np2tf.translator.sources.options import Options
from tests.helpers import import_programs

NAMES = [
    line.removeprefix("def ").partition("(")[0]
    for line in import_programs.FAILING.splitlines()
    if line.startswith("def ")
]
MODES = {
    "host": {},
    "compiled": {"tier": "compile"},
    "tensors": {"eager": "tensorflow", "jit": "off"},
    "unjitted": {"jit": "off"},
}


@pytest.fixture(scope="module")
def failing(tmp_path_factory: pytest.TempPathFactory):
    path = tmp_path_factory.mktemp("lines") / "failing.py"
    path.write_text(import_programs.FAILING, encoding="utf-8")
    sys.path.insert(0, str(path.parent))
    module = np2tf.import_module("failing")
    assert module.__spec__.loader.translated
    yield module
    sys.path.remove(str(path.parent))
    del sys.modules["failing"]
    np2tf.uninstall()


def wanted(name: str) -> set[int]:
    """The lines of the statement that is marked in a function (or in what it calls)."""
    lines = import_programs.FAILING.splitlines()
    begin = "class Model" if name == "in_property" else f"def {name}("
    start = next(k for k, line in enumerate(lines) if line.startswith(begin))
    marked = next(k for k in range(start, len(lines)) if lines[k].endswith("# here")) + 1
    tree = ast.parse(import_programs.FAILING)
    simple = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt)
        and not hasattr(node, "body")
        and node.lineno <= marked <= node.end_lineno
    ]
    return set(range(simple[0].lineno, simple[0].end_lineno + 1)) if simple else {marked}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", NAMES)
def test_errors_show_the_users_line(failing, name: str, mode: str):
    with np2tf.config.using(**MODES[mode]), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            getattr(failing, name)(np.array([1.0, 2.0, 3.0, 4.0]))
        except (IndexError, ValueError, AssertionError, np.linalg.LinAlgError) as error:
            frames = traceback.extract_tb(error.__traceback__)
            text = "".join(traceback.format_exception(error))
        else:
            pytest.fail("nothing was raised")
    own_frames = [frame for frame in frames if frame.filename == failing.__file__]
    assert own_frames, text
    source = import_programs.FAILING.splitlines()
    assert wanted(name) & {frame.lineno for frame in own_frames}, [
        (frame.lineno, frame.line) for frame in own_frames
    ]
    assert all(frame.line == source[frame.lineno - 1].strip() for frame in own_frames)
    assert "tnp.at" not in "".join(frame.line or "" for frame in own_frames)


def test_the_last_of_the_users_lines_is_the_one(failing):
    """On the host the innermost frame of the file is exactly the failing statement."""
    for name in NAMES:
        with np2tf.config.using(jit="off"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                getattr(failing, name)(np.array([1.0, 2.0, 3.0, 4.0]))
            except Exception as error:
                own_frames = [
                    f for f in traceback.extract_tb(error.__traceback__) if f.filename == failing.__file__
                ]
        assert own_frames[-1].lineno in wanted(name), name


@pytest.mark.skipif(sys.version_info < (3, 11), reason="columns came with Python 3.11")
def test_carets_stand_under_the_users_expression(failing):
    with np2tf.config.using(jit="off"):
        try:
            failing.behind_unicode(np.array([1.0, 2.0]))
        except IndexError as error:
            frame = next(
                f for f in traceback.extract_tb(error.__traceback__) if f.filename == failing.__file__
            )
    assert frame.line is not None
    whole = import_programs.FAILING.splitlines()[frame.lineno - 1].encode()
    shown = whole[frame.colno : frame.end_colno].decode()
    assert shown == 'x[np.argmax(x) + 1 + 0 * len("漢字")]'


def test_sources_are_the_users(failing):
    assert inspect.getsource(failing.raises).startswith("def raises(x):")
    assert inspect.getsource(failing.Model).startswith("class Model:")
    assert inspect.getsource(failing.Model.last.fget).lstrip().startswith("@property")
    assert inspect.getsourcefile(failing.raises) == failing.__file__
    assert linecache.getline(failing.__file__, 1) == "import numpy as np\n"


UNSTAGED = """\
import numpy as np


def f(x):
    y = np.sum(x) + np.sum(np.abs(x))
    y = y + np.block([x, x])
    return y * 2
"""
WARNS = """\
import warnings
import numpy as np


def f(x):
    x[0] = np.sum(x)
    warnings.warn("mine")
    return x
"""


def test_unjitted_warnings_name_the_users_line(tmp_path: Path):
    path = tmp_path / "unstaged.py"
    path.write_text(UNSTAGED)
    module = np2tf.import_module("unstaged", path)
    with np2tf.config.using(tier="compile"), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        module.f(np.ones(2))
    messages = [str(warning.message) for warning in caught if "runs unjitted" in str(warning.message)]
    for message in messages:
        assert f"{path}:6:" in message
    with np2tf.config.using(tier="compile", jit="strict"):
        try:
            module.f(np.ones(2))
        except np2tf.StagingError as error:
            frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == str(path)]
            assert messages
            assert {frame.lineno for frame in frames} <= {6}
        else:
            assert not messages


def test_warnings_of_the_module_itself(tmp_path: Path):
    path = tmp_path / "warns.py"
    path.write_text(WARNS)
    module = np2tf.import_module("warns", path)
    with pytest.warns(UserWarning, match="mine") as caught:
        module.f(np.ones(2))
    own_warning = next(warning for warning in caught if str(warning.message) == "mine")
    assert (own_warning.filename, own_warning.lineno) == (str(path), 7)


GOLDEN = sorted((Path(__file__).resolve().parents[2] / "fixtures").glob("*/*.np.py"))


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: f"{path.parent.name}/{path.name[:-6]}")
def test_lines_of_every_fixture_exist_and_stay_in_their_function(path: Path):
    """Code of a function carries lines of that function in the source, and of nothing else."""
    made = translation_of(path.read_bytes(), str(path), Options())
    if made.code is None:
        return
    original = compile(path.read_bytes(), str(path), "exec", dont_inherit=True)
    functions = {code.co_name: places_of(code) for code in original.co_consts if inspect.iscode(code)}
    for code in made.code.co_consts:
        if inspect.iscode(code) and code.co_name in functions:
            assert lines_of(code) <= set(functions[code.co_name])


def places_of(code) -> range:
    """Return the lines of a function from its `def`, which has no code on Python 3.10."""
    return range(code.co_firstlineno, max(lines_of(code)) + 1)


def lines_of(code) -> set[int]:
    """Return the lines of a code object and of the code objects in it."""
    lines = {line for _, _, line in code.co_lines() if line}
    return lines.union(*(lines_of(constant) for constant in code.co_consts if inspect.iscode(constant)))
