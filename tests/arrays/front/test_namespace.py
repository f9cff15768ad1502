"""`tnp` has every public name of NumPy, and what no chapter implements is handed to NumPy."""

from __future__ import annotations

import copy
import functools
import importlib
import operator
import pickle
import subprocess
import sys
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import np2tf
from np2tf import tnp
from np2tf.arrays.array.ndarray import is_array, tensor_array
from np2tf.arrays.dispatch.host_fallback import fallback
from np2tf.arrays.front import numpy_functions
from np2tf.arrays.tensors.storage import staging_scope
from np2tf.core import rules
from np2tf.core.counts import counts
from np2tf.core.errors import StagingError

SUBMODULES = (
    *("char", "ctypeslib", "emath", "exceptions", "fft", "lib", "lib.stride_tricks", "linalg", "ma"),
    *("polynomial", "polynomial.chebyshev", "random", "rec", "strings", "testing", "typing"),
)


def tensor(values: Any, dtype: Any = None) -> Any:
    return tensor_array(tf.constant(np.asarray(values, dtype)))


def numpys(path: str) -> ModuleType:
    return np.emath if path == "emath" else importlib.import_module(f"numpy.{path}")


def test_every_public_name_resolves() -> None:
    public = {name for name in dir(np) if not name.startswith("_")} | set(np.__all__)
    assert [name for name in sorted(public) if not hasattr(tnp, name)] == []
    assert public <= set(dir(tnp))


@pytest.mark.filterwarnings("ignore")
def test_names_are_there_if_numpy_has_them() -> None:
    """A name of the rules that the installed NumPy lacks raises an AttributeError that says why."""
    mains = {rule.name[6:]: rule for rule in rules.rules().values() if rule.name.count(".") == 1}
    now = {name: rule for name, rule in mains.items() if rule.chapter != "removed"}
    assert {name for name in now if hasattr(tnp, name)} == {name for name in now if hasattr(np, name)}
    for name in (name for name in now if not hasattr(np, name)):
        with pytest.raises(AttributeError, match=rf"{name}': NumPy ha(s it since|d it until) 2\."):
            getattr(tnp, name)
    assert [name for name, rule in mains.items() if rule.new_name and not hasattr(tnp, name)] == []


@pytest.mark.parametrize("path", SUBMODULES)
def test_every_public_name_of_a_submodule_resolves(path: str) -> None:
    tnp_module, original = importlib.import_module(f"np2tf.tnp.{path}"), numpys(path)
    reached: Any = tnp
    for part in path.split("."):
        reached = getattr(reached, part)
    assert reached is tnp_module
    public = [name for name in dir(original) if not name.startswith("_")]
    assert [name for name in public if not hasattr(tnp_module, name)] == []
    assert set(public) <= set(dir(tnp_module))


@pytest.mark.parametrize("path", ["", *SUBMODULES])
def test_star_import_gives_numpys_names(path: str) -> None:
    tnp_names: dict[str, Any] = {}
    numpy_names: dict[str, Any] = {}
    exec(f"from np2tf.tnp{'.' + path if path else ''} import *", tnp_names)
    exec(f"from {(numpys(path) if path else np).__name__} import *", numpy_names)
    # A module that warns of what it is asked for leaves a note of that.
    assert set(tnp_names) - {"__warningregistry__"} == set(numpy_names) - {"__warningregistry__"}


def test_ops_stand_under_their_names() -> None:
    wrong = [
        name
        for name in np.__all__
        if callable(getattr(np, name)) and not isinstance(getattr(np, name), type)
        if getattr(tnp, name).__module__ == "np2tf.tnp" and getattr(tnp, name).numpy is not getattr(np, name)
    ]
    assert wrong == []


def test_types_are_numpys_own() -> None:
    for name in ("float64", "int8", "bool", "generic", "integer", "dtype", "finfo", "errstate", "poly1d"):
        assert getattr(tnp, name) is getattr(np, name)
    assert tnp.newaxis is None
    assert tnp.pi == np.pi
    assert tnp.linalg.LinAlgError is np.linalg.LinAlgError
    assert tnp.exceptions.AxisError is np.exceptions.AxisError


def test_ufuncs_are_ufuncs() -> None:
    ufuncs = [name for name in np.__all__ if isinstance(getattr(np, name), np.ufunc)]
    assert [name for name in ufuncs if not isinstance(getattr(tnp, name), tnp.ufunc)] == []
    assert not isinstance(tnp.sum, tnp.ufunc)


