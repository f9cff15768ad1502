"""SciPy's functions on TensorFlow against SciPy's own: values, dtypes, shapes, errors, in every mode."""

from __future__ import annotations

import inspect
import pickle
import subprocess
import sys
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import np2tf
from np2tf.arrays.array.ndarray import is_array, tensor_array
from np2tf.arrays.dispatch.host_fallback import IMPLEMENTATIONS
from np2tf.arrays.entry.routing import load_scipy_chapter as load
from np2tf.arrays.front import scipy_functions
from np2tf.arrays.front.scipy_functions import scipys
from np2tf.arrays.functions.ufuncs.tensor_ufunc import UFUNCS
from np2tf.core import rules
from np2tf.core.counts import counts
from np2tf.core.errors import StagingError
from tests.helpers.op_harness import by_mode, differences

scipy = pytest.importorskip("scipy")
from tests.helpers.scipy_cases import CHAPTERS, HAS_STACKS, OURS, case, definite, numbers, regular  # noqa: E402

#: Functions of scipy.linalg whose TensorFlow operations XLA lacks on CPUs, or computes to fewer digits:
#: compiled, they are TensorFlow graphs, which `test_compiled_functions_are_scipys` compares.
NOT_IN_XLA = frozenset(
    f"linalg.{name}"
    for name in (
        *(
            "solve",
            "inv",
            "det",
            "lu_factor",
            "lstsq",
            "pinv",
            "pinvh",
            "svd",
            "svdvals",
            "eigh",
            "eigvalsh",
            "expm",
        ),
        *("norm", "qr"),
    )
)


@pytest.mark.parametrize("chapter", CHAPTERS)
@by_mode
def test_results_are_scipys(mode: str, chapter: str) -> None:
    """Every case, eagerly, in a graph, and under XLA where that can."""
    cases = list(CHAPTERS[chapter]())
    if mode != "eager":
        # Tracing and compiling take their time, and do not depend on the dtype.
        cases = [
            case for case in cases if any(dtype in str(case) for dtype in ("float64", "complex128", "uint8"))
        ]
    if mode == "xla":
        cases = [case for case in cases if case.name not in NOT_IN_XLA][:: 2 if len(cases) > 80 else 1]
    before = counts.host
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = list(differences(cases, mode))
    assert counts.host == before, "an eager call went to SciPy"
    assert not found, "\n".join(f"{case}: {problem}" for case, problem in found[:10])


def test_compiled_functions_are_scipys() -> None:
    """scipy.linalg in functions that np2tf compiles."""
    a, spd, v = regular("float64", 5), definite("float64", 5), numbers("float64", 5)
    linalg = OURS.linalg
    programs: dict[str, Callable[[Any, Any, Any], Any]] = {
        "solve": lambda a, s, v: linalg.solve(a, v) + linalg.lu_solve(linalg.lu_factor(s), v),
        "inv": lambda a, s, v: linalg.inv(a) * linalg.det(s),
        "pinv": lambda a, s, v: linalg.pinv(a) + linalg.pinvh(s),
        "expm": lambda a, s, v: linalg.expm(a / 10) @ v,
        "lstsq": lambda a, s, v: linalg.lstsq(a[:, :3], v)[0],
        "eigh": lambda a, s, v: linalg.eigvalsh(s) + linalg.svdvals(a),
    }
    for name, program in programs.items():
        shown = scipy.linalg
        want = eval_with(program, shown, a, spd, v)
        with np2tf.config.using(tier="compile", jit="strict"):
            got = np2tf.jit(program)(a, spd, v)
        np.testing.assert_allclose(got, want, rtol=1e-11, err_msg=name)


def eval_with(program: Callable[..., Any], module: Any, *args: np.ndarray) -> Any:
    """Call `program` with another module in the place of np2tf's `linalg`; return its result."""
    cells = inspect.getclosurevars(program).nonlocals
    assert set(cells) == {"linalg"}
    made = type(program)(program.__code__, program.__globals__, None, None, ((lambda: module).__closure__))
    return made(*args)


