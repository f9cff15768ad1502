"""What comments, docstrings and pages name exists: exceptions, attributes, parameters, modules and files."""

from __future__ import annotations

import ast
import builtins
import importlib.util
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path

import click.exceptions
import numpy as np
import numpy.exceptions
import pytest

import np2tf

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "np2tf"
SOURCES = {path: ast.parse(path.read_text(encoding="utf-8")) for path in sorted(PACKAGE.rglob("*.py"))}
MODULES = {
    ".".join(["np2tf", *path.relative_to(PACKAGE).with_suffix("").parts]).removesuffix(".__init__"): path
    for path in SOURCES
}
#: The faces whose names are other libraries', made when they are read.
BY_NAME = ("np2tf.tnp", "np2tf.scipy")
#: Texts that look like paths of np2tf, and are files, hosts and branches.
NO_NAMES = frozenset({"toml", "yml", "git", "xml", "sarif", "main", "command", "per", "json"})
#: The modules whose exceptions a docstring may name besides np2tf's.
LIBRARIES = (builtins, np.linalg, numpy.exceptions, click.exceptions)
PAGES = [ROOT / "README.md", ROOT / "benchmarks" / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
TEXTS = [
    *SOURCES,
    *PAGES,
    *(path for folder in ("benchmarks", "tools") for path in sorted((ROOT / folder).rglob("*.py"))),
    *sorted((ROOT / "rules").rglob("*.toml")),
]
#: Files that a command writes, and examples.
WRITTEN = frozenset({"np2tf/staging/xla/placement_gpu.toml", "pkg/a.py", "np2tf.toml", "tests.py"})
_TOPS = "np2tf|rules|tests|docs|fixtures|benchmarks|tools"


def lines_of(found: Iterable[tuple[int, str]], place: str) -> list[str]:
    """What has been found, for the message of a failure."""
    return [f"{place}:{line}: {what}" for line, what in found]


def documented(tree: ast.Module) -> Iterator[tuple[ast.AST, str]]:
    """The modules, classes and functions of a tree, with their docstrings."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            docstring = ast.get_docstring(node)
            if docstring:
                yield node, docstring


def section(docstring: str, title: str) -> str:
    """The lines of one section of a docstring, such as `Raises`."""
    found = re.search(rf"^{title}:\n((?:    .*\n?|\n)*)", docstring, re.MULTILINE)
    return found[1] if found else ""


def names_of_section(docstring: str, title: str) -> list[str]:
    """The names that a section explains; one explanation may be of several names."""
    groups = re.findall(
        r"^    ([A-Za-z_][\w.]*(?:, [A-Za-z_][\w.]*)*):", section(docstring, title), re.MULTILINE
    )
    return [name for group in groups for name in group.split(", ")]


# -- exceptions ----------------------------------------------------------------------------------------------


@cache
def own_exceptions() -> frozenset[str]:
    """The names of np2tf's classes of exceptions."""
    bases = {
        node.name: {name.rpartition(".")[2] for name in map(ast.unparse, node.bases)}
        for tree in SOURCES.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    }
    found: set[str] = set()
    while True:
        more = {
            name
            for name, parents in bases.items()
            if name not in found and any(parent in found or is_known_exception(parent) for parent in parents)
        }
        if not more:
            return frozenset(found)
        found |= more


@cache
def exceptions_of_tensorflow() -> frozenset[str]:
    """The names in tf.errors, read from its source: importing TensorFlow takes longer than this file."""
    found = importlib.util.find_spec("tensorflow")
    if found is None or not found.origin:
        return frozenset()
    text = (Path(found.origin).parent / "python" / "framework" / "errors_impl.py").read_text(encoding="utf-8")
    return frozenset(re.findall(r"^class (\w+Error)\(", text, re.MULTILINE))


def is_known_exception(name: str) -> bool:
    """Whether Python or a library has an exception of this name."""
    values = [getattr(library, name, None) for library in LIBRARIES]
    return name in exceptions_of_tensorflow() or any(
        isinstance(value, type) and issubclass(value, BaseException) for value in values
    )


def missing_exceptions(tree: ast.Module) -> list[tuple[int, str]]:
    """The names under `Raises` that no exception has."""
    return [
        (getattr(node, "lineno", 1), f"Raises {name}")
        for node, docstring in documented(tree)
        for name in names_of_section(docstring, "Raises")
        if (last := name.rpartition(".")[2]) not in own_exceptions() and not is_known_exception(last)
    ]


# -- attributes ----------------------------------------------------------------------------------------------


@cache
def classes() -> dict[str, list[ast.ClassDef]]:
    """np2tf's classes by name."""
    found: dict[str, list[ast.ClassDef]] = {}
    for tree in SOURCES.values():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, []).append(node)
    return found