def test_others_take_ufuncs_for_ufuncs() -> None:
    """Code that is not translated asks np.ufunc; translated code asks about ufuncs of other libraries."""
    assert isinstance(tnp.fmin, np.ufunc)
    assert isinstance(tnp.fmin, tnp.ufunc)
    assert isinstance(np.frompyfunc(abs, 1, 1), tnp.ufunc)
    assert pickle.loads(pickle.dumps(tnp.fmin)) is tnp.fmin
    unnamed = numpy_functions.universal_function(np.frompyfunc(max, 2, 1))
    assert unnamed.__reduce__() == (numpy_functions.universal_function, (unnamed.numpy,))
    assert copy.deepcopy(tnp.fmin) is tnp.fmin


@pytest.mark.parametrize("name", ["add", "sum", "linalg.norm", "zeros", "fft.fft"])
def test_functions_are_other_objects_than_numpys(name: str) -> None:
    """What is keyed by functions keeps NumPy's and np2tf's apart; an operator tells which belong together."""
    ours, numpys = operator.attrgetter(name)(tnp), operator.attrgetter(name)(np)
    assert ours != numpys
    assert len({ours, numpys}) == len({ours: 1, numpys: 2}) == 2
    kept = functools.lru_cache(lambda function: function)
    assert kept(numpys) is numpys
    assert kept(ours) is ours
    assert np2tf.numpy_function(ours) is numpys
    assert np2tf.numpy_function(numpys) is numpys
    assert copy.deepcopy(ours) is pickle.loads(pickle.dumps(ours)) is ours


def test_unknown_names_are_attribute_errors() -> None:
    with pytest.raises(AttributeError, match="no attribute 'no_such_name'"):
        tnp.no_such_name
    with pytest.raises(AttributeError, match="use the array's item method"):
        tnp.asscalar
    with pytest.raises(AttributeError, match="no_such_name"):
        tnp.linalg.no_such_name
    with pytest.raises(AttributeError, match="no_such_name"):
        tnp.ma.no_such_name
    assert not hasattr(tnp, "_core")


def test_removed_names_mean_what_they_meant() -> None:
    assert tnp.float is float
    assert -np.inf == tnp.NINF
    assert tnp.float_ is np.float64
    assert tnp.product is tnp.prod
    np.testing.assert_array_equal(np.asarray(tnp.in1d([[1, 2]], [2])), [False, True])
    np.testing.assert_array_equal(np.asarray(tnp.in1d([[1, 2]], ar2=[2])), [False, True])
    assert tnp.asfarray([1]).dtype == tnp.asfarray(np.float32([1])).dtype == np.float64
    assert tnp.asfarray([1], np.float32).dtype == tnp.asfarray([1], dtype="f").dtype == np.float32
    assert tnp.asfarray([1], int).dtype == tnp.asfarray([1], dtype=np.int8).dtype == np.float64
    assert (str(tnp.NZERO), str(tnp.PZERO)) == ("-0.0", "0.0")
    assert tnp.AxisError is np.exceptions.AxisError
    np.testing.assert_array_equal(np.asarray(tnp.msort([[3, 1], [2, 4]])), [[2, 1], [3, 4]])


def test_in_place_forms_of_ufuncs() -> None:
    array = tensor([1.0, 2.0, 3.0])
    assert tnp.add_at(array, [0, 0, 2], 1.0) is array
    np.testing.assert_array_equal(array.numpy(), [3.0, 2.0, 4.0])
    plain = np.array([1.0, 2.0])
    assert tnp.add_at(plain, [0, 0], 1.0) is plain
    np.testing.assert_array_equal(plain, [3.0, 2.0])
    new = tnp.add_at(tf.constant([1.0, 2.0]), [1, 1], 1.0)
    assert isinstance(new, tf.Tensor)
    np.testing.assert_array_equal(new.numpy(), [1.0, 4.0])


def test_fallbacks_take_and_give_arrays_and_are_counted() -> None:
    before = counts.host
    result = tnp.busday_count(np.array(["2024-01-01"], "M8[D]"), np.array(["2024-01-08"], "M8[D]"))
    assert type(result) is np.ndarray
    assert counts.host == before
    roots = tnp.roots(tensor([1.0, -3.0, 2.0]))
    assert is_array(roots)
    assert sorted(roots.numpy().tolist()) == [1.0, 2.0]
    assert counts.host == before + 1
    with np2tf.config.using(eager="tensorflow"):
        assert is_array(tnp.roots(np.array([1.0, -3.0, 2.0])))


def test_fallbacks_that_write_return_what_they_wrote_to() -> None:
    place = fallback(np.place, "numpy.place")
    array = tensor([1.0, 2.0, 3.0])
    view = array[1:]
    assert place(array, np.array([False, True, True]), [9.0]) is array
    assert array.numpy().tolist() == [1.0, 9.0, 9.0]
    assert view.numpy().tolist() == [9.0, 9.0]
    given = np.zeros(2)
    assert place(given, [True, False], [5.0]) is given
    assert given.tolist() == [5.0, 0.0]