def test_decompositions_multiply_to_what_they_are_of() -> None:
    """The signs of vectors are TensorFlow's; products and orthonormality are not a matter of signs."""
    for dtype in ("float64", "complex128"):
        a, spd = numbers(dtype, 5, 3), definite(dtype, 4)
        tall, hermitian = tensor_array(tf.constant(a)), tensor_array(tf.constant(spd))
        for mode, shape in (("full", (5, 5)), ("economic", (5, 3))):
            q, r = (np.asarray(part) for part in OURS.linalg.qr(tall, mode=mode))
            assert q.shape == shape
            np.testing.assert_allclose(q @ r, a, atol=1e-12)
            np.testing.assert_allclose(np.abs(r), np.abs(scipy.linalg.qr(a, mode=mode)[1]), atol=1e-12)
        (only,) = OURS.linalg.qr(tall, mode="r")
        assert only.shape == scipy.linalg.qr(a, mode="r")[0].shape
        for full in (True, False):
            u, s, vh = (np.asarray(part) for part in OURS.linalg.svd(tall, full_matrices=full))
            shapes = [factor.shape for factor in scipy.linalg.svd(a, full_matrices=full)]
            assert [u.shape, s.shape, vh.shape] == shapes
            np.testing.assert_allclose(u[:, :3] * s @ vh[:3], a, atol=1e-12)
        for lower in (True, False):
            values, vectors = (np.asarray(part) for part in OURS.linalg.eigh(hermitian, lower=lower))
            np.testing.assert_allclose(values, scipy.linalg.eigh(spd, lower=lower)[0], rtol=1e-12)
            np.testing.assert_allclose(vectors * values @ vectors.conj().T, spd, atol=1e-11)


NAN = np.full((3, 3), np.nan)
#: Calls that SciPy refuses, by the function and its arguments.
WRONG = [
    case("linalg.solve", np.ones((3, 3)), np.ones(3)),
    case("linalg.solve", NAN, np.ones(3)),
    case("linalg.solve", np.ones((2, 3)), np.ones(3)),
    case("linalg.solve", regular("float64", 3), np.ones(4)),
    case("linalg.inv", np.zeros((3, 3))),
    case("linalg.inv", np.ones(3)),
    case("linalg.cholesky", -np.eye(3)),
    case("linalg.cho_factor", -np.eye(3)),
    case("linalg.cho_solve", (np.eye(3), True), np.ones(4)),
    case("linalg.solve_triangular", np.triu(np.ones((3, 3)), 1), np.ones(3)),
    case("linalg.eigh", NAN),
    case("linalg.norm", NAN),
    case("linalg.qr", np.ones((3, 3)), mode="none"),
    case("fft.fft", np.ones(3), n=0),
    case("fft.fft", np.ones(3), norm="none"),
    case("signal.convolve", np.ones(3), np.ones((2, 2))),
    case("signal.convolve", np.ones(3), np.ones(2), mode="none"),
    case("signal.filtfilt", np.ones(3), np.ones(3), np.ones(5)),
    case("ndimage.convolve", np.ones((3, 3)), np.ones(3)),
    case("ndimage.gaussian_filter", np.ones(3), 1.0, mode="none"),
    case("special.comb", np.arange(3)),
    case("special.multigammaln", np.array([0.5, 3.0]), 3),
    case("stats.multivariate_normal.pdf", np.ones(2), np.zeros(2), np.ones((2, 2))),
    case("stats.multivariate_normal.pdf", np.ones(2), np.zeros(3), np.eye(2)),
    case("spatial.distance.cdist", np.ones((3, 2)), np.ones((3, 3))),
    case("spatial.distance.cdist", np.ones((3, 2)), np.ones((3, 2)), "none"),
    case("spatial.distance.squareform", np.ones(4)),
    case("spatial.distance.squareform", np.arange(9.0).reshape(3, 3)),
]


@pytest.mark.parametrize("mode", ["eager", "compiled"])
def test_errors_are_scipys(mode: str) -> None:
    """The class of the error: eagerly, and of compiled calls, which are discarded and repeated by SciPy."""
    for wrong in WRONG:
        kept = [arg for arg in wrong.args if isinstance(arg, np.ndarray)]

        def call(*arrays: Any, wrong: Any = wrong) -> Any:
            remaining_arrays = iter(arrays)
            args = [next(remaining_arrays) if isinstance(arg, np.ndarray) else arg for arg in wrong.args]
            target = OURS
            for part in wrong.name.split("."):
                target = getattr(target, part)
            return target(*args, **wrong.kwargs)

        want = type(
            raised(lambda wrong=wrong, kept=kept: getattr_of(scipy, wrong.name)(*wrong.args, **wrong.kwargs))
        )
        if mode == "eager":
            got = type(
                raised(
                    lambda call=call, kept=kept: call(*[tensor_array(tf.constant(array)) for array in kept])
                )
            )
        else:
            with np2tf.config.using(tier="compile", jit="on"), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                got = type(raised(lambda call=call, kept=kept: np2tf.jit(call)(*kept)))
        assert got is want, str(wrong)


def getattr_of(module: Any, name: str) -> Any:
    """Return the object that a module has under a dotted name."""
    for part in name.split("."):
        module = getattr(module, part)
    return module


def raised(call: Callable[[], Any]) -> BaseException:
    """Return the error that a call raises."""
    with pytest.raises(Exception) as caught, np.errstate(all="ignore"):  # noqa: PT011
        call()
    return caught.value