def identifiers(node: ast.AST) -> set[str]:
    """The names in a piece of code: also strings that are names, as in `__slots__`."""
    names = set()
    for part in ast.walk(node):
        if isinstance(part, ast.Name):
            names.add(part.id)
        elif isinstance(part, ast.Attribute):
            names.add(part.attr)
        elif isinstance(part, (ast.FunctionDef, ast.ClassDef)):
            names.add(part.name)
        elif isinstance(part, ast.Constant) and isinstance(part.value, str):
            names |= set(part.value.split()) if part.value.replace(" ", "").isidentifier() else set()
    return names


def missing_attributes(tree: ast.Module) -> list[tuple[int, str]]:
    """The names under `Attributes` that occur neither in the class nor in a class that it derives from."""
    found = []
    for node, docstring in documented(tree):
        if isinstance(node, ast.ClassDef):
            known, ancestors = identifiers(node), [node]
            for ancestor in ancestors:
                for base in map(ast.unparse, ancestor.bases):
                    for parent in classes().get(base.rpartition(".")[2], ()):
                        if parent not in ancestors:
                            ancestors.append(parent)
                            known |= identifiers(parent)
            names = names_of_section(docstring, "Attributes")
            found += [
                (node.lineno, f"Attributes {name} of {node.name}") for name in names if name not in known
            ]
    return found


# -- parameters ----------------------------------------------------------------------------------------------


def parameters(node: ast.AST) -> set[str]:
    """The parameters of a function, or of a class: its constructor's, or its fields."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return {part.arg for part in ast.walk(node.args) if isinstance(part, ast.arg)}
    found = set()
    for part in getattr(node, "body", ()):
        if isinstance(part, ast.FunctionDef) and part.name in ("__init__", "__new__", "__call__"):
            found |= parameters(part)
        elif isinstance(part, ast.AnnAssign):
            found.add(ast.unparse(part.target))
    return found


def missing_parameters(tree: ast.Module) -> list[tuple[int, str]]:
    """The names under `Args` that are no parameters: of a function, or of a class's constructor or fields."""
    found = []
    for node, docstring in documented(tree):
        known = parameters(node)
        if isinstance(node, ast.ClassDef):
            for base in map(ast.unparse, node.bases):
                for parent in classes().get(base.rpartition(".")[2], ()):
                    known |= parameters(parent)
        names = names_of_section(docstring, "Args")
        line, name = getattr(node, "lineno", 1), getattr(node, "name", "the module")
        found += [(line, f"Args {arg} of {name}") for arg in names if arg not in known]
    return found


# -- dotted paths --------------------------------------------------------------------------------------------


@cache
def names_in(module: str) -> frozenset[str]:
    """The names of a module: those that it defines or imports, and the attributes of its classes."""
    tree = SOURCES[MODULES[module]]
    names = identifiers(tree)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
    return frozenset(names)


