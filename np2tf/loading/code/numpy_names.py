"""Keeps the names that a module gives to NumPy: `np` is bound to `tnp` below a former `import numpy as np`.

Other modules may write `from package.module import np`, doctests use the `np` of their module, and
annotations in strings are looked up in the module.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from np2tf.loading.code.reexported_names import CHECK
from np2tf.translator.sources.names_between_files import Reexport
from np2tf.translator.sources.python_trees import DEFINITIONS, imports_in, numpy_imports


def keep_names(source: ast.Module, translation: ast.Module) -> None:
    """Bind, below each import of `tnp` at the top of `translation`, the names that `source` gave to NumPy's
    objects.

    Names that the translation imports itself are left out, and so are imports for type checkers only.
    """
    names, stars = _lost_names(source, translation), _lost_stars(source, translation)
    if not names and not stars:
        return
    for body in _bodies(translation):
        for index in range(len(body) - 1, -1, -1):
            tnp = _tnp_of(body[index])
            if tnp is not None:
                bindings = [_statement(f"{name} = {tnp}{path}", body[index]) for name, path in names]
                body[index + 1 : index + 1] = [*stars, *bindings]


def check_reexports(translation: ast.Module, reexports: Sequence[Reexport]) -> None:
    """Add a check below each import of a name that is NumPy's in another file: the program may have bound
    another object to it. Uses that stay on NumPy need NumPy's object, where the other module has `tnp`'s.
    """
    for body in _bodies(translation) if reexports else ():
        for index in range(len(body) - 1, -1, -1):
            statement = body[index]
            if isinstance(statement, ast.ImportFrom):
                checks = [
                    f"{name} = {CHECK}({name}, {reexport.qualified_name!r}, {reexport.or_none})"
                    for name, reexport in _reexports_in(statement, reexports)
                ]
                body[index + 1 : index + 1] = [_statement(check, statement) for check in checks]


def _reexports_in(statement: ast.ImportFrom, reexports: Sequence[Reexport]) -> Iterator[tuple[str, Reexport]]:
    """Yield the names that a statement binds to NumPy's objects from another file."""
    module = "." * statement.level + (statement.module or "")
    of_module = {reexport.name: reexport for reexport in reexports if reexport.module == module}
    if _is_star(statement):
        yield from ((name, reexport) for name, reexport in of_module.items() if reexport.by_star)
    else:
        for bound_name, _, name in imports_in(statement):
            if name in of_module:
                yield bound_name, of_module[name]


def _lost_names(source: ast.Module, translation: ast.Module) -> list[tuple[str, str]]:
    translation_names = {name for statement in _imports(translation) for name, _, _ in imports_in(statement)}
    paths: dict[str, str] = {}
    for statement in _imports(source):
        for name, path in numpy_imports(statement):
            if name not in translation_names:
                paths[name] = "".join(f".{part}" for part in path)
    return list(paths.items())


def _lost_stars(source: ast.Module, translation: ast.Module) -> list[ast.stmt]:
    """Return the star imports from NumPy that the translation lacks; other modules may import their names
    from here.
    """
    stars = {
        statement.module: statement
        for statement in _imports(source)
        if _is_star(statement) and isinstance(statement, ast.ImportFrom)
    }
    modules = {
        statement.module
        for statement in _imports(translation)
        if _is_star(statement) and isinstance(statement, ast.ImportFrom)
    }
    return [
        star for name, star in stars.items() if name not in modules and str(name).split(".")[0] == "numpy"
    ]


def _is_star(statement: ast.Import | ast.ImportFrom) -> bool:
    return statement.names[0].name == "*"


def _imports(module: ast.Module) -> Iterator[ast.Import | ast.ImportFrom]:
    for body in _bodies(module):
        for statement in body:
            if isinstance(statement, (ast.Import, ast.ImportFrom)):
                yield statement


def _bodies(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """Yield the blocks of a module that run in its own scope, without blocks for type checkers."""
    for field, value in ast.iter_fields(node):
        first = value[0] if isinstance(value, list) and value else None
        if not isinstance(first, (ast.stmt, ast.ExceptHandler)):
            continue
        if isinstance(node, ast.If) and field == "body" and "TYPE_CHECKING" in ast.dump(node.test):
            continue
        if isinstance(first, ast.stmt):
            yield value
        for child in value:
            if not isinstance(child, DEFINITIONS):
                yield from _bodies(child)


def _tnp_of(statement: ast.stmt) -> str | None:
    """Return the name that a statement gives to `np2tf.tnp`, if it imports it."""
    if not isinstance(statement, ast.ImportFrom) or statement.module != "np2tf" or statement.level:
        return None
    return next((alias.asname or alias.name for alias in statement.names if alias.name == "tnp"), None)


def _statement(text: str, near: ast.stmt) -> ast.stmt:
    statement = ast.parse(text).body[0]
    for node in ast.walk(statement):
        ast.copy_location(node, near)
    return statement
