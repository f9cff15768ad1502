"""Which names are NumPy's between files: imported from another file, or kept for other files."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from functools import cache
from pathlib import Path
from typing import NamedTuple

from np2tf.translator.sources.python_trees import DEFINITIONS, imports_in, own_statements, python_tree

# -- import lines --------------------------------------------------------------------------------------------
# The import statements of a file, found by searching its bytes: no file is parsed.
#
# Text in strings that looks like an import counts as an import, which does no harm to the callers.


class FromImport(NamedTuple):
    """A statement `from module import name as alias, …`.

    Attributes:
        module: the module as the statement spells it, with its leading dots.
        names: the names, each with the name that it gets in the file; `*` for a star import.
    """

    module: str
    names: list[tuple[str, str]]


#: The start of a line, up to a statement that may stand behind `try:` or `;`.
_START = rb"^[ \t]*(?:\w[^\n#'\"]*[:;][ \t]*)?"
#: The rest of a statement, which may go on in the next line.
_CLAUSE = rb"(?:[^\n\\#;]|\\\r?\n)*"
_FROM = re.compile(
    _START + rb"from[ \t]+(\.*[\w.]*)[ \t]+import[ \t]*(\([^)]*\)|" + _CLAUSE + rb")", re.MULTILINE
)
_COMMENT = re.compile(rb"#[^\n]*")
_IMPORT = re.compile(_START + rb"import[ \t]+(" + _CLAUSE + rb")", re.MULTILINE)
_NAME = re.compile(rb"(?<![\w.])\w+")


def in_lines(pattern: re.Pattern[bytes], word: bytes, data: bytes) -> Iterator[re.Match[bytes]]:
    """Yield the matches of a pattern of lines that hold a word: as `finditer` does, but searching for the
    word first takes a tenth of the time.
    """
    end, at = 0, data.find(word)
    while at >= 0:
        begin = data.rfind(b"\n", 0, at) + 1
        match = pattern.match(data, begin) if begin >= end else None
        if match is not None:
            yield match
            end = match.end()
        at = data.find(word, max(at + 1, end))


def from_imports(data: bytes) -> Iterator[FromImport]:
    """Yield the `from … import` statements of a file with these bytes."""
    for match in in_lines(_FROM, b"from", data):
        clause = _COMMENT.sub(b"", match[2]).strip(b"() \t\r\n").replace(b"\\", b" ")
        items = [item.split() for item in clause.decode("utf-8", "replace").split(",")]
        names = [(words[0], words[-1]) for words in items if words]
        yield FromImport(match[1].decode("utf-8", "replace"), names)


def names_of_numpy(data: bytes) -> set[str]:
    """Return the names in a file's imports of NumPy, and those that they bind; `*` for a star import."""
    if b"numpy" not in data:
        return set()
    clauses = [match[1] for match in in_lines(_IMPORT, b"import", data) if b"numpy" in match[1]]
    names = {name.decode("utf-8", "replace") for clause in clauses for name in _NAME.findall(clause)}
    for statement in from_imports(data):
        if statement.module.split(".")[0] == "numpy":
            names.update(name for names in statement.names for name in names)
    return names - {"as"}


# -- reexports -----------------------------------------------------------------------------------------------
# NumPy's names that a file imports from other files of its program: `from .compat import np`.
#
# Only files are read; nothing is executed. A name counts if every binding of it at the top of its file is
# an import of the same object of NumPy, or None where NumPy cannot be imported. Files that bind names in
# ways that their text does not show, such as `globals()`, have no such names.


class Reexport(NamedTuple):
    """A name of NumPy that a file imports from another file.

    Attributes:
        module: the module as the import spells it, with its leading dots.
        qualified_name: the object's name in NumPy, such as `numpy` or `numpy.linalg.norm`.
        or_none: whether the name is None where NumPy cannot be imported.
        by_star: whether `from module import *` imports it.
    """

    module: str
    name: str
    qualified_name: str
    or_none: bool = False
    by_star: bool = False


