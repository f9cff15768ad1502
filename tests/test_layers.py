"""The layers: who may import whom, told by reading the sources."""

from __future__ import annotations

import ast
import graphlib
import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "np2tf"


def within(package: str, *names: str) -> tuple[str, ...]:
    """The full names of folders of one package."""
    return tuple(f"{package}.{name}" for name in names)


def stacked(package: str, levels: tuple[str, ...], floor: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Return the folders of one package, each with the folders before it, which it may import."""
    return {f"{package}.{level}": (*floor, *within(package, *levels[:k])) for k, level in enumerate(levels)}


# The modules that each part of the package may import. A module belongs to the part with the longest name
# that fits. A part's entry counts for these modules only, not for the modules of parts with longer names.
FLOOR = (
    "np2tf.rules",
    "np2tf.operators",
    "np2tf.draws",
    "np2tf.suppressions",
    "np2tf.diagnostics",
    "np2tf.candidates",
    "np2tf.garbage",
    *("np2tf.own_warnings", "np2tf.installation"),
)
TREE = ("np2tf.tree", *FLOOR)
FACTS = ("np2tf.facts", *within("np2tf.linking", "summary", "reexports"), *TREE)
REWRITES = ("np2tf.rewrites", "np2tf.options", *FACTS)
TRANSLATE = ("np2tf.pipeline", *REWRITES)
RIGHT_FLOOR = (
    *("np2tf.config", "np2tf.counts", "np2tf.faults", "np2tf.lazy", "np2tf.pytree", "np2tf.staging"),
    *("np2tf.transform_errors", *FLOOR),
)
TNP = ("np2tf.tnp", *RIGHT_FLOOR)
SCIPY = ("np2tf.scipy", *TNP)
RUNTIME = ("np2tf.runtime", *SCIPY)
TRANSFORMS = ("np2tf.transforms.core", *RUNTIME)
#: The levels of `tnp`, each over the levels before it.
LEVELS = (
    *("_front", "_warnings", "_tensor", "_slicing", "_array", "_operands", "_masked", "_dispatch"),
    *("_indexing", "_ufuncs"),
)
BELOW_CHAPTERS = (*RIGHT_FLOOR, *within("np2tf.tnp", *LEVELS))
#: The chapters of NumPy's functions -> the other chapters that they need. No two chapters need each other.
CHAPTERS: dict[str, tuple[str, ...]] = {
    "_chapters.reductions": (),
    "_chapters.manipulation.views": (),
    "_chapters.creation": ("_chapters.manipulation.views",),
    "_chapters.manipulation": ("_chapters.manipulation.views", "_chapters.creation"),
    "_chapters.indexing": ("_chapters.creation", "_chapters.manipulation.views"),
    "_chapters.products": ("_chapters.manipulation.views",),
    "_chapters.ufuncs": ("_chapters.reductions", "_chapters.creation"),
    "_chapters.sorting": ("_chapters.reductions", "_chapters.indexing"),
    "_chapters.statistics": ("_chapters.reductions", "_chapters.sorting"),
    "_chapters.logic": ("_chapters.reductions",),
    "_chapters.sets": ("_chapters.sorting",),
    "_chapters": (
        *("_chapters.creation", "_chapters.manipulation.views", "_chapters.reductions", "_chapters.sorting"),
        *("_chapters.statistics", "_chapters.indexing"),
        "random",
    ),
    "linalg": ("_chapters.products", "_chapters.manipulation.views", "_chapters.reductions"),
    "fft": ("linalg", "_chapters.products"),
    "polynomial": ("linalg", "_chapters.products"),
    "_methods": ("_chapters.indexing", "_chapters.manipulation.views"),
}
#: The folders of the run time -> the folders that they may import.
RUNTIME_FOLDERS: dict[str, tuple[str, ...]] = {
    "xla": (),
    "introspection": (),
    "structures": ("introspection",),
    "environment": (),
    "decisions": ("environment", "xla"),
    "replacement": ("decisions", "environment", "introspection"),
    "host": ("replacement", "decisions", "environment", "introspection"),
    "jit": ("host", "decisions", "environment", "introspection"),
    "effects": ("introspection",),
    "random.bits": ("xla",),
    "random": ("random.bits", "effects", "structures", "xla"),
    "tracing": ("random", "effects", "host", "structures", "environment", "introspection"),
    "arguments": ("random", "effects", "host", "replacement", "structures", "environment", "introspection"),
    "callees": ("staged_operators", "jit", "random", "effects", "environment", "introspection"),
    "control_flow": (
        *("arguments", "tracing", "effects", "structures", "environment", "introspection", "xla"),
    ),
    "staged_operators": ("control_flow", "arguments", "tracing", "structures", "environment"),
    "compilation": (
        *("staged_operators", "callees", "arguments", "tracing", "random", "effects", "jit", "host"),
        *("replacement", "decisions", "structures", "environment", "introspection", "xla"),
    ),
    "report": ("compilation", "jit", "host", "decisions", "introspection"),
}
#: The folders of `imports` -> the folders that they may import. All of them see both columns.
IMPORTS_FOLDERS: dict[str, tuple[str, ...]] = {
    "reporting": (),
    "loops": (),
    "code": ("loops", "reporting"),
    "cache": ("code", "reporting"),
    "hooks": ("cache", "reporting"),
    "functions": ("hooks", "cache", "code", "reporting"),
    "programs": ("hooks",),
}
BOTH_COLUMNS = (*TRANSLATE, *RUNTIME, "np2tf.linking", "np2tf.project")
CONTROL = within("np2tf.rewrites.control", "common", "constructs", "analysis")
ALLOWED: dict[str, tuple[str, ...]] = {
    "np2tf.rules": ("np2tf.draws",),
    "np2tf.draws": (),
    "np2tf.operators": ("np2tf.installation",),
    "np2tf.garbage": (),
    "np2tf.own_warnings": (),
    "np2tf.installation": ("np2tf.own_warnings",),
    "np2tf.faults": ("np2tf.counts", "np2tf.installation", "np2tf.own_warnings"),
    "np2tf.suppressions": (),
    "np2tf.diagnostics": ("np2tf.rules", "np2tf.suppressions"),
    "np2tf.coverage": ("np2tf.rules",),
    "np2tf.options": ("np2tf.linking.reexports",),
    "np2tf.configuration": ("np2tf.options", *FLOOR),
    "np2tf.disk": ("np2tf.configuration", "np2tf.options", *FLOOR),
    "np2tf.candidates": (),
    "np2tf.config": FLOOR,
    "np2tf.backend": ("np2tf.config", *FLOOR),
    "np2tf.counts": ("np2tf.staging", *FLOOR),
    "np2tf.lazy": ("np2tf.installation",),
    "np2tf.pytree": ("np2tf.pytree",),
    "np2tf.staging": ("np2tf.config", *FLOOR),
    "np2tf.tree": TREE,
    **stacked("np2tf.facts", ("module", "dataflow"), FACTS[1:]),
    "np2tf.facts": FACTS,
    "np2tf.rewrites.planning": FACTS,
    "np2tf.rewrites.mutation": ("np2tf.rewrites.planning", "np2tf.options", *FACTS),
    **stacked("np2tf.rewrites.control", ("common", "constructs", "analysis"), ("np2tf.options", *FACTS)),
    "np2tf.rewrites.control": (*CONTROL, "np2tf.rewrites.planning", "np2tf.options", *FACTS),
    "np2tf.rewrites.tensorflow_target.model": ("np2tf.rewrites.planning", "np2tf.linking.modules", *FACTS),
    "np2tf.rewrites.tensorflow_target.objects": ("np2tf.rewrites.tensorflow_target.model", *FACTS),
    "np2tf.rewrites.tensorflow_target.calls": (
        *within("np2tf.rewrites.tensorflow_target", "model", "objects"),
        *FACTS,
    ),
    "np2tf.rewrites.tensorflow_target.staging": (
        *("np2tf.rewrites.tensorflow_target.model", "np2tf.rewrites.planning", "np2tf.rewrites.mutation"),
        *FACTS,
    ),
    "np2tf.rewrites.tensorflow_target": (
        *within("np2tf.rewrites.tensorflow_target", "model", "objects", "calls", "staging"),
        *("np2tf.rewrites.planning", "np2tf.rewrites.mutation"),
        *("np2tf.options", *FACTS),
    ),
    "np2tf.rewrites": REWRITES,
    "np2tf.pipeline": TRANSLATE,
    "np2tf.notebooks": TREE,
    "np2tf.documents": TRANSLATE,
    "np2tf.files": ("np2tf.notebooks", "np2tf.documents", "np2tf.disk", *TRANSLATE),
    "np2tf.conversion": (
        *("np2tf.files", "np2tf.disk", "np2tf.options"),
        *within("np2tf.linking", "summary", "import_lines", "reexports"),
        *within("np2tf.imports.cache", "store", "files", "fingerprint"),
        *TRANSLATE,
    ),
    **dict.fromkeys(within("np2tf.linking", "summary", "import_lines"), ()),
    "np2tf.tree.python_trees": (),
    "np2tf.linking.reexports": ("np2tf.linking.import_lines", "np2tf.tree.python_trees"),
    "np2tf.linking": ("np2tf.linking", "np2tf.linking.summary"),
    "np2tf.project": (
        *("np2tf.files", "np2tf.disk", "np2tf.linking", "np2tf.notebooks"),
        *within("np2tf.conversion", "workers", "import_groups", "programs"),
        *TRANSLATE,
    ),
    "np2tf.formats": FLOOR,
    "np2tf.adopting": ("np2tf.configuration", *FLOOR),
    "np2tf.report": (
        *("np2tf.checking", "np2tf.disk", "np2tf.notebooks", "np2tf.project", "np2tf.options", *FLOOR),
        *("np2tf.rewrites.control", "np2tf.tree.source"),
    ),
    "np2tf.checking": (
        *(
            "np2tf.candidates",
            "np2tf.notebooks",
            "np2tf.documents",
            "np2tf.project",
            "np2tf.disk",
            "np2tf.options",
        ),
        *TREE,
    ),
    **stacked("np2tf.tnp", LEVELS, RIGHT_FLOOR),
    **{
        f"np2tf.tnp.{folder}": (*BELOW_CHAPTERS, *within("np2tf.tnp", *folders_below))
        for folder, folders_below in CHAPTERS.items()
    },
    "np2tf.tnp._entry": TNP,
    "np2tf.tnp._ragged": TNP,
    "np2tf.tnp": (*RIGHT_FLOOR, *within("np2tf.tnp", "_front", "_array")),
    **dict.fromkeys(within("np2tf.scipy.kernels", "special", "linalg"), ("np2tf.scipy.kernels", *SCIPY)),
    "np2tf.scipy.kernels.stats": (*within("np2tf.scipy.kernels", "special"), *SCIPY),
    "np2tf.scipy.kernels": SCIPY,
    "np2tf.scipy": (*RIGHT_FLOOR, "np2tf.tnp._front"),
    **{
        f"np2tf.runtime.{folder}": (*SCIPY, *within("np2tf.runtime", *folders_below))
        for folder, folders_below in RUNTIME_FOLDERS.items()
    },
    "np2tf.runtime": (),
    "np2tf.transform_errors": (),
    "np2tf.transforms.core": TRANSFORMS,
    "np2tf.transforms.lanes": ("np2tf.transforms.lanes", *TRANSFORMS),
    "np2tf.transforms": ("np2tf.transforms.lanes", *TRANSFORMS),
    **{
        f"np2tf.imports.{folder}": (*BOTH_COLUMNS, *within("np2tf.imports", *folders_below))
        for folder, folders_below in IMPORTS_FOLDERS.items()
    },
    "np2tf.imports": (*BOTH_COLUMNS, *within("np2tf.imports", *IMPORTS_FOLDERS)),
    "np2tf.distribute": ("np2tf.transforms", *TRANSFORMS),
    "np2tf.keras": (*BOTH_COLUMNS, "np2tf.imports"),
    "np2tf.ragged": ("np2tf.tnp._ragged", *RIGHT_FLOOR),
    "np2tf.nn": (*SCIPY, "np2tf.tnp"),
    "np2tf.random": ("np2tf.nn", "np2tf.tnp", *RIGHT_FLOOR),
    "np2tf.serving": (*BOTH_COLUMNS, "np2tf.imports"),
}
#: Functions that load, at the first call that needs it, the half of a package that needs TensorFlow.
LOADED_LATER = {
    ("np2tf.tnp._front.loading", "np2tf.tnp._entry.routing"),
    ("np2tf.tnp._front.rebound_names", "np2tf.tnp._tensor.storage"),
    ("np2tf.runtime.jit.jitted_function", "np2tf.runtime.compilation.compiling"),
    ("np2tf.runtime.replacement.replacement", "np2tf.runtime.compilation.loop_compiler"),
}
#: Names of modules in `LazyModule(…)` and `importlib.import_module(…)`: the same, and the translator, which
#: the run time asks for code that it meets, and whose cache keeps its decisions.
LOADED_BY_NAME = {
    ("np2tf.runtime.callees.callees", "np2tf.imports.functions.callees"),
    ("np2tf.runtime.callees.eager_callees", "np2tf.imports.functions.callees"),
    ("np2tf.runtime.callees.implicit_calls", "np2tf.imports.functions.callees"),
    ("np2tf.runtime.decisions.decisions", "np2tf.imports.cache.fingerprint"),
    ("np2tf.runtime.environment.host_memory", "np2tf.tnp._dispatch.devices"),
    ("np2tf.runtime.replacement.watched_loop", "np2tf.imports.functions.callees"),
    ("np2tf.scipy.front", "np2tf.scipy.kernels"),
    ("np2tf.tnp._array.ndarray", "np2tf.tnp._array.strides"),
    ("np2tf.tnp._array.ndarray", "np2tf.tnp._chapters.manipulation.views.shared_memory"),
    ("np2tf.tnp._array.ndarray", "np2tf.tnp._dispatch.residency"),
    ("np2tf.tnp._array.ndarray", "np2tf.tnp._entry.routing"),
    ("np2tf.tnp._array.ndarray", "np2tf.tnp._slicing.view_transforms"),
    ("np2tf.tnp._array.subclasses", "np2tf.tnp._array.ndarray"),
    ("np2tf.tnp._entry.routing", "np2tf.tnp._methods.numpy_protocols"),
    ("np2tf.tnp._entry.routing", "np2tf.tnp._methods.tensorflow_protocols"),
    ("np2tf.tnp._front.at", "np2tf.tnp._entry.at_tensors"),
    ("np2tf.tnp._front.front", "np2tf.tnp._entry.routing"),
    ("np2tf.tnp._front.operand_kinds", "np2tf.tnp._front.tape_advice"),
    ("np2tf.tnp.random", "np2tf.tnp._chapters.random"),
    ("np2tf.tnp._operands.foreign_operands", "np2tf.tnp._ragged.ragged_array"),
    ("np2tf.tnp._operands.foreign_operands", "np2tf.tnp._ragged.tensorflow_calls"),
    ("np2tf.runtime.environment.graph_draws", "np2tf.tnp._chapters.random"),
    ("np2tf.tnp", "np2tf.runtime.environment.tensorflow_patches"),
}
LEFT = (
    *("np2tf.tree", "np2tf.facts", "np2tf.rewrites", "np2tf.pipeline", "np2tf.files", "np2tf.options"),
    *(
        "np2tf.linking.summary",
        "np2tf.linking",
        "np2tf.project",
        "np2tf.configuration",
        "np2tf.disk",
        "np2tf.conversion",
        "np2tf.formats",
        "np2tf.checking",
        "np2tf.notebooks",
        "np2tf.documents",
    ),
)
RIGHT = (
    "np2tf.distribute",
    "np2tf.nn",
    "np2tf.random",
    "np2tf.tnp",
    "np2tf.scipy",
    "np2tf.runtime",
    "np2tf.config",
    "np2tf.counts",
    "np2tf.faults",
    "np2tf.lazy",
    "np2tf.pytree",
    "np2tf.staging",
    "np2tf.transform_errors",
    "np2tf.transforms",
)
BOTH = (
    "np2tf.own_warnings",
    "np2tf.installation",
    "np2tf.rules",
    "np2tf.suppressions",
    "np2tf.diagnostics",
    "np2tf.coverage",
)


def modules() -> dict[str, Path]:
    """Every module of the package by name."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = ["np2tf", *path.relative_to(PACKAGE).with_suffix("").parts]
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


def belongs(module: str, parts: tuple[str, ...]) -> bool:
    """Return whether a module is one of these parts of the package, or inside such a part."""
    return any(module == part or module.startswith(part + ".") for part in parts)


def imports(module: str, *, at_import: bool = False) -> set[str]:
    """Return the full names that a module imports; with `at_import`, only the imports of its loading."""
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    found: set[str] = set()
    stack: list[ast.AST] = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            stack.extend(node.orelse)
            continue
        if at_import and isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found |= _from(module, node)
        stack.extend(ast.iter_child_nodes(node))
    return found


def _from(module: str, node: ast.ImportFrom) -> set[str]:
    base = node.module or ""
    if node.level:
        package = module if MODULES[module].name == "__init__.py" else module.rpartition(".")[0]
        parts = package.split(".")
        base = ".".join([*parts[: len(parts) - node.level + 1], *([base] if base else [])])
    full = {f"{base}.{alias.name}" for alias in node.names}
    return {name if name in MODULES else base for name in full}


@pytest.mark.parametrize("module", sorted(MODULES))
def test_imports_go_down(module: str) -> None:
    """No module imports upwards or across."""
    layer = next((part for part in sorted(ALLOWED, key=len, reverse=True) if belongs(module, (part,))), None)
    if layer is None:
        assert module == "np2tf" or belongs(module, ("np2tf.commands", "np2tf.verify"))
        return
    np2tf_imports = {name for name in imports(module) if belongs(name, ("np2tf",)) and name != module}
    later = {
        name for name in np2tf_imports - imports(module, at_import=True) if (module, name) in LOADED_LATER
    }
    wrong = {name for name in np2tf_imports - later if not allowed(name, layer)}
    assert not wrong


def allowed(name: str, layer: str) -> bool:
    """Return whether a module of this layer may import `name`: a neighbour, or a part in the layer's entry.

    The package's own names lead to both columns, so `imports/` may ask for them.
    """
    if name == "np2tf":
        return belongs(layer, ("np2tf.imports",))
    return name == layer or folder_of(name) == layer or belongs(name, ALLOWED[layer])


def folder_of(module: str) -> str:
    """The folder that a module lies in; a package is its own."""
    return module if MODULES[module].name == "__init__.py" else module.rpartition(".")[0]


FOLDERS = sorted({folder_of(module) for module in MODULES})
TESTS = PACKAGE.parent / "tests"
#: The folders of tests that are about the whole, or about the repository's other parts.
OF_THE_WHOLE = frozenset(
    {"conformance", "corpus", "docs", "examples", "fuzz", "helpers", "numpy_suite", "target_tf", "tools"}
)
#: The other folders with tests, relative to `tests/`.
TESTED = sorted(
    {
        folder
        for path in TESTS.rglob("test_*.py")
        for folder in [path.parent.relative_to(TESTS).as_posix()]
        if folder != "." and folder.partition("/")[0] not in OF_THE_WHOLE
    }
)


@pytest.mark.parametrize("folder", TESTED)
def test_tests_mirror_the_package(folder: str) -> None:
    """The tests of a folder of the package are in the folder of tests of the same path."""
    names = {re.sub(r"\b_", "", one.removeprefix("np2tf.").replace(".", "/")) for one in FOLDERS}
    assert folder in names


@pytest.mark.parametrize("folder", sorted({path.parent.name for path in PACKAGE.glob("*/[!_]*.py")}))
def test_folders_are_tested(folder: str) -> None:
    """A folder below the package's top has a folder of tests, which may serve the folders in it, too."""
    assert any((TESTS / folder).rglob("test_*.py"))


def test_entries_are_of_folders() -> None:
    """No entry is of what has been moved or deleted."""
    assert {folder for folder in ALLOWED if folder not in MODULES} == set()
    assert {folder for layer in ALLOWED.values() for folder in layer if folder not in MODULES} == set()
    for module, later in LOADED_LATER:
        assert later in imports(module) - imports(module, at_import=True)


def test_folders_do_not_import_one_another() -> None:
    """The folders have an order: no two import each other, directly or by way of other folders."""
    graph: dict[str, set[str]] = {folder: set() for folder in FOLDERS}
    for module in MODULES:
        for name in imports(module):
            if name in MODULES and (module, name) not in LOADED_LATER:
                graph[folder_of(module)].add(folder_of(name))
    for folder, other_folders in graph.items():  # of the modules at the top each is a part of its own
        other_folders -= {folder, "np2tf"}
    del graph["np2tf"]
    list(graphlib.TopologicalSorter(graph).static_order())


def test_modules_that_are_named_in_texts() -> None:
    """No module is loaded by its name, except the known modules: no import would show such a module."""
    found = set()
    for module, path in MODULES.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(
                ("LazyModule", "import_module")
            ):
                named = [constant.value for constant in node.args if isinstance(constant, ast.Constant)]
                found |= {(module, name) for name in named if name in MODULES}
    assert found == LOADED_BY_NAME


@pytest.mark.parametrize("module", sorted(MODULES))
def test_columns(module: str) -> None:
    """The left column has no tensorflow and no numpy, the right one no libcst, and the floor none of them."""
    outside = {name.split(".")[0] for name in imports(module)}
    if belongs(module, LEFT + BOTH):
        assert not outside & {"numpy", "tensorflow", "keras"}
    if belongs(module, RIGHT + BOTH):
        assert not outside & {"libcst"}


def test_no_cycles() -> None:
    """No module imports, while it loads, a module that imports it."""
    graph = {
        name: {i for i in imports(name, at_import=True) if i in MODULES and i != name} for name in MODULES
    }
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        assert name not in path, " -> ".join([*path[path.index(name) :], name])
        if name not in done:
            for imported in graph[name]:
                visit(imported, (*path, name))
            done.add(name)

    for name in graph:
        visit(name, ())


def test_the_test_sees_what_it_should() -> None:
    """The reader of imports is not blind: it finds known imports, absolute, relative and inside functions."""
    assert "np2tf.diagnostics" in imports("np2tf.tree.source")
    assert "rich.console" in imports("np2tf.commands.tables.console")
    assert "rich.console" not in imports("np2tf.commands.tables.console", at_import=True)
    assert len(MODULES) > 40


#: The array's own module, and the way of small eager operations, where a call more would be felt.
ARRAYS_OWN = (
    "tnp/_array/ndarray.py",
    "tnp/_dispatch/eager_fast_path.py",
    "tnp/_indexing/eager_fast_path.py",
)


def test_only_its_own_module_touches_an_arrays_fields() -> None:
    """`storage_of`, `chain_of` and `move_to` are the ways to the storage for everybody else."""
    touching = re.compile(r"\._(storage|chain|cache)\b")
    found = {}
    for part in ("tnp", "runtime"):
        for path in sorted((PACKAGE / part).rglob("*.py")):
            lines = [line for line in path.read_text().splitlines() if touching.search(line)]
            if lines and str(path.relative_to(PACKAGE)) not in ARRAYS_OWN:
                found[str(path.relative_to(PACKAGE))] = lines
    assert found == {}