def test_fallbacks_refuse_staged_values() -> None:
    @tf.function(autograph=False)
    def solve(p: tf.Tensor) -> tf.Tensor:
        return tnp.roots(tensor_array(p)).tensor

    with pytest.raises(StagingError):
        solve(tf.constant([1.0, 0.0]))
    with staging_scope(None), pytest.raises(StagingError):
        tnp.roots(np.array([1.0, 0.0]))
    with staging_scope(None), pytest.raises(StagingError):
        tnp.save("never written", 1)


def test_shared_memory() -> None:
    for make in (tensor, lambda values: tnp.asarray(np.array(values))):
        whole = make([1.0, 2.0, 3.0, 4.0])
        original = np.arange(4.0)
        for first, second in (
            (slice(None), slice(1, 2)),
            (slice(0, 2), slice(2, 4)),
            (slice(None, None, 2), slice(1, None, 2)),
            (slice(0, 0), slice(None)),
        ):
            for name in ("shares_memory", "may_share_memory"):
                expected = getattr(np, name)(original[first], original[second])
                assert getattr(tnp, name)(whole[first], whole[second]) is expected
        assert not tnp.shares_memory(whole, whole.copy())
        assert tnp.shares_memory(whole, whole)
        assert not tnp.shares_memory(whole, original)


def test_questions_about_types_need_no_values() -> None:
    answers: dict[str, Any] = {}

    @tf.function(autograph=False)
    def ask(x: tf.Tensor) -> tf.Tensor:
        array = tensor_array(x)
        answers["result_type"] = tnp.result_type(array, 2.0, np.float64)
        answers["weak"] = tnp.result_type(array, 2.0)
        answers["can_cast"] = tnp.can_cast(array, np.int8)
        answers["common_type"] = tnp.common_type(array, array)
        answers["iterable"] = tnp.iterable(array), tnp.iterable(array[0]), tnp.iterable(3)
        return x

    ask(tf.constant([1.0], tf.float32))
    assert answers == {
        "result_type": np.dtype("float64"),
        "weak": np.dtype("float32"),
        "can_cast": False,
        "common_type": np.float32,
        "iterable": (True, False, False),
    }


def test_real_and_imag() -> None:
    for make in (tensor, lambda values: tnp.asarray(np.array(values))):
        array = make([1 + 2j, 3 + 4j])
        tnp.real(array)[0] = 9.0
        tnp.imag(array)[...] = 0.0
        np.testing.assert_array_equal(np.asarray(array), [9 + 0j, 3 + 0j])
        whole = make([1.0, 2.0])
        assert tnp.shares_memory(tnp.real(whole), whole)
        np.testing.assert_array_equal(np.asarray(tnp.imag(whole)), [0.0, 0.0])
    assert tnp.real(1 + 2j) == 1.0
    assert tnp.imag([1j]).tolist() == [1.0]


def test_indexing_objects() -> None:
    for tnp_array, numpy_array in (
        (tnp.r_[1:4, 0], np.r_[1:4, 0]),
        (tnp.c_[[1, 2], [3, 4]], np.c_[[1, 2], [3, 4]]),
    ):
        np.testing.assert_array_equal(np.asarray(tnp_array), numpy_array)
    np.testing.assert_array_equal(np.asarray(tnp.r_[tensor([1.0]), 2.0]), [1.0, 2.0])
    np.testing.assert_array_equal(np.asarray(tnp.mgrid[:2, :3]), np.mgrid[:2, :3])
    assert tnp.s_[1:2, ...] == np.s_[1:2, ...]


def test_numpys_assertions_take_our_arrays() -> None:
    tnp.testing.assert_allclose(tensor([1.0, 2.0]), [1.0, 2.0])
    tnp.testing.assert_array_equal(tensor([1, 2]), tensor([1, 2]))
    with pytest.raises(AssertionError, match="not equal"):
        tnp.testing.assert_equal(tensor([1, 2]), [1, 3])
    with tnp.testing.assert_raises(ValueError):
        tnp.linalg.norm(tensor([1.0]), "no such order", 0)


def test_host_submodules_work() -> None:
    masked = tnp.ma.masked_where(tensor([False, True]), tensor([1.0, 2.0]))
    assert isinstance(masked, np.ma.MaskedArray)
    assert masked.sum() == 1.0
    assert is_array(tnp.emath.sqrt(tensor([-1.0, 4.0])))
    assert tnp.char.upper(np.array(["a"])).tolist() == ["A"]
    assert tnp.polynomial.Polynomial is np.polynomial.Polynomial
    assert is_array(tnp.polynomial.polynomial.polyval(tensor([1.0, 2.0]), tensor([1.0, 2.0])))


def test_import_costs_little_beyond_tensorflow() -> None:
    code = (
        "import tensorflow, time; start = time.process_time(); import np2tf.tnp; "
        "print(time.process_time() - start)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120
    )
    assert float(run.stdout) < 0.3