class _NumpyName(NamedTuple):
    """The object of NumPy that a name refers to, and whether the name may be None."""

    qualified_name: str
    or_none: bool


class _Binding(NamedTuple):
    """One value that a statement gives to a name.

    Attributes:
        kind: "import" of the object `name`, "from" the module `module`, "none", or "other". The translation
            of `np = numpy` binds `tnp`, so that assigned names are "other".
    """

    kind: str
    name: str = ""
    module: str = ""


class _TopNames(NamedTuple):
    """A module's top names; `exports` are those that `import *` reads, None if the text does not tell."""

    bindings: dict[str, set[_Binding]]
    exports: Set[str] | None


_Path = frozenset[tuple[Path, str]]
_OTHER_VALUE, _NO_VALUE = _Binding("other"), _Binding("none")
_STAR = re.compile(rb"^([ \t]*)from[ \t]+([\w.]+)[ \t]+import[ \t]*\(?[ \t]*\*", re.MULTILINE)
_DEFINITION = re.compile(rb"^[ \t]*(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)", re.MULTILINE)
_OWNER_OR_CALLEE = re.compile(rb"\b(\w+)[.(]")
#: Names that are looked up also in files which are not given.
_USUAL_NAMES = frozenset({"np", "numpy"})
#: Names by which a file may bind its own names without a statement that says so.
_REBINDING = frozenset({"exec", "globals", "locals", "vars", "__dict__", "modules"})


