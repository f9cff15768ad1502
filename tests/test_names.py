"""Names are nouns for things and verbs for actions: no participle and no pronoun stands alone as a name."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "np2tf"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


PRONOUNS = _words(
    """one ones other others another those these this that it its they them mine ours theirs yours his hers
    what which who whom each either neither both all any some same such rest none nothing something anything
    everything most few many several own us we"""
)
#: Participles that no ending gives away.
IRREGULAR = _words(
    """held kept made found given taken placed put gone met told known shown seen done been become begun
    bound broken brought built bought caught chosen come cut dealt drawn driven fallen fed forgotten frozen
    got grown heard hidden hit laid led left lent lost meant paid read rebuilt run said sent set shaken shut
    sold sought spent split spread spoken stood stolen stuck taught thought thrown torn understood undone
    unset won worn written overridden rewritten unbound"""
)
#: Words that end like participles, and are none.
OTHER_WORDS = _words("children even fromstring hamming hanning padlen ragged ring seed string then token")
#: Participles that are also the base form of their verb: a function of the name says what it does.
VERBS = _words("cut put read run set split spread open flatten widen")
#: Words of these forms that are nouns.
NOUNS = _words(
    """binding encoding finding heading listing lowering matching naming packing rebinding recording rounding
    routing run setting spacing staging typing drawing tracing"""
)
#: Parameters and variables: a side, kinds of integers, words that NumPy, SciPy and JAX give to parameters.
PARAMETERS = _words("left signed unsigned casting descending desired indexing padding")
#: Names that may stay, by the reason.
ALLOWED: dict[str, frozenset[str]] = {
    "names of NumPy, Python, TensorFlow and libcst": _words(
        """np2tf.runtime.staged_operators.builtins:any np2tf.runtime.staged_operators.builtins:all
        np2tf.runtime.staged_operators.iterables:reversed np2tf.tnp._chapters.reductions.truth:any
        np2tf.tnp._chapters.reductions.truth:all np2tf.tnp._chapters.creation.from_shape:ones
        np2tf.pytree.containers:SET np2tf.transforms.core.structures:NONE
        np2tf.tnp._chapters.sorting.sort:searchsorted
        np2tf.tnp._chapters.indexing.put
        np2tf.runtime.environment.tensorflow_import:_WatchedSpec._initializing
        np2tf.tree.printing:_Block._codegen np2tf.facts.module.positions:_NoBlock._codegen"""
    ),
    "public names, which programs use": _words(
        """np2tf.operators.undefined:Undefined np2tf.operators.undefined:undefined np2tf.config:Config.using
        np2tf.imports.hooks.hook:translating np2tf.counts:Counts.compiled np2tf.counts:Counts.unjitted
        np2tf.counts:TakenOver.compiled np2tf.counts:TakenOver.compiling np2tf.counts:TakenOver.returned
        np2tf.runtime.report.report:Function.compiled np2tf.runtime.report.report:Function.compiling
        np2tf.runtime.report.report:Function.inlined np2tf.runtime.report.report:Report.compiled
        np2tf.runtime.report.report:Report.compiling np2tf.runtime.report.report:Report.unjitted
        np2tf.runtime.compilation.explanation:Explanation.fixed np2tf.report.runs:RanFunction.compiled
        np2tf.report.runs:RanFunction.compiling np2tf.verify.own_tests:OwnTestsOutcome.translated
        np2tf.verify.own_tests:Pair.translated np2tf.verify.compare:Difference.expected
        np2tf.options:Options.everything"""
    ),
    "terms of the glossary, and of what they name": _words(
        """np2tf.runtime.structures.carried_values:Carried np2tf.operators.table:Operator.staged
        np2tf.rewrites.control.fates:STAGED np2tf.rewrites.control.fates:CALLED
        np2tf.rewrites.mutation.order:Effect.FIXED np2tf.operators.undefined
        np2tf.runtime.compilation.compiled_code:CompiledCode._jitted np2tf.tnp._masked"""
    ),
    "second operands, which Python's documentation calls so": _words(
        """np2tf.tnp._methods.operators:general(other) np2tf.tnp._methods.operators:forward(other)
        np2tf.tnp._methods.operators:backward(other) np2tf.tnp._methods.operators:update(other)
        np2tf.tnp._methods.operators:compare(other)"""
    ),
    "functions that are kept as an attribute or under a second name": _words(
        "np2tf.runtime.introspection.places:Place.read np2tf.runtime.structures.carried_values:flatten"
    ),
}


class Definition(NamedTuple):
    """A name that a module defines: its place, its kind, and whether it names a truth value."""

    place: str
    name: str
    kind: str
    is_flag: bool = False


def word_of(name: str) -> str:
    """Return a name as lower-case words that underscores separate."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.strip("_")).lower()


