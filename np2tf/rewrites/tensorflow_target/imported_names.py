"""Follows imports: names from the modules of the program, and from the standard library.

The standard library is known to leave arrays unchanged; other libraries are not, so np2tf refuses them.
"""

from __future__ import annotations

import sys

import libcst as cst

from np2tf.rewrites.tensorflow_target.model.values import Value, plain
from np2tf.rewrites.tensorflow_target.model.world import Frame
from np2tf.tree.names import dotted_name

_NUMBERS = frozenset({"pi", "e", "inf", "tau", "nan"})


def follow_import(node: cst.Import | cst.ImportFrom, frame: Frame) -> None:
    """Bind the names that a statement imports."""
    world = frame.world
    if isinstance(node.names, cst.ImportStar):
        world.refuse(node, "NP2TF607", name="*")
        return
    of_numpy = {alias for statement in world.facts.imports.statements for alias in statement.aliases}
    for alias in node.names:
        if alias in of_numpy:
            _record_origin(node, alias, frame)
            continue
        world.forget(alias)
        value = _plain_import(alias, frame) if isinstance(node, cst.Import) else _member(node, alias, frame)
        bound_name = (alias.evaluated_alias or alias.evaluated_name).split(".")[0]
        if value is None:
            module = "" if isinstance(node, cst.Import) else _module_name(node)
            value = world.refuse(alias, "NP2TF607", name=module or alias.evaluated_name)
        frame.bind(bound_name, value)


def _plain_import(alias: cst.ImportAlias, frame: Frame) -> Value | None:
    """`import a.b` binds `a`, and `import a.b as c` binds `a.b`. None if the module is not known."""
    world, name = frame.world, alias.evaluated_name
    module = world.program.module(name, world.file)
    if module is not None:
        world.program.record_import(world.file, module, alias)
    if module is not None and alias.asname is None and "." in name:
        return world.program.module(name.split(".")[0], world.file)
    if module is not None:
        return module
    return plain("module") if _is_standard(name) else None


def _member(node: cst.ImportFrom, alias: cst.ImportAlias, frame: Frame) -> Value | None:
    """`from module import name`. None if the module or the name is not known."""
    world, name = frame.world, alias.evaluated_name
    module_name = _module_name(node)
    submodule = world.program.module(_module_below(module_name, name), world.file)
    module = world.program.module(module_name, world.file)
    if module is not None:
        member = world.program.member(module, name)
        is_module = member is not None and bool(member.modules)
        world.program.record_import(world.file, member if member is not None and is_module else module, alias)
        return member
    if submodule is not None:  # from a folder without an `__init__.py`
        world.program.record_import(world.file, submodule, alias)
        return submodule
    if not _is_standard(module_name):
        return None
    is_number = module_name in ("math", "cmath") and name in _NUMBERS
    return plain("float") if is_number else plain("function", "other")


def _record_origin(node: cst.Import | cst.ImportFrom, alias: cst.ImportAlias, frame: Frame) -> None:
    """Record the module of the program from which a file imports a name of NumPy's."""
    world = frame.world
    if isinstance(node, cst.ImportFrom) and alias in world.facts.imports.of_other_files:
        module = world.program.module(_module_name(node), world.file)
        if module is not None:
            world.program.record_import(world.file, module, alias)


def _module_below(module: str, name: str) -> str:
    return module + name if module.endswith(".") else f"{module}.{name}"


def _module_name(node: cst.ImportFrom) -> str:
    return "." * len(node.relative) + (dotted_name(node.module) or "")


def _is_standard(module: str) -> bool:
    return module.split(".")[0] in sys.stdlib_module_names