class Reexports:
    """Finds the names of NumPy that files import from other files. Each file is read and parsed once.

    `read_data` gets an absolute path, and returns None if there is no such file.
    """

    def __init__(self, read_data: Callable[[Path], bytes | None]) -> None:
        self._read_data = cache(read_data)
        self._top_names: dict[Path, _TopNames | None] = {}
        self._defined_names: dict[Path, frozenset[bytes]] = {}

    @property
    def parsed_files(self) -> list[Path]:
        """The files that the results depend on."""
        return list(self._top_names)

    def of(self, path: Path, data: bytes) -> tuple[Reexport, ...]:
        """Return the names of NumPy that a file with these bytes imports from other files."""
        path = path.absolute()
        reexports = {
            (module, name): Reexport(module, name, *numpy_name)
            for module, names in from_imports(data)
            for name, _ in names
            if name != "*"
            and (numpy_name := self._object_of_import(path, module, name, frozenset())) is not None
        }
        return (*reexports.values(), *self._by_stars(path, data))

    def _by_stars(self, path: Path, data: bytes) -> Iterator[Reexport]:
        """Yield the names that `import *` imports, if the text shows the names of each such import."""
        reexports: dict[str, Reexport | None] = {}
        for indent, name in _STAR.findall(data) if b"*" in data else ():
            module = name.decode("utf-8", "replace")
            file = self.file_of(path, module) if not indent else None
            top_names = self._top_names_of(file) if file is not None else None
            if file is None or top_names is None or top_names.exports is None:
                return
            for export in top_names.exports:
                numpy_name = self._object_of_name(file, export, frozenset())
                if numpy_name is None or numpy_name.or_none:
                    reexports[export] = None
                else:
                    reexports[export] = Reexport(module, export, numpy_name.qualified_name, by_star=True)
        yield from (reexport for reexport in reexports.values() if reexport is not None)

    # -- names -----------------------------------------------------------------------------------------------

    def _object_of_import(self, path: Path, module: str, name: str, path_so_far: _Path) -> _NumpyName | None:
        """Return the object of NumPy that a file imports by a name from a module."""
        file = self.file_of(path, module)
        if file is None or self._has_submodule(file, name):
            return None
        return self._object_of_name(file, name, path_so_far)

    def _object_of_name(self, file: Path, name: str, path_so_far: _Path) -> _NumpyName | None:
        """Return the object of NumPy that a name at the top of a file refers to."""
        if (file, name) in path_so_far or name.encode() in self._definitions(file):
            return None
        top_names = self._top_names_of(file)
        bindings = top_names.bindings.get(name, set()) if top_names is not None else set()
        path_so_far |= {(file, name)}
        numpy_names = [
            self._object_of_binding(file, binding, path_so_far) for binding in bindings - {_NO_VALUE}
        ]
        known_names = [numpy_name for numpy_name in numpy_names if numpy_name is not None]
        qualified_names = {numpy_name.qualified_name for numpy_name in known_names}
        if len(known_names) < len(numpy_names) or len(qualified_names) != 1:
            return None
        (qualified_name,) = qualified_names
        or_none = _NO_VALUE in bindings or any(numpy_name.or_none for numpy_name in known_names)
        return None if or_none and qualified_name != "numpy" else _NumpyName(qualified_name, or_none)

    def _object_of_binding(self, file: Path, binding: _Binding, path_so_far: _Path) -> _NumpyName | None:
        if binding.kind == "import":
            return _NumpyName(binding.name, False) if binding.name.split(".")[0] == "numpy" else None
        if binding.kind == "from":
            return self._object_of_import(file, binding.module, binding.name, path_so_far)
        return None

    def _definitions(self, file: Path) -> frozenset[bytes]:
        """Return the names of a file's functions and classes. Parsing the file takes longer."""
        if file not in self._defined_names:
            self._defined_names[file] = frozenset(_DEFINITION.findall(self._read_data(file) or b""))
        return self._defined_names[file]

    def _top_names_of(self, file: Path) -> _TopNames | None:
        """Return the names at the top of a file; None if its text does not show them."""
        if file not in self._top_names:
            data = self._read_data(file)
            self._top_names[file] = _parse_top_names(data) if data is not None else None
        return self._top_names[file]

    # -- files -----------------------------------------------------------------------------------------------

    def file_of(self, path: Path, module: str) -> Path | None:
        """Return the file of a module of the same program."""
        parts = module.lstrip(".")
        level = len(module) - len(parts)
        names = parts.split(".") if parts else []
        if level:
            folder = path.parent
            for _ in range(level - 1):
                folder = folder.parent
        elif names[0] in sys.stdlib_module_names or names[0] == "numpy":
            return None
        else:
            folder = self._import_folder(path.parent)
        for name in names[:-1]:
            folder = folder / name
        if not names:
            return self._first_file(folder / "__init__.py")
        return self._first_file(folder / names[-1] / "__init__.py", folder / f"{names[-1]}.py")

    def _import_folder(self, folder: Path) -> Path:
        """Return the folder where Python finds absolute imports: the first without `__init__.py`."""
        while self._first_file(folder / "__init__.py") is not None and folder.parent != folder:
            folder = folder.parent
        return folder

    def _has_submodule(self, file: Path, name: str) -> bool:
        """Return whether a package has a module of this name, which an import binds in the package."""
        if file.name != "__init__.py":
            return False
        return self._first_file(file.parent / name / "__init__.py", file.parent / f"{name}.py") is not None

    def _first_file(self, *files: Path) -> Path | None:
        return next((file for file in files if self._read_data(file) is not None), None)


def reexports_of(files: Sequence[tuple[Path, bytes]]) -> dict[Path, tuple[Reexport, ...]]:
    """Return the names of NumPy that files of one program import from one another.

    Args:
        files: the files with their bytes. Files that they import from and that are not among them are read.
    """
    contents = {path.absolute(): data for path, data in files}
    numpy_names = _USUAL_NAMES.union(*(names_of_numpy(data) for _, data in files))
    program = Reexports(lambda path: contents[path] if path in contents else read_file(path))
    by_file = {
        path: reexports
        for path, data in files
        if _imports_one_of(numpy_names, data) and (reexports := program.of(path, data))
    }
    names = {reexport.name for reexports in by_file.values() for reexport in reexports}
    rebound = {name for name in names if any(_assigns_attribute(name, data) for _, data in files)}
    return {
        path: tuple(reexport for reexport in reexports if reexport.name not in rebound)
        for path, reexports in by_file.items()
    }