def is_fault(definition: Definition) -> bool:
    """Return whether a name is a pronoun, or a participle that neither is a noun nor names a truth value."""
    word = word_of(definition.name)
    if definition.name.startswith("__") or "_" in word or word in OTHER_WORDS:
        return False
    if word in NOUNS or (word in VERBS and definition.kind == "function"):
        return False
    if word in PRONOUNS:
        return True
    if definition.is_flag:
        return False
    if definition.kind in ("parameter", "local") and word in PARAMETERS:
        return False
    # A form in -ing names an activity as the subject of a module or class.
    endings = r"(ed|en)$" if definition.kind in ("module", "class") else r"(ed|en|ing)$"
    return word in IRREGULAR or (len(word) > 3 and re.search(endings, word) is not None)


def _is_truth(annotation: ast.expr | None, value: ast.expr | None = None) -> bool:
    annotated = annotation is not None and ast.unparse(annotation) in ("bool", "bool | None")
    return annotated or (isinstance(value, ast.Constant) and isinstance(value.value, bool))


def definitions(module: str, tree: ast.Module) -> Iterator[Definition]:
    """Yield the module's name, and its variables, classes, functions, methods and fields."""
    yield Definition(module, module.rpartition(".")[2], "module")
    yield from _inside(module, tree, "", tree)


def _inside(module: str, node: ast.AST, path: str, tree: ast.Module) -> Iterator[Definition]:
    for child in ast.iter_child_nodes(node):
        place = f"{module}:{path}"
        if isinstance(child, ast.ClassDef):
            yield Definition(place + child.name, child.name, "class")
            yield from _inside(module, child, f"{path}{child.name}.", tree)
            yield from _own_fields(place, child)
        elif isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield Definition(place + child.name, child.name, "function", _is_truth(child.returns))
        elif isinstance(child, ast.AnnAssign) and isinstance(child.target, ast.Name):
            name = child.target.id
            yield Definition(place + name, name, "variable", _is_truth(child.annotation, child.value))
        elif isinstance(child, ast.Assign):
            for target in child.targets:
                for part in ast.walk(target):
                    if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                        yield Definition(place + part.id, part.id, "variable", _is_truth(None, child.value))
        elif isinstance(child, (ast.If, ast.Try, ast.With, ast.For)):
            yield from _inside(module, child, path, tree)


