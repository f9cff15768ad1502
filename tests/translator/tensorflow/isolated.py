"""Runs programs beside their translations where np2tf cannot be imported, and measures rules/tensorflow.

    python isolated.py CASES RESULTS RULES

CASES is a JSON list of `[name, source, translation]`; RESULTS gets, as JSON, what differs for each (nothing
where nothing does), and for each function and example of the tables. NumPy is the judge: values, dtypes,
shapes, types of containers, what is printed.
"""

import contextlib
import importlib
import io
import json
import sys
import tempfile
import types
import warnings
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


class Blocked:
    """Finds np2tf, and fails."""

    def find_spec(self, name, path=None, target=None):
        """Refuse an import of np2tf; leave every other import to the other finders."""
        if name.split(".")[0] == "np2tf":
            raise ImportError("np2tf must not be imported here")


sys.meta_path.insert(0, Blocked())
warnings.simplefilter("ignore")

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
import tensorflow.experimental.numpy as tnp  # noqa: E402

#: Of translations with loops as graphs: how many loops were left to Python.
LEFT_TO_PYTHON = {}
DTYPES = (np.float64, np.float32, np.int64, np.int32, np.bool_)


def described(value):
    """A result in a form that can be compared, tensors as arrays."""
    if isinstance(value, tf.Tensor):
        value = value.numpy()
    if isinstance(value, (np.ndarray, np.generic)):
        return ("array", np.asarray(value))
    if type(value) in (list, tuple):
        return (type(value).__name__, [described(item) for item in value])
    if isinstance(value, dict):
        return ("dict", list(value), [described(item) for item in value.values()])
    return ("plain", type(value).__name__, value)


def difference(first, second):
    """Tell the difference of two described results; give "" if they are equal."""
    if first[0] != second[0] or len(first) != len(second):
        return f"{first!r:.80} is {second!r:.80}"
    if first[0] == "array":
        return array_difference(first[1], second[1])
    if first[0] == "plain":
        is_equal = first[1:] == second[1:] or (first[1] == "float" and close(first[2], second[2]))
        return "" if is_equal else f"{first!r:.80} is {second!r:.80}"
    if first[0] == "dict" and first[1] != second[1]:
        return f"keys {first[1]} are {second[1]}"
    if len(first[-1]) != len(second[-1]):
        return f"{len(first[-1])} parts are {len(second[-1])}"
    return next((told for told in map(difference, first[-1], second[-1]) if told), "")


def close(first, second):
    """True if two floats are the same up to their last bits."""
    return (
        first == second
        or first != first != second == 0
        or abs(first - second) <= 1e-11 * max(abs(first), abs(second))
    )


def array_difference(first, second):
    """Tell the difference of two arrays; give "" if they are equal."""
    if (first.dtype, first.shape) != (second.dtype, second.shape):
        return f"{first.dtype}{first.shape} is {second.dtype}{second.shape}"
    if first.dtype.kind in "fc":  # Sums of a few numbers differ in the last bits between libraries.
        limit = 1e-5 if np.finfo(first.dtype).eps > 1e-10 else 1e-11
        is_equal = np.allclose(first, second, rtol=limit, atol=limit / 10, equal_nan=True)
    else:
        is_equal = np.array_equal(first, second)
    return "" if is_equal else f"{first!r:.90} is {second!r:.90}"


def module_of(source, name):
    """Run a program, or the module `program` of a project's files, and return the module."""
    if isinstance(source, str):
        module = types.ModuleType("program")
        exec(compile(source, name, "exec"), module.__dict__)
        return module
    with tempfile.TemporaryDirectory() as folder:
        for path, text in source.items():
            (Path(folder) / path).parent.mkdir(parents=True, exist_ok=True)
            (Path(folder) / path).write_text(text)
        program = next(path for path in source if path.endswith("program.py"))
        before = set(sys.modules)
        sys.path.insert(0, str((Path(folder) / program).parent))
        try:
            return importlib.import_module("program")
        finally:
            sys.path.pop(0)
            importlib.invalidate_caches()
            for added in set(sys.modules) - before:
                if str(getattr(sys.modules[added], "__file__", "")).startswith(folder):
                    del sys.modules[added]


def outcome(source, name):
    """Run a program's main function; return its result or its error, and the text that it prints."""
    printed = io.StringIO()
    module = None
    try:
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            module = module_of(source, name)
            result = described(module.main()) if hasattr(module, "main") else ("plain", "nothing", None)
    except Exception as error:
        return ("raised", f"{type(error).__name__}: {error}"), printed.getvalue()
    if "_as_graph" in module.__dict__:
        LEFT_TO_PYTHON[name] = len(getattr(module._as_graph, "failed", ()))
    return result, printed.getvalue()


