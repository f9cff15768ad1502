"""Turns `warnings.warn(…, stacklevel=2)` into `np2tf.warn(…)`, which does not count the frames of np2tf."""

from __future__ import annotations

import libcst as cst

from np2tf.diagnostics import Report
from np2tf.facts import Facts
from np2tf.options import Options
from np2tf.rewrites.planning.plan import Plan
from np2tf.tree.templates import expression


def plan(facts: Facts, plan: Plan, report: Report, options: Options) -> None:
    """Plan the calls of `warnings.warn` that report another line than their own."""
    for call in facts.nodes(cst.Call):
        if facts.imports.imported_name(call.func) == "warnings.warn" and _tells_of_another_line(call):
            plan.add(call.func, lambda func: expression("np2tf.warn"))
            plan.require(runtime=True)


def _tells_of_another_line(call: cst.Call) -> bool:
    keywords = {arg.keyword.value: arg.value for arg in call.args if arg.keyword is not None}
    if "skip_file_prefixes" in keywords:
        return False
    positional = [arg.value for arg in call.args if arg.keyword is None]
    level = keywords.get("stacklevel", positional[2] if len(positional) > 2 else None)
    if any(arg.star for arg in call.args):
        return True
    return level is not None and not (type(level) is cst.Integer and level.value == "1")