def parameters(module: str, tree: ast.Module) -> Iterator[Definition]:
    """Yield the parameters of all functions, except the second operands of Python's operators."""
    for function in ast.walk(tree):
        if not isinstance(function, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            continue
        name = getattr(function, "name", "lambda")
        arguments = function.args
        every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        for parameter in (*every, arguments.vararg, arguments.kwarg):
            if parameter is not None and not (parameter.arg == "other" and name.startswith("__")):
                place = f"{module}:{name}({parameter.arg})"
                yield Definition(place, parameter.arg, "parameter", _is_truth(parameter.annotation))


def local_names(module: str, tree: ast.Module) -> Iterator[Definition]:
    """Yield the variables and inner functions of functions, and the variables of comprehensions."""
    for scope in ast.walk(tree):
        if not isinstance(scope, _SCOPES):
            continue
        place = f"{module}:{getattr(scope, 'name', 'comprehension')}"
        nodes = list(_own_nodes(scope))
        numbers = {name for node in nodes for name in _numbers(node)}
        others = _bound_to_others(nodes)
        for node in nodes:
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id not in numbers:
                yield Definition(f"{place}, {node.id}", node.id, "local", node.id not in others)
            elif isinstance(node, ast.FunctionDef):
                yield Definition(f"{place}, {node.name}", node.name, "function", _is_truth(node.returns))


def _own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a function or comprehension, except the nodes of functions in it."""
    for child in ast.iter_child_nodes(scope):
        yield child
        if not isinstance(child, _SCOPES):
            yield from _own_nodes(child)


def _bound_to_others(nodes: list[ast.AST]) -> set[str]:
    """Return the variables that a statement binds to anything but a truth value."""
    truths: list[str] = []
    every = [node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
    for node in nodes:
        if isinstance(node, ast.Assign):
            targets, is_truth = node.targets, _gives_truth(node.value)
        elif isinstance(node, ast.AnnAssign):
            targets, is_truth = [node.target], _is_truth(node.annotation) or _gives_truth(node.value)
        elif isinstance(node, ast.NamedExpr):
            targets, is_truth = [node.target], _gives_truth(node.value)
        else:
            continue
        truths += [target.id for target in targets if is_truth and isinstance(target, ast.Name)]
    return {name for name in every if every.count(name) > truths.count(name)}


def _gives_truth(value: ast.expr | None) -> bool:
    """Return whether an expression clearly gives True or False."""
    match value:
        case ast.Constant():
            return isinstance(value.value, bool)
        case ast.Compare():
            return True
        case ast.UnaryOp():
            return isinstance(value.op, ast.Not)
        case ast.BoolOp():
            return all(map(_gives_truth, value.values))
        case ast.IfExp():
            return _gives_truth(value.body) and _gives_truth(value.orelse)
        case ast.Call():
            name = ast.unparse(value.func).rpartition(".")[2].strip("_")
            return bool(re.match(r"(is|has|are|can|may|must|does|same)_|(isinstance|any|all|bool)$", name))
    return False


_SCOPES = (
    *(ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda),
    *(ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp),
)


def _numbers(node: ast.AST) -> Iterator[str]:
    """Yield `one` if a statement binds it to the number one, as in `zero, one = constant(0), constant(1)`."""
    if isinstance(node, ast.Assign) and re.search(r"\b1\b|\bones(_like)?\b", ast.unparse(node.value)):
        bound = (
            part.id for target in node.targets for part in ast.walk(target) if isinstance(part, ast.Name)
        )
        yield from (name for name in bound if name == "one")


def _own_fields(place: str, node: ast.ClassDef) -> Iterator[Definition]:
    flags = {
        part.attr
        for statement in ast.walk(node)
        if isinstance(statement, (ast.Assign, ast.AnnAssign))
        and _is_truth(getattr(statement, "annotation", None), statement.value)
        for target in (statement.targets if isinstance(statement, ast.Assign) else [statement.target])
        for part in ast.walk(target)
        if isinstance(part, ast.Attribute)
    }
    for part in ast.walk(node):
        is_stored = isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Store)
        if is_stored and ast.unparse(part.value) == "self":
            yield Definition(f"{place}{node.name}.{part.attr}", part.attr, "variable", part.attr in flags)


#: Files of the package's modules by their full names.
MODULES = {
    ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
}


@functools.cache
def faults() -> set[str]:
    """Return the places of all faults. The collection of tests need not read the modules."""
    trees = {module: ast.parse(path.read_text(encoding="utf-8")) for module, path in MODULES.items()}
    return {
        definition.place
        for module, tree in trees.items()
        for find in (definitions, parameters, local_names)
        for definition in find(module, tree)
        if is_fault(definition)
    }


EXCEPTIONS = frozenset[str]().union(*ALLOWED.values())
PARTS = sorted({".".join(module.split(".")[:3]) for module in MODULES})


@pytest.mark.parametrize("part", PARTS)
def test_names(part: str) -> None:
    """No module, class, function, parameter, field or variable is named by a mere participle or pronoun."""
    inside = {place for place in faults() if re.match(rf"{re.escape(part)}(?![\w])", place)}
    assert sorted(inside - EXCEPTIONS) == []


def test_exceptions_are_needed() -> None:
    """An exception is of a name that exists and would be a fault."""
    assert not EXCEPTIONS - faults()


def test_the_test_sees_names() -> None:
    """Participles and pronouns are found wherever a name is defined; verbs, nouns and flags are none."""
    text = (
        "kept = 1\n_ONES = 2\nclass Held:\n    others: int = 0\n    known: bool = False\n"
        "    def __init__(self):\n        self.made = {}\n        self.begun = False\n"
        "    def placed(self): ...\n    def read(self): ...\n    def changed(self) -> bool: ...\n"
        "def given(): ...\nfor each in range(3):\n    taken = each\nfinding = written_names = 3\n"
    )
    found = [
        definition.place for definition in definitions("m.moved", ast.parse(text)) if is_fault(definition)
    ]
    expected = ["kept", "_ONES", "Held", "Held.others", "Held.placed", "Held.made", "given", "taken"]
    assert found == ["m.moved", *[f"m.moved:{name}" for name in expected]]
    text = (
        "class A:\n    def __eq__(self, other): ...\n    def join(self, other, *rest, met: bool, left): ...\n"
        "def f(given, *, casting):\n    one, left = [others for others in given], 2\n    def each(): ...\n"
        "    found = is_f(one) or left > 1\n    if found:\n        made = found\n"
        "def g(x):\n    zero, one = constant(0, x), constant(1, x)\n    return lambda made: zero + one\n"
    )
    tree = ast.parse(text)
    found = sorted(definition.place for definition in parameters("m", tree) if is_fault(definition))
    assert found == ["m:f(given)", "m:join(other)", "m:join(rest)", "m:lambda(made)"]
    found = sorted({definition.place for definition in local_names("m", tree) if is_fault(definition)})
    assert found == ["m:comprehension, others", "m:f, each", "m:f, made", "m:f, one"]
    assert len(faults()) > 20
    assert len(PARTS) > 50