def read_file(path: Path) -> bytes | None:
    """Return the bytes of a file; None if there is no such file."""
    try:
        return path.read_bytes()
    except OSError:
        return None


def _imports_one_of(names: Set[str], data: bytes) -> bool:
    """Return whether a file may import one of these names from another file, and use it."""
    if not any(name.encode() in data for name in names):
        return False
    is_star = False
    for statement in from_imports(data):
        imported_names = {name for name, _ in statement.names}
        if not names.isdisjoint(imported_names):
            return True
        is_star |= "*" in imported_names
    return is_star and any(name.decode() in names for name in set(_OWNER_OR_CALLEE.findall(data)))


def _assigns_attribute(name: str, data: bytes) -> bool:
    """Return whether a file assigns an attribute of this name, which may be a module's."""
    word = name.encode()
    pattern = rb"\.%s[ \t]*=[^=]|\bsetattr\([^)\n]*[\"']%s[\"']" % (word, word)
    return word in data and re.search(pattern, data) is not None


def _parse_top_names(data: bytes) -> _TopNames | None:
    """Return the names at the top of a module; None if the text does not show them."""
    tree = python_tree(data)
    if tree is None:
        return None
    bindings: dict[str, set[_Binding]] = {}
    for node in ast.walk(tree):
        if getattr(node, "id", "") in _REBINDING or getattr(node, "attr", "") in _REBINDING:
            return None
        if isinstance(node, ast.Global):
            bindings.update({name: {_OTHER_VALUE} for name in node.names})
    has_star = False
    for statement in own_statements(tree.body):
        if isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*":
            if statement.level or statement.module != "numpy":
                return None
            has_star = True
            continue
        for name, binding in _bindings(statement):
            bindings.setdefault(name, set()).add(binding)
    exports = _exports(tree) if "__all__" in bindings else _public_names(bindings)
    return _TopNames(bindings, None if has_star and "__all__" not in bindings else exports)


def _public_names(names: Iterable[str]) -> frozenset[str]:
    return frozenset(name for name in names if not name.startswith("_"))


def _exports(tree: ast.Module) -> frozenset[str] | None:
    """Return the names in `__all__`; None if it is not one list of strings."""
    mentions = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == "__all__"]
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and statement.targets == mentions:
            try:
                return frozenset(ast.literal_eval(statement.value))
            except ValueError:
                return None
    return None


def _bindings(statement: ast.stmt) -> Iterator[tuple[str, _Binding]]:
    """Yield the names that one statement binds, without the statements in it."""
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        for bound_name, module, name in imports_in(statement):
            if name is None:
                yield bound_name, _Binding("import", module)
            elif module.split(".")[0] == "numpy":
                yield bound_name, _Binding("import", f"{module}.{name}")
            else:
                yield bound_name, _Binding("from", name, module)
    elif isinstance(statement, DEFINITIONS):
        yield statement.name, _OTHER_VALUE
    elif isinstance(statement, (ast.Assign, ast.AnnAssign)):
        targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
        for target in targets:
            if isinstance(target, ast.Name):
                yield target.id, _assignment(statement.value)
            else:
                yield from _other_bindings(target)
        yield from _other_bindings(statement.value)
    else:
        yield from _other_bindings(statement)


def _assignment(value: ast.expr | None) -> _Binding:
    if value is None or (isinstance(value, ast.Constant) and value.value is None):
        return _NO_VALUE
    return _OTHER_VALUE


def _other_bindings(node: ast.AST | None) -> Iterator[tuple[str, _Binding]]:
    """Yield the names that a loop, `with`, `except`, `match`, `del` or `:=` binds, and the attributes that a
    statement assigns: they may be attributes of the module itself.
    """
    nodes = [node] if node is not None else []
    while nodes:
        inner = nodes.pop()
        nodes += [child for child in ast.iter_child_nodes(inner) if not isinstance(child, ast.stmt)]
        if not isinstance(getattr(inner, "ctx", None), ast.Load):
            names = [getattr(inner, field, None) for field in ("id", "attr", "name", "rest")]
            yield from ((name, _OTHER_VALUE) for name in names if isinstance(name, str))


