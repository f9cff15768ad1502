"""The host tier: the source's own code on NumPy's arrays, in jitted functions that are not compiled."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import np2tf
from np2tf import tnp
from np2tf.core.counts import counts
from np2tf.staging.host.host_function import HostFunction
from np2tf.staging.host.originals import original_of
from np2tf.staging.tiers import constants
from np2tf.staging.tiers.call_context import is_on_host
from tests.helpers.recursion_rows import DEEP

SCALE = 2.0


def helper(x):
    return x * SCALE


@pytest.fixture
def imported(tmp_path):
    """A module of this source, translated."""

    def make(source: str) -> ModuleType:
        path = tmp_path / f"m{len(list(tmp_path.iterdir()))}.py"
        path.write_text(textwrap.dedent(source))
        return np2tf.import_module(path.stem, path)

    return make


def original(value: Any) -> Any:
    """The original of a translated function; jitted, or left as it is."""
    return original_of(getattr(value, "__wrapped__", value))


# -- which code it is ----------------------------------------------------------------------------------------

SOURCE = """\
import numpy as np
import numpy.linalg as la
from numpy import fill_diagonal, sin, sum

total = 0.0


def f(x, n):
    fill_diagonal(x, 7)
    for i in range(n):
        x[i, 0] += sin(x[i, 1]) + helper(x[i], np.prod([1.0, 2.0]))
    return x


def helper(row, pair):
    return np.max(row) * pair


def counted(x):
    global total
    total = total + sum(x, axis=0)
    x[0] += la.norm(x)
    return total


def with_default(x, *, by=np.ones(2)):
    x[0] = by[0]
    return x
"""


def test_the_source_itself_runs_over_numpy(imported):
    module = imported(SOURCE)
    x = np.arange(16.0).reshape(4, 4)
    expected = x.copy()
    np.fill_diagonal(expected, 7)
    for i in range(4):
        expected[i, 0] += np.sin(expected[i, 1]) + np.max(expected[i]) * 2.0
    f = original(module.f)
    assert f.__globals__ is vars(module)
    assert "at" not in f.__code__.co_names
    assert {"np2tf: fill_diagonal", "np2tf: sin", "np2tf: np"} <= set(f.__code__.co_names)
    assert f.__code__.co_firstlineno == 8
    np.testing.assert_array_equal(f(x, 4), expected)


def test_globals_are_the_modules_own(imported):
    module = imported(SOURCE)
    before = dir(module)
    counted = original(module.counted)
    assert counted(np.array([3.0, 4.0])) == 7
    assert counted(np.array([3.0, 4.0])) == 14 == module.total
    assert dir(module) == before
    module.helper = lambda row, pair: 1.0
    assert original(module.f)(np.zeros((2, 2)), 1)[0, 0] == 8


def test_defaults_are_kept(imported):
    module = imported(SOURCE)
    assert original(module.with_default)(np.zeros(2))[0] == 1
    assert original(module.with_default)(np.zeros(2), by=np.zeros(2))[0] == 0


CLASSES = """\
import functools
import numpy as np


def twice(function):
    @functools.wraps(function)
    def call(*args):
        return function(*args) * 2

    return call


class Base:
    factor = 3

    def __init__(self, x):
        self.x = x

    def step(self, k):
        self.x[0] += np.sin(k)
        return self.x

    @property
    def total(self):
        return np.sum(self.x)

    @total.setter
    def total(self, value):
        self.x[:] = np.full(len(self.x), value / len(self.x))

    @staticmethod
    def first(x):
        x[0] = np.abs(x[0])
        return x[0]

    @twice
    def doubled(self):
        self.x[0] = 5.0
        return np.max(self.x)

    def __hidden(self):
        self.x[0] = 9
        return np.min(self.x)

    def shown(self):
        return self.__hidden()


class Derived(Base):
    def step(self, k):
        return super().step(k) + np.ones(1)

    class Inner:
        def get(self, x):
            x[0] = 2
            return np.sum(x)


