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
    "np2tf.core.rules",
    "np2tf.core",
    "np2tf.core.rules",
    "np2tf.core.suppressions",
    "np2tf.core.diagnostics",
    "np2tf.translate.sources.candidates",
    "np2tf.core.late",
    *("np2tf.core.own_warnings", "np2tf.core.late"),
)
TREE = ("np2tf.translate", *FLOOR)
FACTS = ("np2tf.translate.facts.facts", *within("np2tf.translate", "summary", "reexports"), *TREE)
REWRITES = ("np2tf.translate", "np2tf.translate.sources.options", *FACTS)
TRANSLATE = ("np2tf.translate.pipeline", *REWRITES)
RIGHT_FLOOR = (
    *(
        "np2tf.core.settings",
        "np2tf.core.counts",
        "np2tf.core.faults",
        "np2tf.core.late",
        "np2tf.core",
        "np2tf.core.errors",
    ),
    *("np2tf.core.errors", *FLOOR),
)
TNP = ("np2tf.tnp", *RIGHT_FLOOR)
SCIPY = ("np2tf.arrays.scipy", *TNP)
RUNTIME = ("np2tf.staging.control", *SCIPY)
TRANSFORMS = ("np2tf.transforms", *RUNTIME)
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
BOTH_COLUMNS = (*TRANSLATE, *RUNTIME, "np2tf.translate", "np2tf.translate.batch.project")
CONTROL = within("np2tf.translate.control.staged_functions", "common", "constructs", "analysis")
ALLOWED: dict[str, tuple[str, ...]] = {
    "np2tf.core.rules": ("np2tf.core.rules",),
    "np2tf.core.rules": (),
    "np2tf.core": ("np2tf.core.late",),
    "np2tf.core.late": (),
    "np2tf.core.own_warnings": (),
    "np2tf.core.late": ("np2tf.core.own_warnings",),
    "np2tf.core.faults": ("np2tf.core.counts", "np2tf.core.late", "np2tf.core.own_warnings"),
    "np2tf.core.suppressions": (),
    "np2tf.core.diagnostics": ("np2tf.core.rules", "np2tf.core.suppressions"),
    "np2tf.cli.commands.coverage": ("np2tf.core.rules",),
    "np2tf.translate.sources.options": ("np2tf.translate.sources.names_between_files",),
    "np2tf.cli.configuration": ("np2tf.translate.sources.options", *FLOOR),
    "np2tf.translate.batch": ("np2tf.cli.configuration", "np2tf.translate.sources.options", *FLOOR),
    "np2tf.translate.sources.candidates": (),
    "np2tf.core.settings": FLOOR,
    "np2tf.core.settings": ("np2tf.core.settings", *FLOOR),
    "np2tf.core.counts": ("np2tf.core.errors", *FLOOR),
    "np2tf.core.late": ("np2tf.core.late",),
    "np2tf.core": ("np2tf.core",),
    "np2tf.core.errors": ("np2tf.core.settings", *FLOOR),
    "np2tf.translate": TREE,
    **stacked("np2tf.translate.facts.facts", ("module", "dataflow"), FACTS[1:]),
    "np2tf.translate.facts.facts": FACTS,
    "np2tf.translate.rewrites": FACTS,
    "np2tf.translate.rewrites.writes": (
        "np2tf.translate.rewrites",
        "np2tf.translate.sources.options",
        *FACTS,
    ),
    **stacked(
        "np2tf.translate.control.staged_functions",
        ("common", "constructs", "analysis"),
        ("np2tf.translate.sources.options", *FACTS),
    ),
    "np2tf.translate.control.staged_functions": (
        *CONTROL,
        "np2tf.translate.rewrites",
        "np2tf.translate.sources.options",
        *FACTS,
    ),
    "np2tf.translate.tensorflow": ("np2tf.translate.rewrites", "np2tf.translate.linking.modules", *FACTS),
    "np2tf.translate.tensorflow": ("np2tf.translate.tensorflow", *FACTS),
    "np2tf.translate.tensorflow": (
        *within("np2tf.translate.tensorflow", "model", "objects"),
        *FACTS,
    ),
    "np2tf.translate.tensorflow": (
        *("np2tf.translate.tensorflow", "np2tf.translate.rewrites", "np2tf.translate.rewrites.writes"),
        *FACTS,
    ),
    "np2tf.translate.tensorflow": (
        *within("np2tf.translate.tensorflow", "model", "objects", "calls", "staging"),
        *("np2tf.translate.rewrites", "np2tf.translate.rewrites.writes"),
        *("np2tf.translate.sources.options", *FACTS),
    ),
    "np2tf.translate": REWRITES,
    "np2tf.translate.pipeline": TRANSLATE,
    "np2tf.translate": TREE,
    "np2tf.translate": TRANSLATE,
    "np2tf.translate.batch.one_file": (
        "np2tf.translate",
        "np2tf.translate",
        "np2tf.translate.batch",
        *TRANSLATE,
    ),
    "np2tf.translate.batch": (
        *("np2tf.translate.batch.one_file", "np2tf.translate.batch", "np2tf.translate.sources.options"),
        *within("np2tf.translate", "summary", "import_lines", "reexports"),
        *within("np2tf.loading", "store", "files", "fingerprint"),
        *TRANSLATE,
    ),
    **dict.fromkeys(within("np2tf.translate", "summary", "import_lines"), ()),
    "np2tf.translate.sources.candidates": (),
    "np2tf.translate.sources.names_between_files": (
        "np2tf.translate.sources.names_between_files",
        "np2tf.translate.sources.candidates",
    ),
    "np2tf.translate": ("np2tf.translate", "np2tf.translate.linking.summary"),
    "np2tf.translate.batch.project": (
        *("np2tf.translate.batch.one_file", "np2tf.translate.batch", "np2tf.translate", "np2tf.translate"),
        *within("np2tf.translate.batch", "workers", "import_groups", "programs"),
        *TRANSLATE,
    ),
    "np2tf.cli.check.formats": FLOOR,
    "np2tf.cli": ("np2tf.cli.configuration", *FLOOR),
    "np2tf.cli.report": (
        *(
            "np2tf.cli.check",
            "np2tf.translate.batch",
            "np2tf.translate",
            "np2tf.translate.batch.project",
            "np2tf.translate.sources.options",
            *FLOOR,
        ),
        *("np2tf.translate.control.staged_functions", "np2tf.translate.tree.source"),
    ),
    "np2tf.cli.check": (
        *(
            "np2tf.translate.sources.candidates",
            "np2tf.translate",
            "np2tf.translate",
            "np2tf.translate.batch.project",
            "np2tf.translate.batch",
            "np2tf.translate.sources.options",
        ),
        *TREE,
    ),
    **stacked("np2tf.tnp", LEVELS, RIGHT_FLOOR),
    **{
        f"np2tf.tnp.{folder}": (*BELOW_CHAPTERS, *within("np2tf.tnp", *folders_below))
        for folder, folders_below in CHAPTERS.items()
    },
    "np2tf.arrays.entry": TNP,
    "np2tf.arrays": TNP,
    "np2tf.tnp": (*RIGHT_FLOOR, *within("np2tf.tnp", "_front", "_array")),
    **dict.fromkeys(
        within("np2tf.arrays.scipy.declare", "special", "linalg"), ("np2tf.arrays.scipy.declare", *SCIPY)
    ),
    "np2tf.arrays.scipy": (*within("np2tf.arrays.scipy.declare", "special"), *SCIPY),
    "np2tf.arrays.scipy.declare": SCIPY,
    "np2tf.arrays.scipy": (*RIGHT_FLOOR, "np2tf.arrays.front"),
    **{
        f"np2tf.staging.control.{folder}": (*SCIPY, *within("np2tf.staging.control", *folders_below))
        for folder, folders_below in RUNTIME_FOLDERS.items()
    },
    "np2tf.staging.control": (),
    "np2tf.core.errors": (),
    "np2tf.transforms": TRANSFORMS,
    "np2tf.transforms.lanes": ("np2tf.transforms.lanes", *TRANSFORMS),
    "np2tf.transforms": ("np2tf.transforms.lanes", *TRANSFORMS),
    **{
        f"np2tf.loading.{folder}": (*BOTH_COLUMNS, *within("np2tf.loading", *folders_below))
        for folder, folders_below in IMPORTS_FOLDERS.items()
    },
    "np2tf.loading": (*BOTH_COLUMNS, *within("np2tf.loading", *IMPORTS_FOLDERS)),
    "np2tf.distribute": ("np2tf.transforms", *TRANSFORMS),
    "np2tf.keras": (*BOTH_COLUMNS, "np2tf.loading"),
    "np2tf.ragged": ("np2tf.arrays", *RIGHT_FLOOR),
    "np2tf.nn": (*SCIPY, "np2tf.tnp"),
    "np2tf.random": ("np2tf.nn", "np2tf.tnp", *RIGHT_FLOOR),
    "np2tf.integrations.serving": (*BOTH_COLUMNS, "np2tf.loading"),
}
#: Functions that load, at the first call that needs it, the half of a package that needs TensorFlow.
LOADED_LATER = {
    ("np2tf.arrays.front.tensorflow_loading", "np2tf.arrays.entry.routing"),
    ("np2tf.arrays.front.namespace", "np2tf.arrays.tensors.storage"),
    ("np2tf.staging.host.jit", "np2tf.staging.compile.compiler"),
    ("np2tf.staging.host.replacement", "np2tf.staging.compile.loop_compiler"),
}
#: Names of modules in `LazyModule(…)` and `importlib.import_module(…)`: the same, and the translator, which
#: the run time asks for code that it meets, and whose cache keeps its decisions.
LOADED_BY_NAME = {
    ("np2tf.staging.callees.callees", "np2tf.loading.functions.staged_versions"),
    ("np2tf.staging.callees.eager_callees", "np2tf.loading.functions.staged_versions"),
    ("np2tf.staging.callees.callees", "np2tf.loading.functions.staged_versions"),
    ("np2tf.staging.tiers.history", "np2tf.core.cache"),
    ("np2tf.staging.process.boundary", "np2tf.arrays.dispatch.placement"),
    ("np2tf.staging.host.watched_loops", "np2tf.loading.functions.staged_versions"),
    ("np2tf.arrays.front.scipy_functions", "np2tf.arrays.scipy.declare"),
    ("np2tf.arrays.array.ndarray", "np2tf.arrays.array.layout"),
    ("np2tf.arrays.array.ndarray", "np2tf.arrays.functions.shared_memory"),
    ("np2tf.arrays.array.ndarray", "np2tf.arrays.dispatch.placement"),
    ("np2tf.arrays.array.ndarray", "np2tf.arrays.entry.routing"),
    ("np2tf.arrays.array.ndarray", "np2tf.arrays.array.view_transforms"),
    ("np2tf.arrays.array.ndarray", "np2tf.arrays.array.ndarray"),
    ("np2tf.arrays.entry.routing", "np2tf.arrays.methods.protocols"),
    ("np2tf.arrays.entry.routing", "np2tf.arrays.methods.tensorflow_protocols"),
    ("np2tf.arrays.front.at", "np2tf.arrays.entry.at_tensors"),
    ("np2tf.arrays.front.numpy_functions", "np2tf.arrays.entry.routing"),
    ("np2tf.arrays.front.residency", "np2tf.arrays.front.tape_advice"),
    ("np2tf.arrays.front.random_generators", "np2tf.arrays.functions.random_draws"),
    ("np2tf.arrays.operands.conversion", "np2tf.arrays.ragged"),
    ("np2tf.arrays.operands.conversion", "np2tf.arrays.ragged"),
    ("np2tf.staging.process.boundary", "np2tf.arrays.functions.random_draws"),
    ("np2tf.tnp", "np2tf.staging.process.tensorflow_patches"),
}
LEFT = (
    *(
        "np2tf.translate",
        "np2tf.translate.facts.facts",
        "np2tf.translate",
        "np2tf.translate.pipeline",
        "np2tf.translate.batch.one_file",
        "np2tf.translate.sources.options",
    ),
    *(
        "np2tf.translate.linking.summary",
        "np2tf.translate",
        "np2tf.translate.batch.project",
        "np2tf.cli.configuration",
        "np2tf.translate.batch",
        "np2tf.translate.batch",
        "np2tf.cli.check.formats",
        "np2tf.cli.check",
        "np2tf.translate",
        "np2tf.translate",
    ),
)
RIGHT = (
    "np2tf.distribute",
    "np2tf.nn",
    "np2tf.random",
    "np2tf.tnp",
    "np2tf.arrays.scipy",
    "np2tf.staging.control",
    "np2tf.core.settings",
    "np2tf.core.counts",
    "np2tf.core.faults",
    "np2tf.core.late",
    "np2tf.core",
    "np2tf.core.errors",
    "np2tf.core.errors",
    "np2tf.transforms",
)
BOTH = (
    "np2tf.core.own_warnings",
    "np2tf.core.late",
    "np2tf.core.rules",
    "np2tf.core.suppressions",
    "np2tf.core.diagnostics",
    "np2tf.cli.commands.coverage",
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
        assert module == "np2tf" or belongs(module, ("np2tf.cli.main", "np2tf.cli.verify"))
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
        return belongs(layer, ("np2tf.loading",))
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
    assert "np2tf.core.diagnostics" in imports("np2tf.translate.tree.source")
    assert "rich.console" in imports("np2tf.cli.output")
    assert "rich.console" not in imports("np2tf.cli.output", at_import=True)
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