def resolves(path: str) -> bool:
    """Whether a dotted path that begins with np2tf leads to a module, or to a name in it."""
    parts = path.split(".")
    known = max(k for k in range(1, len(parts) + 1) if ".".join(parts[:k]) in MODULES)
    module, rest = ".".join(parts[:known]), parts[known:]
    if not rest or module.startswith(BY_NAME):
        return True
    if module == "np2tf":
        return rest[0] in NO_NAMES or rest[0] in dir(np2tf) or hasattr(np2tf, rest[0])
    return set(rest) <= names_in(module)


def missing_paths(text: str) -> list[tuple[int, str]]:
    """The dotted paths of a text that lead nowhere."""
    found = re.finditer(r"(?<![\w./@-])np2tf(?:\.[A-Za-z_]\w*)+", text)
    return [(text.count("\n", 0, match.start()) + 1, match[0]) for match in found if not resolves(match[0])]


# -- files ---------------------------------------------------------------------------------------------------


def files_made(page: str) -> set[str]:
    """The files that a page makes, and files of other repositories in its tables."""
    return {
        *re.findall(r'^```\w* title="([^"]+)"', page, re.MULTILINE),
        *re.findall(r"^\| ([\w/]+\.py) \|", page, re.M),
    }


def is_placeholder(path: str) -> bool:
    """Whether a path has a word in capitals, which stands for a name of the reader's choice."""
    return bool(re.search("[A-Z]{4,}", path.removesuffix("README.md"))) or path in WRITTEN


def missing_files(text: str) -> list[tuple[int, str]]:
    """The files and folders of the repository that a text names and that do not exist."""
    made = files_made(text)
    found = re.finditer(rf"(?<![\w/.*<-])(?:{_TOPS})/[\w./-]*(?:/|\.(?:py|toml|md|yml))(?![\w*<{{])", text)
    return [
        (text.count("\n", 0, match.start()) + 1, match[0])
        for match in found
        if match[0] not in made and not is_placeholder(match[0]) and not (ROOT / match[0]).exists()
    ]


@cache
def file_names() -> frozenset[str]:
    """The names of all files of the repository, without their folders."""
    folders = [ROOT / top for top in (*_TOPS.split("|"), "examples")]
    return frozenset(path.name for folder in folders for path in folder.rglob("*.*"))


def exists(path: str) -> bool:
    """Whether a path is below the repository or np2tf/; a name without a folder may be anywhere."""
    if "/" not in path and path in file_names():
        return True
    return any((folder / path).exists() for folder in (ROOT, PACKAGE))


def missing_short_paths(page: str) -> list[tuple[int, str]]:
    """The paths in code spans of a page that are below neither the repository nor np2tf/."""
    without = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
    prose, made = without.sub(lambda block: "\n" * block[0].count("\n"), page), files_made(page)
    return [
        (prose.count("\n", 0, match.start()) + 1, match[1])
        for match in re.finditer(r"`((?:[\w.-]+/)*\w+\.(?:py|toml))`", prose)
        if match[1] not in made and not is_placeholder(match[1])
        if not exists(match[1])
    ]


# -- cached properties ---------------------------------------------------------------------------------------