def judged(cases):
    """Tell the difference for each program. A program that NumPy refuses must fail in translation as well."""
    with np.errstate(all="ignore"):
        expected = [outcome(source, name) for name, source, _ in cases]
    tnp.experimental_enable_numpy_behavior()
    told = {}
    for (name, _, translation), (result, printed) in zip(cases, expected):
        made, shown = outcome(translation, name)
        if "raised" in (result[0], made[0]):
            told[name] = "" if result[0] == made[0] else f"{result!r:.200} is {made!r:.200}"
        else:
            told[name] = difference(result, made) or ("" if printed == shown else f"{printed!r} is {shown!r}")
    return told


def operands(dtype):
    """The operands of examples, as np2tf/core/rules.py describes them."""
    truth = dtype is np.bool_
    a = np.array([[1, 0, 1], [0, 0, 1]] if truth else [[1, -2, 3], [4, 0, -1]]).astype(dtype)
    b = np.array([[2, 1, 3], [1, 4, 2]]).astype(dtype)
    s = np.array([[4, 1, 0], [1, 3, 1], [0, 1, 2]]).astype(dtype)
    return {"a": a, "b": b, "v": np.array([3, 1, 2]).astype(dtype), "s": s, "k": np.array([2, 0, 1])}


def evaluated(example, numpy, names):
    """Evaluate an example; return its described value, or its error."""
    try:
        with np.errstate(all="ignore"):
            return described(eval(example, {"np": numpy, **names}))
    except Exception as error:
        return ("raised", f"{type(error).__name__}: {error!s:.80}")


def translated_numpy(table, helpers):
    """A module like NumPy, made of what translations call."""
    made = types.SimpleNamespace(linalg=types.SimpleNamespace(), fft=types.SimpleNamespace())
    for group in table["group"]:
        for name in group["names"]:
            owner = getattr(made, name.split(".")[0]) if "." in name else made
            helper = group.get("helper") and helpers["_" + name.replace(".", "_")]
            setattr(owner, name.split(".")[-1], helper or getattr(tnp, name))
    for name in table["dtypes"]:
        setattr(made, name, getattr(np, name))
    made.where = lambda *given: tnp.where(*given) if len(given) > 1 else helpers["_nonzero"](*given)
    made.inf, made.nan, made.pi = np.inf, np.nan, np.pi
    return made


def measured(rules):
    """For each example of each function: the dtypes for which it is not NumPy's, and why."""
    table = tomllib.loads((rules / "tensorflow" / "functions.toml").read_text())
    helpers = {}
    for file in ("helpers.py", "control.py"):
        exec((rules / "tensorflow" / file).read_text(), helpers)
    translated_module = translated_numpy(table, helpers)
    examples = dict(table["examples"])
    for path in sorted(rules.glob("*.toml")):
        chapter = tomllib.loads(path.read_text())
        prefix = chapter.get("prefix", "numpy").removeprefix("numpy").lstrip(".")
        for name, texts in chapter.get("examples", {}).items():
            full = f"{prefix}.{name}" if prefix else name
            examples[full] = [*examples.get(full, []), *texts]
    told = {}
    for name in (name for group in table["group"] for name in group["names"]):
        for example in examples.get(name, []):
            differing = {}
            for dtype in DTYPES:
                names = operands(dtype)
                expected = evaluated(example, np, names)
                made = evaluated(
                    example, translated_module, {key: tf.constant(value) for key, value in names.items()}
                )
                if made[0] == "raised" or expected[0] == "raised":
                    why = "" if made[0] == expected[0] else f"{expected!r:.60} is {made!r:.120}"
                else:
                    why = difference(expected, made)
                if why:
                    differing[np.dtype(dtype).name] = why
            told[f"{name}: {example}"] = differing
        if name not in examples:
            told[f"{name}: no example"] = {"all": "there is no example of it"}
    return told


if __name__ == "__main__":
    cases_file, results_file, rules_folder = map(Path, sys.argv[1:])
    results = {"programs": judged(json.loads(cases_file.read_text())), "functions": measured(rules_folder)}
    results["left_to_python"] = LEFT_TO_PYTHON
    assert "np2tf" not in sys.modules
    results_file.write_text(json.dumps(results))
