"""The pipeline: Source -> Facts (once) -> Plan -> one application -> text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass, field

import libcst as cst

from np2tf.core.diagnostics import Diagnostic, Report
from np2tf.translator.control import staged_functions
from np2tf.translator.facts.facts import Facts
from np2tf.translator.rewrites import import_statements, mending, names, special_calls, writes
from np2tf.translator.rewrites.plan import Plan
from np2tf.translator.sources.candidates import is_candidate
from np2tf.translator.sources.options import Options
from np2tf.translator.tensorflow import module_plan as tensorflow_target
from np2tf.translator.tensorflow.array_users import takes_arrays
from np2tf.translator.tree.alignment import aligned_spaces, realign
from np2tf.translator.tree.line_breaks import break_lines
from np2tf.translator.tree.nodes import forget
from np2tf.translator.tree.source import Source, SourceError

Rewrite = Callable[[Facts, Plan, Report, Options], None]

# The order matters: `imports` comes last because it writes the imports that the other rewrites request.
REWRITES: tuple[Rewrite, ...] = (
    names.plan,
    staged_functions.note_staged_functions,
    special_calls.plan_buffers,
    writes.plan_writing_methods,
    writes.plan_writes,
    special_calls.plan_stack_levels,
    staged_functions.plan_lowering,
    staged_functions.plan_decorators,
    import_statements.plan,
)

#: The rewrites of each target.
TARGETS: dict[str, tuple[Rewrite, ...]] = {"np2tf": REWRITES, "tf": (tensorflow_target.plan,)}


@dataclass(frozen=True)
class Result:
    """The translation of one file.

    Attributes:
        text: the translated source, or the source itself if nothing was translated.
        diagnostics: the findings, in the order of their places.
        changed: whether the translation differs from the source.
        suppressed_findings: the findings that comments of the file hide.

    The other attributes serve np2tf's own import machinery.
    """

    text: str
    diagnostics: list[Diagnostic] = field(default_factory=list)
    changed: bool = False
    tree: cst.Module | None = field(default=None, repr=False, compare=False)
    """The tree of the output, if the file was translated."""
    origins: Mapping[cst.CSTNode, cst.CSTNode] = field(default_factory=dict, repr=False, compare=False)
    """Maps new nodes of `tree` to the nodes of the input that they stand for."""
    touched_nodes: Set[cst.CSTNode] = field(default_factory=frozenset, repr=False, compare=False)
    """The nodes of the input that contain an edit."""
    compiler_functions: frozenset[str] = frozenset()
    """The names of the functions that another compiler reads."""
    facts: Facts | None = field(default=None, repr=False, compare=False)
    """The facts of the input, unless it is no candidate or cannot be read."""
    suppressed_findings: list[Diagnostic] = field(default_factory=list)
    shared_module: tuple[str, str] | None = None
    """The path and the text of the module with the helpers that several files import."""


def convert(source_text: str, options: Options | None = None, path: str = "<string>") -> Result:
    """Translate NumPy source to np2tf source. The source is not executed.

    Args:
        source_text: the text of a Python module.
        options: see `np2tf.Options`; None for the defaults.
        path: the name of the file, for diagnostics and for imports from the same program.

    Returns:
        The translated text with the findings. If the source cannot be parsed, the unchanged text with one
        diagnostic of severity `error`.
    """
    try:
        return translate(Source.of(source_text, path), options or Options())
    except SourceError as error:
        return Result(source_text, [error.diagnostic])


def translate(source: Source, options: Options) -> Result:
    """Translate one file; raise SourceError if it cannot be parsed."""
    before = source.original
    is_asked_for = options.everything or options.reexports
    if not is_asked_for and not is_candidate(source.text, source.program):
        return Result(before)
    report = Report.of(source.path, source.text)
    forget()
    try:
        facts = Facts.of(source.module, source.path, options.reexports, leaves_foreign=options.leaves_foreign)
        is_guess = False
        if options.target == "np2tf":
            has_work = import_statements.has_translations(
                facts, options.passed_on
            ) or staged_functions.has_staged_functions(facts, options)
        else:
            is_guess = not facts.imports.imports_numpy
            has_work = takes_arrays(facts) if is_guess else not tensorflow_target.is_translated(facts)
        if not has_work and not options.everything:
            if options.target == "np2tf":
                names.report_only(facts, report)
            return Result(before, list(report), facts=facts, suppressed_findings=report.suppressed_findings)
        plan = Plan(facts.parents, facts.compiler_nodes)
        if options.target == "np2tf":
            plan.tnp_name = import_statements.name_for_tnp(facts)
        for rewrite in TARGETS[options.target]:
            rewrite(facts, plan, report, options)
        if is_guess and any(finding.severity == "error" for finding in report):
            return Result(before, facts=facts)
        return result_of(source, facts, plan, report, options)
    except RecursionError:
        report.add("NP2TF903", 1, 1)
        return Result(before, list(report))


def _laid_out(tree: cst.Module, source: cst.Module, facts: Facts, plan: Plan, options: Options) -> cst.Module:
    """Return the translation with the lines of edited statements aligned and broken as in the source.

    Nobody reads a translation of everything, so its lines do not matter.
    """
    if options.everything:
        return tree

    def is_new(node: cst.CSTNode) -> bool:
        return facts.parents[node] is None

    tree = realign(tree, aligned_spaces(plan.touched_nodes), is_new, plan.note)
    if options.target != "np2tf":
        return tree
    return break_lines(tree, source, options.line_length, plan.note)


def mended(source: Source, places: Set[tuple[int, int]]) -> Result:
    """Write the removed names of NumPy that begin at these lines and columns as NumPy spells them now.

    Raises:
        ValueError: at one of the places there is no such name.
    """
    forget()
    facts = Facts.of(source.module, source.path)
    plan = Plan(facts.parents)
    mending.mend(facts, plan, places)
    return result_of(source, facts, plan, Report(source.path), Options())


def result_of(source: Source, facts: Facts, plan: Plan, report: Report, options: Options) -> Result:
    """Apply the plan of a file, and return the translation."""
    source.check_printing(plan.touched_nodes)
    tree = plan.apply(source.module)
    tree = _laid_out(tree, source.module, facts, plan, options)
    text = source.text_of(tree)
    compiler_functions = frozenset(
        node.name.value for node in facts.compiler_nodes if isinstance(node, cst.FunctionDef)
    )
    fields = (
        list(report),
        text != source.original,
        tree,
        plan.origins,
        plan.touched_nodes,
        compiler_functions,
        facts,
        report.suppressed_findings,
    )
    return Result(text, *fields)