#: Calls that end the staging: only SciPy has their options, or computes their operands in this way.
REFUSED = [
    case("linalg.qr", numbers("float64", 3, 3), pivoting=True),
    case("linalg.eigh", definite("float64", 3), subset_by_index=[0, 1]),
    *([case("linalg.solve", np.stack([np.eye(3)] * 2), np.ones((2, 3, 1)))] if HAS_STACKS else []),
    case("linalg.solve", regular("float64", 3), np.ones(3), assume_a="sym"),
    case("linalg.svd", numbers("float64", 3, 3), lapack_driver="gesvd"),
    case("linalg.inv", np.ones((0, 0))),
    case("special.logsumexp", numbers("float64", 3), return_sign=True),
    case("special.logsumexp", numbers("complex128", 3)),
    case("special.factorial", np.arange(3), exact=True),
    case("special.zeta", np.array([2.0, 3.0])),
    case("signal.fftconvolve", numbers("float64", 3, 4), numbers("float64", 3, 4), axes=1),
    case("signal.convolve2d", np.ones((3, 3)), np.ones((2, 2)), boundary="wrap"),
    case("signal.filtfilt", np.ones(2), np.array([1.0, 0.5]), np.arange(20.0), method="gust"),
    case("ndimage.gaussian_filter", np.arange(9), 1.0),
    case("ndimage.gaussian_filter", np.arange(9.0), 1.0, output="float32"),
    case("ndimage.uniform_filter", np.arange(9.0), 3, origin=1),
    case("ndimage.convolve", np.arange(9), np.array([0.5, 0.25])),
    case("stats.multivariate_normal.pdf", np.ones(2), np.zeros(2), np.eye(2), allow_singular=True),
    case("spatial.distance.cdist", np.ones((2, 2)), np.zeros((3, 2)), "jensenshannon"),
    case("spatial.distance.cdist", np.ones((2, 2)), np.zeros((3, 2)), lambda u, v: 1.0),
    case("fft.rfft", numbers("float16", 4)),
]


