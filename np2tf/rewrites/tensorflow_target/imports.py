"""The head of a translation: TensorFlow's imports in the place of NumPy's, and the helpers."""

from __future__ import annotations

import re
from collections.abc import Iterable

import libcst as cst

from np2tf.rewrites.planning.plan import Plan
from np2tf.rewrites.tensorflow_target.table import helpers_with
from np2tf.rewrites.tensorflow_target.world import World
from np2tf.tree.templates import Statement, statements


def plan_imports(world: World, plan: Plan, helpers: Iterable[str]) -> None:
    """Remove NumPy's imports, and put TensorFlow's and the helpers where the first of them stood."""
    head = _head(world, helpers)
    top = [line for line in world.facts.module.body if _brings_numpy(line, world)]
    for found in world.facts.imports.statements:
        ours = set(found.aliases)
        names = found.node.names
        rest = [] if isinstance(names, cst.ImportStar) else [one for one in names if one not in ours]
        line = world.facts.parents[found.node]
        if rest:
            last = rest[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
            plan.add(found.node, lambda updated, rest=[*rest[:-1], last]: updated.with_changes(names=rest))
        elif not (top and line is top[0]):
            plan.add(found.node, lambda updated: cst.RemoveFromParent())
    if top:
        plan.add(top[0], lambda updated: _replaced(updated, head, world))


def _brings_numpy(line: cst.CSTNode, world: World) -> bool:
    ours = {found.node for found in world.facts.imports.statements}
    return isinstance(line, cst.SimpleStatementLine) and any(small in ours for small in line.body)


def _replaced(updated: cst.SimpleStatementLine, head: list[Statement], world: World) -> cst.FlattenSentinel[Statement]:
    """The line without NumPy's imports, and the head behind it."""
    smalls = [small for small in updated.body if not _is_numpy(small)]
    first, *others = head
    if not smalls:
        first = first.with_changes(leading_lines=updated.leading_lines)
        return cst.FlattenSentinel([first, *others])
    smalls[-1] = smalls[-1].with_changes(semicolon=cst.MaybeSentinel.DEFAULT)
    return cst.FlattenSentinel([updated.with_changes(body=smalls), first, *others])


def _is_numpy(small: cst.CSTNode) -> bool:
    text = cst.Module([]).code_for_node(small).strip()
    return re.match(r"(import numpy\b(?!.*,)|from numpy\b)", text) is not None


def _head(world: World, helpers: Iterable[str]) -> list[Statement]:
    """Imports of TensorFlow, the switch that gives tensors NumPy's operators, and the helpers."""
    tf, tnp = world.tf, world.tnp
    lines = [
        "import tensorflow as tf" if tf == "tf" else f"import tensorflow as {tf}",
        f"import tensorflow.experimental.numpy as {tnp}",
        "",
        f"{tnp}.experimental_enable_numpy_behavior()",
    ]
    texts = helpers_with(helpers)
    names = {name: world.helper(name) for name in texts}
    names.update(tf=tf, tnp=tnp)
    pattern = re.compile(r"(?<![\w.\"'])(" + "|".join(map(re.escape, sorted(names, key=len, reverse=True))) + r")\b(?!\s*=[^=])")
    for text in texts.values():
        renamed = text if all(key == name for key, name in names.items()) else pattern.sub(lambda m: names[m[1]], text)
        lines += ["", "", renamed]
    if texts:
        lines += ["", ""]
    made = cst.parse_module("\n".join(lines) + "\n")
    return [*made.body]


assert statements