# -- passed on -----------------------------------------------------------------------------------------------
# Finds the names of NumPy that files of a project import from one another: these names must stay bound.
#
# The texts are searched before any file is parsed. A name that is found wrongly costs one needless import.

#: Stands for all names, because a file imports `*`.
EVERY = "*"
_AS = re.compile(rb"^[ \t]*import[ \t]+([\w.]+)[ \t]+as[ \t]+(\w+)", re.MULTILINE)
_ATTRIBUTE = re.compile(rb"\b(\w+)\.(?=(\w+))")

#: The parts of a module's path without suffix; of a package the parts of its folder.
Module = tuple[str, ...]


def passed_on(files: Iterable[tuple[Path, bytes]]) -> dict[Path, tuple[str, ...]]:
    """Return the names of NumPy that other files read from each file which imports NumPy."""
    pairs = list(files)
    numpy_names = {_module(path): names for path, data in pairs if (names := names_of_numpy(data))}
    if len(pairs) < 2 or not numpy_names:
        return {}
    by_last_name: dict[str, list[Module]] = {}
    for module in numpy_names:
        by_last_name.setdefault(module[-1], []).append(module)
    every_name = {name for names in numpy_names.values() for name in names}
    attributes = [b"." if name == EVERY else f".{name}".encode() for name in every_name]
    read_names: dict[Module, set[str]] = {}
    for path, data in pairs:
        has_attribute = any(attribute in data for attribute in attributes)
        for module, name in _read(path, data, by_last_name, has_attribute):
            if name == EVERY or not numpy_names[module].isdisjoint((name, EVERY)):
                read_names.setdefault(module, set()).add(name)
    return {
        path: tuple(sorted(read_names[_module(path)])) for path, _ in pairs if _module(path) in read_names
    }


def _module(path: Path) -> Module:
    whole = path.absolute()
    return whole.parent.parts if path.stem == "__init__" else whole.with_suffix("").parts


def _read(
    path: Path, data: bytes, by_last_name: dict[str, list[Module]], has_attribute: bool
) -> Iterator[tuple[Module, str]]:
    """Yield the modules with NumPy that a file imports from, and the names that it reads from them.

    `has_attribute` says that it may read a name of NumPy as an attribute of a module.
    """
    aliases = by_last_name.copy()

    def bind(alias: str, name: str) -> None:
        if name in by_last_name:
            aliases[alias] = by_last_name[name]
        else:
            aliases.pop(alias, None)

    for match in in_lines(_AS, b"import", data) if has_attribute else ():
        bind(match[2].decode(), match[1].decode().rpartition(".")[2])
    for module_name, names in from_imports(data):
        modules = list(_modules(path, module_name, by_last_name))
        for name, alias in names:
            yield from ((module, name) for module in modules)
            if name in by_last_name:
                bind(alias, name)
    for owner, attribute in set(_ATTRIBUTE.findall(data)) if has_attribute else ():
        yield from ((module, attribute.decode()) for module in aliases.get(owner.decode(), ()))


def _modules(path: Path, name: str, by_last_name: dict[str, list[Module]]) -> Iterator[Module]:
    """Yield the modules with NumPy that `from NAME import` in a file may mean. An absolute name means all
    modules whose paths end so.
    """
    tail = name.lstrip(".")
    level = len(name) - len(tail)
    parts = tuple(tail.split(".")) if tail else ()
    if level:
        folders = path.absolute().parents
        parts = (*folders[level - 1].parts, *parts) if level <= len(folders) else ()
    for module in by_last_name.get(parts[-1], ()) if parts else ():
        if module[-len(parts) :] == parts:
            yield module
