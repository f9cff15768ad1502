"""Plans the head of a translation: TensorFlow's imports in the place of NumPy's, and the helpers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import libcst as cst

from np2tf.translator.facts.facts import Facts
from np2tf.translator.rewrites.plan import Plan
from np2tf.translator.rewrites.uses import uses
from np2tf.translator.tensorflow.edits import rename_to
from np2tf.translator.tensorflow.model import World
from np2tf.translator.tensorflow.numpy_table import helpers_with
from np2tf.translator.tree.nodes import bound_name, root_of, walk
from np2tf.translator.tree.templates import Statement
from np2tf.translator.tree.templates import statement as made_statement

#: The longest line of an import.
_LINE_LENGTH = 88


def plan_annotations(world: World) -> None:
    """Replace arrays by tensors in annotations, where no value is followed."""
    for use in uses(world.facts):
        if world.facts.parents.nearest(use.name, cst.Annotation) is None:
            continue
        if use.qualified_name == "numpy.ndarray":
            world.edit(use.node, rename_to(f"{world.tf}.Tensor"))
        elif use.qualified_name.removeprefix("numpy.") in world.table.dtypes:
            dtype = world.table.dtypes[use.qualified_name.removeprefix("numpy.")]
            world.edit(use.node, rename_to(world.dtype_name(dtype)))


def left_over(world: World) -> list[cst.CSTNode]:
    """Return the names of NumPy without a decision: the translation would not define them."""
    nodes: list[cst.CSTNode] = []
    for use in uses(world.facts):
        node: cst.CSTNode | None = use.node
        while node is not None and node not in world.decisions and type(node) in (cst.Name, cst.Attribute):
            node = world.facts.parents[node]
        if node not in world.decisions:
            nodes.append(use.node)
    return nodes


def passed_on(facts: Facts) -> list[cst.ImportAlias]:
    """Return the unused names imported from NumPy, which other modules may import from this one."""
    names = {use.name.value for use in uses(facts)}
    return [
        alias
        for statement in facts.imports.statements
        if type(statement.node) is cst.ImportFrom
        for alias in statement.aliases
        if (alias.evaluated_alias or alias.evaluated_name) not in names
    ]


def plan_imports(world: World, plan: Plan, helpers: Iterable[str], shared_module: str = "") -> None:
    """Put TensorFlow's imports in the place of the first of NumPy's, and the helpers after all imports.

    If there is a `shared_module` with the helpers, they are imported from it.
    """
    facts = world.facts
    needed, body = _needed_aliases(world), facts.module.body
    # The translation of another file does not have NumPy's names.
    of_other_files = [alias for alias in facts.imports.of_other_files if alias in needed]
    aliases_to_keep = needed - set(of_other_files)

    def goes_away(line: cst.CSTNode) -> bool:
        return _only_numpy(line, facts) and aliases_to_keep.isdisjoint(walk(line))

    first = next((line for line in body if goes_away(line)), None)
    for statement in facts.imports.statements:
        numpy_aliases = set(statement.aliases) - aliases_to_keep
        names = statement.node.names
        kept_aliases = (
            []
            if isinstance(names, cst.ImportStar)
            else [alias for alias in names if alias not in numpy_aliases]
        )
        if kept_aliases and len(kept_aliases) < len(names):  # type: ignore[arg-type]
            last = kept_aliases[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
            new_aliases = [*kept_aliases[:-1], last]
            plan.add(statement.node, lambda node, aliases=new_aliases: node.with_changes(names=aliases))  # type: ignore[misc]
        elif kept_aliases or statement.node in aliases_to_keep:
            continue
        elif first is None or facts.parents[statement.node] is not first:
            plan.add(statement.node, lambda updated_node: cst.RemoveFromParent())
    lines = [line for line in _leading_imports(body) if line is first or not goes_away(line)]
    further = _imported_helpers(world, helpers, shared_module) if shared_module else _helpers(world, helpers)
    own_imports = [_numpy_import(alias, facts) for alias in of_other_files]
    _insert(plan, body, first, lines, [*own_imports, *_head(world)], further)


def _numpy_import(alias: cst.CSTNode, facts: Facts) -> Statement:
    """Return the import of what an alias imports from another file that imports it from NumPy."""
    assert isinstance(alias, cst.ImportAlias)
    name, bound = str(facts.imports.qualified_binding(alias)), bound_name(alias)
    module, _, last = name.rpartition(".")
    if name == "numpy":
        return made_statement("import numpy" + ("" if bound == name else f" as {bound}"))
    return made_statement(f"from {module} import {last}" + ("" if bound == last else f" as {bound}"))


def _needed_aliases(world: World) -> set[cst.CSTNode]:
    """Return the imports of the names of NumPy that stay; the statements of those that import all names."""
    imports = world.facts.imports
    stars = {statement.node for statement in imports.statements if statement.star}
    aliases: set[cst.CSTNode] = set(stars) if imports.other_stars else set()
    for node, decision in world.decisions.items():
        root = root_of(node) if decision.keeps_numpy else None
        if isinstance(root, cst.Name):
            owner = world.facts.scopes.owner(root)
            aliases |= set(owner.bindings[root.value]) if owner is not None else stars
    return aliases


def _only_numpy(line: cst.CSTNode, facts: Facts) -> bool:
    """Return whether a line imports NumPy and nothing else."""
    imports = {statement.node: statement for statement in facts.imports.statements}
    if not isinstance(line, cst.SimpleStatementLine) or len(line.body) != 1 or line.body[0] not in imports:
        return False
    node = imports[line.body[0]].node  # type: ignore[index]
    return isinstance(node.names, cst.ImportStar) or len(imports[node].aliases) == len(node.names)


def _insert(
    plan: Plan,
    body: Sequence[cst.CSTNode],
    first: cst.CSTNode | None,
    lines: Sequence[cst.CSTNode],
    head: list[Statement],
    helpers: list[Statement],
) -> None:
    """Plan the head, in the place of `first` if there is one, and the helpers.

    `lines` are the imports at the top that stay, and `first`.
    """
    last = lines[-1] if lines else None
    if first is not None and first not in lines:
        last = first
    if first is not None:
        plan.add(first, lambda updated_node: _in_place_of(updated_node, head))
    if last is not None:
        behind = helpers if first is not None else [*head, *helpers]
        plan.add(last, lambda updated_node: cst.FlattenSentinel([updated_node, *behind]))
    elif body:
        plan.add(body[0], lambda updated_node: cst.FlattenSentinel([*head, *helpers, updated_node]))


def _leading_imports(body: Sequence[cst.CSTNode]) -> list[cst.CSTNode]:
    """Return the docstring and the imports at the top of a module."""
    lines: list[cst.CSTNode] = []
    for position, line in enumerate(body):
        small = line.body[-1] if type(line) is cst.SimpleStatementLine else None
        text = position == 0 and type(small) is cst.Expr and type(small.value) is cst.SimpleString
        if not text and type(small) not in (cst.Import, cst.ImportFrom):
            break
        lines.append(line)
    return lines


def _in_place_of(
    updated_node: cst.SimpleStatementLine, head: list[Statement]
) -> cst.FlattenSentinel[Statement]:
    first, *statements_behind = head
    return cst.FlattenSentinel(
        [first.with_changes(leading_lines=updated_node.leading_lines), *statements_behind]
    )


def _head(world: World) -> list[Statement]:
    """Return the imports of TensorFlow."""
    tensorflow = "import tensorflow as tf" if world.tf == "tf" else f"import tensorflow as {world.tf}"
    text = f"{tensorflow}\nimport tensorflow.experimental.numpy as {world.tnp}\n"
    return [*cst.parse_module(text).body]


def _helpers(world: World, helpers: Iterable[str]) -> list[Statement]:
    """Return the statement that gives tensors NumPy's operators, and the helpers."""
    texts = helpers_with(helpers)
    names = {name: world.helper(name) for name in texts}
    names.update(tf=world.tf, tnp=world.tnp)
    lines = ["", f"{world.tnp}.experimental_enable_numpy_behavior()"]
    for text in texts.values():
        lines += ["", "", _with_names(text, names)]
    return [*cst.parse_module("\n".join(lines) + "\n").body]


def _imported_helpers(world: World, helpers: Iterable[str], module: str) -> list[Statement]:
    """Return the import of the helpers that a module calls itself."""
    names = sorted(name for name in helpers if not name.startswith("["))
    if not names:
        return _helpers(world, ())
    parts = [name if world.helper(name) == name else f"{name} as {world.helper(name)}" for name in names]
    line = f"from {module} import {', '.join(parts)}"
    if len(line) > _LINE_LENGTH:
        line = f"from {module} import (\n" + "".join(f"    {part},\n" for part in parts) + ")"
    return [*cst.parse_module(line + "\n").body]


def _with_names(text: str, names: dict[str, str]) -> str:
    """Return a helper's text with other names in the place of names that the module uses itself."""
    if all(name == new for name, new in names.items()):
        return text
    pattern = re.compile(
        r"(?<![\w.])(" + "|".join(sorted(map(re.escape, names), key=len, reverse=True)) + r")\b"
    )
    return pattern.sub(lambda match: names[match[1]], text)