def outer(a):
    def inner(x):
        nonlocal a
        x[0] += a
        a = a + np.abs(-1)
        return x[0]

    return inner, lambda q: q[0] + np.max(q)
"""


def test_methods_properties_and_decorated_functions(imported):
    module = imported(CLASSES)
    object_ = module.Derived(np.zeros(2))
    np.testing.assert_allclose(original(module.Derived.step)(object_, 0.5), np.sin(0.5) * np.eye(2)[0] + 1)
    assert original(vars(module.Base)["total"].fget)(object_) == np.sin(0.5)
    setter = original(vars(module.Base)["total"].fset)
    setter(object_, 8)
    assert object_.total == 8
    assert original(module.Base.first)(np.array([-2.0])) == 2
    doubled = module.Base.doubled.__wrapped__
    assert original(doubled)(object_) == 5.0
    assert original(vars(module.Base)["_Base__hidden"])(object_) == 4
    assert original(module.Derived.Inner.get)(None, np.zeros(2)) == 2
    for found in (module.Derived.step, doubled, module.Derived.Inner.get):
        assert "at" not in original(found).__code__.co_names
        assert original(found).__qualname__ == getattr(found, "__wrapped__", found).__qualname__


def test_inner_functions_share_their_closure(imported):
    module = imported(CLASSES)
    outer = getattr(module.outer, "__wrapped__", module.outer)
    inner, shown = outer(10)
    found = original(inner)
    if found is not None:
        assert found(np.zeros(1)) == 10
        assert inner(np.zeros(1)) == 11
    assert original(shown) is None or original(shown)(np.ones(2)) == 2
    plain_inner, _ = original(module.outer)(10)
    assert plain_inner.__qualname__ == "outer.<locals>.inner"
    assert plain_inner(np.zeros(1)) == 10


def test_translated_where_it_stands():
    def f(x):
        x[0] = np.sin(x[1])
        return x

    translated = np2tf.translate(f)
    assert original(translated) is f


@pytest.mark.parametrize(
    "source",
    [
        "def f(x):\n    return np.product(x) + np.sin(x[0])",  # NumPy 2 has no such name
        "def f(x):\n    y = np.sin(x)\n    return y.ptp()",
        "if len(__name__) > 0:\n    def f(x): return np.sin(x)\nelse:\n    def f(x): return np.cos(x)",
    ],
)
def test_in_doubt_the_translation_runs(imported, source):
    module = imported("import numpy as np\n" + source.replace("def f(x): return", "def f(x): return "))
    assert original(module.f) is None or "else" in source


@pytest.mark.parametrize("source", ["y = np.sin(x)\n    return locals()", "return np.sin(x) + missing"])
def test_names_of_the_source_alone(imported, source):
    """The original has the variables that its source has, and no other variables."""
    found = original(imported(f"import numpy as np\ndef f(x):\n    {source}").f)
    if "missing" in source:
        with pytest.raises(NameError, match="name 'missing' is not defined"):
            found(1.0)
    else:
        assert found(1.0) == {"x": 1.0, "y": np.sin(1.0)}


def test_no_original():
    assert original_of(helper) is None  # not translated while it was imported
    assert original_of(len) is None
    assert HostFunction(helper).original is helper


def test_a_source_that_has_been_edited(tmp_path):
    """The original is of the source that was translated."""
    path = tmp_path / "edited.py"
    path.write_text(SOURCE)
    module = np2tf.import_module("edited", path)
    path.write_text("raise SystemExit  # edited meanwhile\n")
    assert original(module.f).__code__.co_firstlineno == 8


def test_imports_under_try(imported):
    guard = "try:\n    import numpy as np\nexcept ImportError:\n    raise\n\n\n"
    module = imported(guard + "def f(row):\n    return np.max(row) * np.sin(row)\n")
    found = original(module.f)
    assert found is None or found(np.ones(1)) == np.sin(1.0)


# -- when it runs --------------------------------------------------------------------------------------------


def test_where_numpy_itself_runs():
    assert is_on_host((np.ones(2), 3, "text", [1, np.ones(1)], object()), {"k": None})
    for tensor in (tf.ones(2), tf.Variable([1.0])):
        assert not is_on_host((tensor,), {})
        assert not is_on_host(([1, tensor],), {})
        assert not is_on_host(((1, tensor),), {})
        assert not is_on_host(({"a": tensor},), {})
        assert not is_on_host((), {"x": tensor})
    with np2tf.config.using(eager="tensorflow"):
        assert not is_on_host((np.ones(2),), {})
    with tf.GradientTape():
        assert not is_on_host((np.ones(2),), {})
    with tf.Graph().as_default():
        assert not is_on_host((np.ones(2),), {})


JITTED = """\
import numpy as np