def test_what_only_scipy_has_runs_on_the_host() -> None:
    """In staged code it is a StagingError; a compiled function then gives SciPy's result from the host."""
    for refused in REFUSED:
        arrays = [arg for arg in refused.args if isinstance(arg, np.ndarray)]

        def call(*given: Any, refused: Any = refused) -> Any:
            remaining_arrays = iter(given)
            args = [next(remaining_arrays) if isinstance(arg, np.ndarray) else arg for arg in refused.args]
            return getattr_of(OURS, refused.name)(*args, **refused.kwargs)

        with np2tf.config.using(tier="compile", jit="strict"), pytest.raises(StagingError):
            np2tf.jit(call)(*arrays)
        with np2tf.config.using(tier="compile", jit="on"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            got = np2tf.jit(call)(*arrays)
        want = getattr_of(scipy, refused.name)(*refused.args, **refused.kwargs)
        for a, b in zip(
            got if isinstance(got, tuple) else (got,), want if isinstance(want, tuple) else (want,)
        ):
            np.testing.assert_array_equal(a, b, err_msg=str(refused))


def test_poles_and_far_numbers_are_left_to_scipy() -> None:
    """A compiled call with such numbers is discarded; the results are SciPy's."""
    special = OURS.special
    calls: list[tuple[str, Callable[..., Any], tuple[np.ndarray, ...]]] = [
        ("betaln", lambda a, b: special.betaln(a, b), (np.array([1.0, -3.0]), np.array([2.0, 3.0]))),
        ("beta", lambda a, b: special.beta(a, b), (np.array([np.inf, 2.0]), np.array([2.0, 3.0]))),
        ("binom", lambda a, b: special.binom(a, b), (np.array([1e10, 2.0]), np.array([-3.5, 1.0]))),
        ("gammainc", lambda a, b: special.gammainc(a, b), (np.array([1e8, 2.0]), np.array([1e8, 1.0]))),
    ]
    for name, call, args in calls:
        with np2tf.config.using(tier="compile", jit="on"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            got = np2tf.jit(call)(*args)
        np.testing.assert_array_equal(got, getattr(scipy.special, name)(*args))
        eager = getattr(special, name)(*[tensor_array(tf.constant(arg)) for arg in args])
        np.testing.assert_array_equal(eager.numpy(), getattr(scipy.special, name)(*args))


# -- the table and the look-up -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", rules.scipy())
def test_every_rule_has_its_function(name: str) -> None:
    """SciPy's object, its parameters, and the function over tensors that the rule promises."""
    rule, numpy = rules.scipy()[name], scipys(name)
    load(rule.chapter.rpartition("/")[2])
    assert rule.kind == "native"
    if isinstance(numpy, np.ufunc):
        assert numpy in UFUNCS
        assert not rule.parameters
        return
    assert IMPLEMENTATIONS[name].supported == rule.parameters
    scipy_parameters = inspect.signature(numpy).parameters.values()
    assert set(rule.parameters) <= {parameter.name for parameter in scipy_parameters} or any(
        parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in scipy_parameters
    )


def test_every_function_is_compared() -> None:
    """A function without a case is not known to be right."""
    compared = {f"scipy.{case.name}" for make in CHAPTERS.values() for case in make()}
    products = {f"scipy.linalg.{name}" for name in ("qr", "svd", "eigh")}
    functions = {name for name in rules.scipy() if not isinstance(scipys(name), np.ufunc)}
    assert functions == {name for name in compared | products if name in rules.scipy()}


def test_objects_are_found_by_what_they_are() -> None:
    """Functions, universal functions, and methods of SciPy's own distributions."""
    assert scipy_functions.native(scipy.special.erf) == "scipy.special.erf"
    assert scipy_functions.native(scipy.stats.norm.pdf) == "scipy.stats.norm.pdf"
    assert scipy_functions.native(scipy.fft.fft) == "scipy.fft.fft"
    assert scipy_functions.native(scipy.special.psi) in ("scipy.special.psi", "scipy.special.digamma")
    for unknown in (np.sin, scipy.stats.norm(1, 2).pdf, scipy.special.jv, scipy.stats.norm, [], "erf", None):
        assert scipy_functions.native(unknown) is None
    for name in rules.scipy():
        assert scipy_functions.implementation_of(scipy_functions.native(scipys(name))).numpy == scipys(name)
    with pytest.raises(KeyError):
        scipy_functions.implementation_of("scipy.special.jv")


def test_host_operands_are_scipys_affair() -> None:
    """The very objects that SciPy returns."""
    x = np.linspace(0.1, 1, 4)
    assert type(OURS.special.erf(0.5)) is type(scipy.special.erf(0.5))
    assert type(OURS.linalg.inv(np.eye(2))) is np.ndarray
    np.testing.assert_array_equal(OURS.stats.norm.pdf(x, 0, 2), scipy.stats.norm.pdf(x, 0, 2))
    assert OURS.special.comb(10, 3, exact=True) == 120
    assert pickle.loads(pickle.dumps(OURS.special.erf)) is OURS.special.erf
    assert pickle.loads(pickle.dumps(OURS.linalg.solve)) is OURS.linalg.solve


def test_scipys_own_functions_answer_for_arrays_on_tensorflow() -> None:
    """Code that is not translated calls `scipy.special.erf` itself."""
    load("special")
    assert is_array(scipy.special.erf(tensor_array(tf.constant([0.5]))))


def test_nothing_is_imported_before_it_is_needed() -> None:
    """np2tf imports neither SciPy for a program without SciPy, nor TensorFlow for host operands."""
    code = """
import sys
from np2tf.arrays.front import scipy_functions as lookup
assert lookup.native(print) is None
assert not {"scipy", "tensorflow"} & set(sys.modules)
import scipy.special
assert lookup.native(scipy.special.erf) == "scipy.special.erf"
assert lookup.implementation_of("scipy.special.erf")(0.0) == 0
assert "tensorflow" not in sys.modules
assert "scipy.stats" not in sys.modules
import scipy.stats
assert lookup.native(scipy.stats.norm.cdf) == "scipy.stats.norm.cdf"
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_gradients_flow() -> None:
    """Through series, factors and filters, as finite differences say."""
    x = np.linspace(0.3, 2.6, 5)
    a = regular("float64", 5)
    programs: list[Callable[[Any], Any]] = [
        lambda x: OURS.special.gammaln(x) + OURS.special.ndtri(x / 5) + OURS.special.betaln(x, 2.5),
        lambda x: OURS.special.logsumexp(x) + OURS.special.xlogy(x, x),
        lambda x: OURS.linalg.solve(a + x, x) + OURS.linalg.inv(a * x)[0],
        lambda x: (
            OURS.linalg.toeplitz(x)[1] * x + OURS.spatial.distance.cdist(x[:, None], x[:2, None])[:, 0] ** 2
        ),
        lambda x: OURS.signal.lfilter([1.0], [1.0, -0.5], x),
        lambda x: OURS.ndimage.gaussian_filter(x, 1.0),
        lambda x: OURS.stats.norm.logpdf(x, 0.5, x),
    ]
    for program in programs:
        with tf.GradientTape() as tape:
            point = tensor_array(tf.constant(x))
            tape.watch(point)
            sum = tf.reduce_sum(program(point).tensor)
        slope = np.asarray(tape.gradient(sum, point))
        for k in range(5):
            step = np.zeros(5)
            step[k] = 1e-6
            ends = [np.sum(program(x + sign * step)) for sign in (1, -1)]
            np.testing.assert_allclose(slope[k], (ends[0] - ends[1]) / 2e-6, rtol=1e-5, atol=1e-7)
