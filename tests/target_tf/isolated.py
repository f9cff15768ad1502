"""Runs programs beside their translations where np2tf cannot be imported, and measures rules/tensorflow.

    python isolated.py CASES RESULTS RULES

CASES is a JSON list of `[name, source, translation]`; RESULTS gets, as JSON, what differs for each (nothing
where nothing does), and for each function and example of the tables. NumPy is the judge: values, dtypes,
shapes, types of containers, what is printed.
"""

import contextlib
import io
import json
import sys
import types
import warnings
from pathlib import Path

import tomllib


class Blocked:
    """Finds np2tf, and fails."""

    def find_spec(self, name, path=None, target=None):
        """The import of np2tf is an error here; all others are somebody else's."""
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
        return (type(value).__name__, [described(one) for one in value])
    if isinstance(value, dict):
        return ("dict", list(value), [described(one) for one in value.values()])
    return ("plain", type(value).__name__, value)


def difference(one, other):
    """What differs between two described results; nothing if they are equal."""
    if one[0] != other[0] or len(one) != len(other):
        return f"{one!r:.80} is {other!r:.80}"
    if one[0] == "array":
        return array_difference(one[1], other[1])
    if one[0] == "plain":
        same = one[1:] == other[1:] or (one[1] == "float" and close(one[2], other[2]))
        return "" if same else f"{one!r:.80} is {other!r:.80}"
    if one[0] == "dict" and one[1] != other[1]:
        return f"keys {one[1]} are {other[1]}"
    if len(one[-1]) != len(other[-1]):
        return f"{len(one[-1])} parts are {len(other[-1])}"
    return next((told for told in map(difference, one[-1], other[-1]) if told), "")


def close(one, other):
    """Whether two floats are the same up to their last bits."""
    return one == other or one != one != other == 0 or abs(one - other) <= 1e-11 * max(abs(one), abs(other))


def array_difference(one, other):
    """What differs between two arrays."""
    if (one.dtype, one.shape) != (other.dtype, other.shape):
        return f"{one.dtype}{one.shape} is {other.dtype}{other.shape}"
    if one.dtype.kind in "fc":  # Sums of a few numbers differ in the last bits between libraries.
        limit = 1e-5 if np.finfo(one.dtype).eps > 1e-10 else 1e-11
        same = np.allclose(one, other, rtol=limit, atol=limit / 10, equal_nan=True)
    else:
        same = np.array_equal(one, other)
    return "" if same else f"{one!r:.90} is {other!r:.90}"


def outcome(source, name):
    """What the main function of a program returns and prints, or the error that it raises."""
    module, printed = types.ModuleType("program"), io.StringIO()
    module.__dict__["__name__"] = "program"
    try:
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(printed):
            exec(compile(source, name, "exec"), module.__dict__)
            result = described(module.main()) if hasattr(module, "main") else ("plain", "nothing", None)
    except Exception as error:
        return ("raised", f"{type(error).__name__}: {error}"), printed.getvalue()
    if "_as_graph" in module.__dict__:
        LEFT_TO_PYTHON[name] = len(getattr(module._as_graph, "failed", ()))
    return result, printed.getvalue()


def judged(cases):
    """What differs for each program. One that NumPy itself refuses must fail as well."""
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
    """The operands of examples, as np2tf/rules.py describes them."""
    truth = dtype is np.bool_
    a = np.array([[1, 0, 1], [0, 0, 1]] if truth else [[1, -2, 3], [4, 0, -1]]).astype(dtype)
    b = np.array([[2, 1, 3], [1, 4, 2]]).astype(dtype)
    s = np.array([[4, 1, 0], [1, 3, 1], [0, 1, 2]]).astype(dtype)
    return {"a": a, "b": b, "v": np.array([3, 1, 2]).astype(dtype), "s": s, "k": np.array([2, 0, 1])}


def evaluated(example, numpy, names):
    """What an example gives, or that it fails."""
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
    ours = translated_numpy(table, helpers)
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
                made = evaluated(example, ours, {key: tf.constant(one) for key, one in names.items()})
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