class Point:
    def __init__(self, x):
        self.x = x

    def moved(self, x):
        x[0] = self.x[0]
        return x


def taken(value, x):
    x[0] = 1.0
    return x


def helper(x, k):
    x[0] = k
    return x


def calling(x, n):
    for i in range(n):
        x = helper(x, i)
    return x


def power(x, n):
    return x if n == 0 else x * power(x, n - 1)


def unbound(x):
    if x[0] > 1:
        y = np.sin(x)
    return y
"""


@pytest.fixture
def jitted(imported):
    """A module whose functions and methods are jitted."""
    module = imported(JITTED)
    for owner, names in ((module, ("taken", "helper", "calling", "power")), (module.Point, ("moved",))):
        for name in names:
            setattr(owner, name, np2tf.jit(vars(owner)[name]))
    return module


def frames(call) -> list[str]:
    """The functions that a call enters."""
    entered: list[str] = []

    def note(frame, event, argument):
        if event == "call":
            entered.append(frame.f_code.co_name)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(before)
    return entered


def lightest(call) -> list[str]:
    """The fewest functions that a call enters, after a hundred calls."""
    for _ in range(100):
        call()
    return min((frames(call) for _ in range(2 * constants.UNTIMED_CALLS)), key=len)[1:]


#: The frames of the search for tensors in containers.
SEARCH = ("holds", "<genexpr>", "<setcomp>", "<listcomp>")


def test_calls_on_the_host_take_one_frame_more(jitted):
    x, point = np.zeros(2), jitted.Point(np.ones(2))
    values = [1, "text", None, point, object(), np.ones(2)]
    for value in values:
        assert lightest(lambda value=value: jitted.taken(value, x)) == ["__call__", "taken"]
    for value in ([1, 2], {"a": 1}, [1.0] * 10_000):
        frames = lightest(lambda value=value: jitted.taken(value, x))
        # Once the program has tensors, as in a process that runs other tests before, containers are searched.
        assert [name for name in frames if name not in SEARCH] == ["__call__", "has_tensor", "taken"]
    assert lightest(lambda: jitted.taken(1, x=x)) == ["__call__", "has_tensor", "taken"]
    assert lightest(lambda: point.moved(x)) == ["__get__", "__call__", "moved"]
    assert lightest(lambda: jitted.taken(jitted.Point(x), x)) == ["__init__", "__call__", "taken"]


def test_a_helper_takes_one_frame_more(jitted):
    x = np.zeros(2)
    for _ in range(5 * constants.CALLS_TO_AVERAGE):
        jitted.helper(x, 1)
    assert lightest(lambda: jitted.calling(x, 3))[:2] == ["__call__", "calling"]
    stacks = [frames(lambda: jitted.calling(x, 3)) for _ in range(20)]
    assert min(map(len, stacks)) == 1 + 2 + 3 * 2


def test_calls_are_counted(jitted):
    x = np.zeros(2)
    before = counts.host_calls
    for _ in range(50):
        jitted.taken("", x)
    assert counts.host_calls - before == 50


def test_settings_hold_for_functions_that_are_short(jitted):
    x = np.zeros(2)
    for _ in range(50):
        jitted.taken("", x)
    before = counts.compiled + counts.graph
    with np2tf.config.using(tier="compile"):
        jitted.taken("", x)
    assert counts.compiled + counts.graph - before == 1
    with tf.GradientTape():
        jitted.taken("", x)
    assert counts.compiled + counts.graph - before == 2
    variable = tf.Variable([1.0, 2.0])
    jitted.taken(variable, x)


def test_recursion_is_as_deep_as_without(jitted):
    assert jitted.power(1.0, DEEP) == 1.0
    for _ in range(50):
        jitted.power(2.0, 3)
    limit = sys.getrecursionlimit()
    assert jitted.power(1.0, DEEP) == 1.0
    assert sys.getrecursionlimit() == limit
    with pytest.raises(RecursionError):
        jitted.power(1.0, 10**6)
    assert sys.getrecursionlimit() == limit


def test_names_that_are_not_bound(imported):
    f = np2tf.jit(imported(JITTED).unbound, tier="host")
    np.testing.assert_array_equal(f(np.array([2.0])), np.sin([2.0]))
    with pytest.raises(UnboundLocalError):
        f(np.zeros(1))

    @np2tf.jit(tier="host")
    def by_hand(x):
        return np2tf.undefined("y"), x

    with pytest.raises(UnboundLocalError):
        by_hand(1)


@pytest.mark.parametrize(
    "use",
    [
        *(
            "+v",
            "~v",
            "v + 1",
            "1 // v",
            "v | True",
            "v == 1",
            "v != 1",
            "abs(v)",
            "round(v)",
            "f'{v:.2f}'",
            "str(v)",
        ),
        *(
            "1 in v",
            "list(v)",
            "next(v)",
            "divmod(v, 2)",
            "np.sum(v)",
            "complex(v)",
            "v[0]",
            "v @ v",
            "v(1)",
            "v.shape",
        ),
        *("[v, 1]", "{'v': v}", "(1, {'v': v})", "(1, [v])"),
    ],
)
def test_use_of_a_name_that_is_not_bound(use):
    @np2tf.jit(tier="host")
    def f():
        return eval(use, {"np": tnp, "v": np2tf.undefined("v")})

    with pytest.raises(UnboundLocalError):
        f()


@pytest.mark.parametrize("operator", ["+", "-", "*", "@", "/", "//", "%", "**", "<<", ">>", "&", "|", "^"])
def test_augmented_assignment_to_a_name_that_is_not_bound(operator):
    with pytest.raises(UnboundLocalError):
        exec(f"v {operator}= 1", {"v": np2tf.undefined("v")})


def test_translated_code_without_a_source_runs_as_it_is():
    @np2tf.jit(tier="host")
    def f(x, n):
        x = tnp.at(x)[0].set(5.0)
        x = np2tf.for_loop(np2tf.range(n), lambda i, x: x + i, x)
        x = np2tf.cond(np2tf.and_(x.sum() > 3, lambda: n > 1), lambda x: x * 2, lambda x: x, x)
        return np2tf.max(x[0], 1), np2tf.not_(x.any())

    assert f(np.zeros(2), 4) == (22.0, False)


def test_random_numbers_come_from_one_stream(imported):
    module = imported(
        """
        import numpy as np

        def draw(x):
            np.random.seed(3)
            x[0] = np.random.rand()
            rng = np.random.default_rng(1)
            return rng, x[0]
        """
    )
    rng, first = original(module.draw)(np.zeros(1))
    second = np.random.rand()
    np.random.seed(3)
    assert (first, second) == (np.random.rand(), np.random.rand())
    assert isinstance(rng, tnp.random.Generator)
    translated, _ = getattr(module.draw, "__wrapped__", module.draw)(np.zeros(1))
    assert rng.random() == translated.random()


# -- without TensorFlow --------------------------------------------------------------------------------------


def alone(tmp_path: Path, program: str, source: str = JITTED) -> str:
    """Run a program in a process of its own; return the text that it prints. `m` is the translated module."""
    (tmp_path / "alone_module.py").write_text(textwrap.dedent(source))
    head = f"""
    import sys
    import numpy as np
    import np2tf
    np2tf.install(["alone_module"])
    sys.path.insert(0, {str(tmp_path)!r})
    import alone_module as m
    def loaded():
        return "tensorflow" in sys.modules
    """
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(head) + textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_no_tensorflow_before_it_is_needed(tmp_path):
    program = """
    f = np2tf.jit(m.taken)
    for k in range(300):
        f([k], np.zeros(2))
    m.Point.moved = np2tf.jit(m.Point.moved)
    m.Point(np.ones(2)).moved(np.zeros(2))
    assert np2tf.len is len and np2tf.cond(True, lambda: 1, lambda: 2) == 1
    assert not loaded(), [name for name in sys.modules if "tensorflow" in name][:3]
    with np2tf.config.using(tier="compile"):
        f(1, np.zeros(2))
    assert loaded()
    assert np2tf.len is not len
    """
    alone(tmp_path, program)


def test_tensorflow_is_loaded_when_that_pays(tmp_path):
    program = """
    from np2tf.staging.tiers.clock import clock, machine
    from np2tf.staging.tiers.constants import COMPILE_SECONDS, EXPECTED_SAVING
    from np2tf.staging.tiers.constants import FIRST_CALL_GAIN, IMPORT_SECONDS
    import time
    f = np2tf.jit(lambda x: time.sleep(0.06) or x)
    x = np.zeros(2)
    for _ in range(3):
        f(x)
    assert not loaded()
    assert 0.17 < clock.host_seconds < 1
    machine._slowdown, machine._last_reading = 2.0, float("inf")  # others wait for the processors
    # Nothing tells how long the program goes on, so it is expected to take as long again.
    needed = (2.0 * IMPORT_SECONDS + COMPILE_SECONDS) * FIRST_CALL_GAIN / EXPECTED_SAVING
    f._host.own_seconds = 0.9 * needed
    f(x)
    assert not loaded()
    f._host.own_seconds = 1.1 * needed
    f(x)
    assert loaded()
    """
    alone(tmp_path, program)


def test_time_within_jitted_calls_counts_once(tmp_path):
    program = """
    from np2tf.staging.tiers.clock import clock
    import time
    inner = np2tf.jit(lambda: time.sleep(0.05))
    np2tf.jit(lambda: [inner(), inner()] and None)()
    assert 0.09 < clock.host_seconds < 0.15, clock.host_seconds
    assert not loaded()
    """
    alone(tmp_path, program)


def test_tensors_need_tensorflow(tmp_path):
    program = """
    import tensorflow as tf
    f = np2tf.jit(m.taken)
    for _ in range(40):
        f(1, np.zeros(2))
    result = f(tf.ones(2), np.zeros(2))
    assert np2tf.len is not len
    with tf.GradientTape() as tape:
        f(1, np.zeros(2))
    """
    alone(tmp_path, program)


@pytest.mark.parametrize(
    ("asked", "is_clear"),
    [("x is np.add", False), ("np.sum is x", False), ("type(x) is np.ndarray", True), ("x is None", True)],
)
def test_a_function_of_numpy_may_be_np2tfs(imported, asked, is_clear):
    """In `x is np.add` x may be `tnp.add`: code that asks so runs as it has been translated."""
    module = imported(f"import numpy as np\ndef f(x):\n    return np.size({asked}), {asked}\nadd = np.add")
    assert (original(module.f) is not None) == is_clear
    assert module.f(module.add)[1] == module.f(np.add)[1] == (asked == "x is np.add")


def test_names_of_numpy_that_are_false(imported):
    """`newaxis` is None, and `False_` is false: they are there all the same."""
    source = "from numpy import False_, newaxis, sum\n\n\ndef f(x):\n    return sum(x[newaxis]), False_\n"
    module = imported(source)
    assert module.__loader__.translated
    assert module.f(np.ones(2)) == original(module.f)(np.ones(2)) == (2.0, False)