def emptied_names(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The names that code takes out of an object's dict, as `vars(x).pop("name")` does."""
    loops = {
        node.target.id: [part.value for part in ast.walk(node.iter) if isinstance(part, ast.Constant)]
        for node in ast.walk(tree)
        if isinstance(node, ast.For) and isinstance(node.target, ast.Name)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "pop":
            key, owner = node.args[0] if node.args else None, node.func.value
        elif isinstance(node, ast.Delete) and isinstance(node.targets[0], ast.Subscript):
            key, owner = node.targets[0].slice, node.targets[0].value
        else:
            continue
        if not re.fullmatch(r"vars\(.+\)|.+\.__dict__", ast.unparse(owner)):
            continue
        if isinstance(key, ast.Constant):
            yield node.lineno, str(key.value)
        elif isinstance(key, ast.Name):
            yield from ((node.lineno, str(name)) for name in loops.get(key.id, ()))


def missing_properties(tree: ast.Module) -> list[tuple[int, str]]:
    """The names of emptied cached properties that no property of the module has."""
    cached = {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        and any("cached_property" in ast.unparse(decorator) for decorator in node.decorator_list)
    }
    return [(line, f"no cached property {name}") for line, name in emptied_names(tree) if name not in cached]


# -- tests ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "check", [missing_exceptions, missing_attributes, missing_parameters, missing_properties]
)
def test_sources(check: Callable[[ast.Module], list[tuple[int, str]]]) -> None:
    """Docstrings name exceptions and attributes that exist, and only cached properties are emptied."""
    found = [
        line
        for path, tree in SOURCES.items()
        for line in lines_of(check(tree), path.relative_to(ROOT).as_posix())
    ]
    assert found == []


@pytest.mark.parametrize("check", [missing_paths, missing_files])
def test_texts(check: Callable[[str], list[tuple[int, str]]]) -> None:
    """Dotted paths lead to modules and names, and paths to files, in sources, rules, tools and pages."""
    found = [
        line
        for path in TEXTS
        for line in lines_of(check(path.read_text(encoding="utf-8")), path.relative_to(ROOT).as_posix())
    ]
    assert found == []


def test_short_paths() -> None:
    """Short paths are those of files below np2tf/, or of files that the page makes."""
    found = [
        line
        for page in (*PAGES, *SOURCES)
        for line in lines_of(missing_short_paths(page.read_text(encoding="utf-8")), page.name)
    ]
    assert found == []


WRONG = '''
class Loop:
    """A loop.

    Attributes:
        body, missing: one of them is there.
    """

    def __init__(self):
        self.body = 1

    def f(self):
        """Return a number.

        Args:
            self, where: one of them is a parameter.

        Raises:
            TypeError: if it is none.
            GoneError, Loop: neither of them is an exception.
        """
        vars(self).pop("length", None)
        for name in ("width", "depth"):
            self.__dict__.pop(name, None)

    @functools.cached_property
    def width(self):
        return 1
'''


def test_the_tests_see_what_they_should() -> None:
    """Each check finds what is wrong, and nothing else."""
    tree = ast.parse(WRONG)
    assert [what for _, what in missing_exceptions(tree)] == ["Raises GoneError", "Raises Loop"]
    assert [what for _, what in missing_attributes(tree)] == ["Attributes missing of Loop"]
    assert [what for _, what in missing_parameters(tree)] == ["Args where of f"]
    gone = ["no cached property length", "no cached property depth"]
    assert [what for _, what in missing_properties(tree)] == gone
    text = "`np2tf.core.rules.chapters`, `np2tf.core.rules.nothing`, `np2tf.runtime.xla`, "
    text += "`np2tf.jit`, np2tf.toml,\n"
    text += "`np2tf.staging.host.jit.JittedFunction.tier`, `np2tf.tnp.linalg.norm`, np2tf.jitted"
    assert missing_paths(text) == [
        (1, "np2tf.core.rules.nothing"),
        (1, "np2tf.runtime.xla"),
        (2, "np2tf.jitted"),
    ]
    text = "`np2tf/core/rules.py`, `np2tf/runtime/`, `tests/helpers/`, docs/nothing.md, "
    text += "`benchmarks/kernels/NAME.py`"
    assert [what for _, what in missing_files(text)] == ["np2tf/runtime/", "docs/nothing.md"]
    page = "`core/rules.py`, `rules.py`, `runtime/jit.py`, `gone.py`, `a/b.py`\n"
    page += '```python title="a/b.py"\n`x/y.py`\n```\n'
    assert missing_short_paths(page) == [(1, "runtime/jit.py"), (1, "gone.py")]
    assert {"StagingError", "UntranslatableError"} <= own_exceptions()
    assert len(SOURCES) > 300
    assert len(TEXTS) > 400
