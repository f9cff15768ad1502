"""Memory order: strides, flags, and what is a view, as NumPy has them, for arrays on TensorFlow."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import np2tf
from np2tf import tnp

Case = Callable[[Any, Any, Any], Any]

#: How the operand is made, of an array of the shape (2, 3, 4).
OPERANDS: dict[str, Callable[[Any, Any], Any]] = {
    "C": lambda m, x: x,
    "F": lambda m, x: m.asfortranarray(x),
    "reversed": lambda m, x: x.T,
    "permuted": lambda m, x: x.transpose(1, 0, 2),
    "permuted copy": lambda m, x: x.transpose(1, 2, 0).copy("K"),
    "stepped": lambda m, x: x[:, ::2, 1:],
    "stepped F": lambda m, x: x.T[1:, ::2],
    "backwards": lambda m, x: x[:, ::-1],
    "backwards F": lambda m, x: x.T[::-1, :, ::-1],
    "part": lambda m, x: x[0],
    "part F": lambda m, x: m.asfortranarray(x)[:, 1],
    "no axes": lambda m, x: x[0, 0, 0, ...],
    "one axis": lambda m, x: x[0, 1],
    "one axis stepped": lambda m, x: x[1, :, 2],
    "whole axis": lambda m, x: m.arange(4.0),
    "empty": lambda m, x: x[:0],
    "empty F": lambda m, x: x[:, :0].T,
    "length one": lambda m, x: x[:1, :, :1],
    "length one F": lambda m, x: x[:, 1:2].T,
    "length one permuted": lambda m, x: m.ones((2, 1, 3)).transpose(1, 2, 0),
    "new axis": lambda m, x: x[0, ::2, None],
    "broadcast rows": lambda m, x: m.broadcast_to(x[0, 0], (3, 4)),
    "broadcast columns": lambda m, x: m.broadcast_to(x[0, :, :1], (3, 4)),
    "diagonal": lambda m, x: m.diagonal(x, axis1=0, axis2=1),
    "read-only": lambda m, x: _sealed(x.T),
}
ORDERS = ("C", "F", "A", "K", None)
#: Other spellings, and what is no order.
ODD = ("f", b"K", "X", "", 3)
#: The functions and methods that take an order, with an array.
TAKING: dict[str, Case] = {
    "array": lambda m, a, order: m.array(a, order=order),
    "array of no copy": lambda m, a, order: m.array(a, copy=None, order=order),
    "asarray": lambda m, a, order: m.asarray(a, order=order),
    "asarray of another dtype": lambda m, a, order: m.asarray(a, "f4", order=order),
    "asanyarray": lambda m, a, order: m.asanyarray(a, order=order),
    "asarray_chkfinite": lambda m, a, order: m.asarray_chkfinite(a, order=order),
    "copy": lambda m, a, order: m.copy(a, order),
    ".copy": lambda m, a, order: a.copy(order),
    ".astype": lambda m, a, order: a.astype("f4", order=order),
    ".astype of no copy": lambda m, a, order: a.astype(a.dtype, order=order, copy=False),
    ".flatten": lambda m, a, order: a.flatten(order),
    "ravel": lambda m, a, order: m.ravel(a, order),
    ".ravel": lambda m, a, order: a.ravel(order),
    "reshape": lambda m, a, order: m.reshape(a, (-1,), order),
    ".reshape": lambda m, a, order: a.reshape((1, a.size, 1), order=order),
    ".reshape to two axes": lambda m, a, order: a.reshape((a.size // 2, 2), order=order),
    ".tobytes": lambda m, a, order: a.tobytes(order),
    "empty_like": lambda m, a, order: _filled(m.empty_like(a, order=order)),
    "ones_like": lambda m, a, order: m.ones_like(a, order=order),
    "zeros_like": lambda m, a, order: m.zeros_like(a, "i4", order),
    "full_like": lambda m, a, order: m.full_like(a, 2, order=order),
    "zeros_like of a shape": lambda m, a, order: m.zeros_like(a, shape=(2, 3, 5), order=order),
    "zeros": lambda m, a, order: m.zeros(a.shape, order=order),
    "ones": lambda m, a, order: m.ones(a.shape, order=order),
    "empty": lambda m, a, order: _filled(m.empty(a.shape, order=order)),
    "full": lambda m, a, order: m.full(a.shape, 2.0, order=order),
    "eye": lambda m, a, order: m.eye(3, 4, order=order),
    "ndarray": lambda m, a, order: _filled(m.ndarray(a.shape, order=order or "C")),
    "add": lambda m, a, order: m.add(a, 1, order=order),
    "sqrt": lambda m, a, order: m.sqrt(a, order=order),
    "divmod": lambda m, a, order: m.divmod(a, 2, order=order)[1],
    "einsum": lambda m, a, order: m.einsum("...,->...", a, 2.0, order=order),
    "unravel_index": lambda m, a, order: m.stack(m.unravel_index(m.array([3, 5]), (2, 3), order)),
    "ravel_multi_index": lambda m, a, order: m.ravel_multi_index(([1, 0], [2, 1]), (2, 3), order=order),
    "nditer": lambda m, a, order: m.array(
        [float(x) for x in m.nditer(a, order=order, flags=["zerosize_ok"])]
    ),
}
#: Functions whose result is laid out as their operands are.
FOLLOWING: dict[str, Callable[[Any, Any, Any], Any]] = {
    "a + 1": lambda m, a, x: a + 1,
    "2 - a": lambda m, a, x: 2 - a,
    "-a": lambda m, a, x: -a,
    "a * a": lambda m, a, x: a * a,
    "a < a": lambda m, a, x: a < a,
    "a permutation < a number": lambda m, a, x: m.transpose(a) < 3,
    "argwhere": lambda m, a, x: m.argwhere(a > 3) if a.ndim else a,
    "a + its copy in C order": lambda m, a, x: a + a.copy(),
    "a + a row": lambda m, a, x: a + a[:1] if a.ndim else a + a,
    "a + i4": lambda m, a, x: a + a.astype("i4"),
    "a / a number": lambda m, a, x: a / np.float64(3),
    "a and an array on the host": lambda m, a, x: a + np.ones(a.shape, order="F"),
    "exp": lambda m, a, x: m.exp(a * 0),
    "isnan": lambda m, a, x: m.isnan(a),
    "power": lambda m, a, x: a**2,
    "modf": lambda m, a, x: m.modf(a)[0],
    "maximum": lambda m, a, x: m.maximum(a, 3),
    "clip": lambda m, a, x: m.clip(a, 1, 5),
    "round": lambda m, a, x: m.round(a, 1),
    "where": lambda m, a, x: m.where(a > 3, a, 0.0),
    "nan_to_num": lambda m, a, x: m.nan_to_num(a),
    "sort": lambda m, a, x: m.sort(a, axis=-1) if a.ndim else a,
    "concatenate": lambda m, a, x: m.concatenate((a, a)) if a.ndim else a,
    "concatenate the last axes": lambda m, a, x: m.concatenate((a, a + 1), axis=-1) if a.ndim else a,
    "concatenate with C": lambda m, a, x: m.concatenate((a, a.copy())) if a.ndim else a,
    "stack": lambda m, a, x: m.stack((a, a)),
    "stack behind": lambda m, a, x: m.stack((a, a), axis=-1),
    "hstack": lambda m, a, x: m.hstack((a, a)),
    "vstack": lambda m, a, x: m.vstack((a, a)),
    "dstack": lambda m, a, x: m.dstack((a, a)),
    "sum": lambda m, a, x: m.sum(a, axis=0) if a.ndim else a,
    "sum of the last": lambda m, a, x: a.sum(-1, keepdims=True) if a.ndim else a,
    "max": lambda m, a, x: (a + 1).max(axis=-1, initial=0) if a.ndim else a,
    "mean": lambda m, a, x: a.mean(tuple(range(a.ndim))[:1]) if a.size else a,
    "any": lambda m, a, x: m.any(a, axis=-1) if a.ndim else a,
    "cumsum": lambda m, a, x: m.cumsum(a, axis=0) if a.ndim else a,
    "deepcopy": lambda m, a, x: __import__("copy").deepcopy(a),
    "copy.copy": lambda m, a, x: __import__("copy").copy(a),
    "astype": lambda m, a, x: a.astype("f4"),
    "m.astype": lambda m, a, x: m.astype(a, m.float32),
    "ascontiguousarray": lambda m, a, x: m.ascontiguousarray(a),
    "asfortranarray": lambda m, a, x: m.asfortranarray(a),
    "require C": lambda m, a, x: m.require(a, requirements="C"),
    "require F": lambda m, a, x: m.require(a, requirements=["F_CONTIGUOUS"]),
    "require W": lambda m, a, x: m.require(a, requirements=["W"]),
    "require O": lambda m, a, x: m.require(a, "f8", ["OWNDATA", "A"]),
    "require both": lambda m, a, x: m.require(a, requirements=["C", "F"]),
    "array of two axes": lambda m, a, x: m.array(a, ndmin=2),
    "einsum of no sum": lambda m, a, x: m.einsum("...->...", a),
    "einsum reversed": lambda m, a, x: m.einsum("ijk->kji", a) if a.ndim == 3 else a,
    "einsum diagonal": lambda m, a, x: m.einsum("iji->ij", x[:, :2, :2]),
    "einsum diagonal in front": lambda m, a, x: m.einsum("iij->ij", x.T[:2, :2]),
    "einsum diagonal of diagonals": lambda m, a, x: m.einsum("iii->i", x[:, :2, :2]),
    "reshape": lambda m, a, x: a.reshape(-1),
    "squeeze": lambda m, a, x: a.squeeze(),
    "real": lambda m, a, x: m.real(a),
    "imag": lambda m, a, x: m.imag(a),
    "a half": lambda m, a, x: a.view("c16") if a.ndim and a.shape[-1] == 4 and a.strides[-1] == 8 else a,
    "pad": lambda m, a, x: m.pad(a, 1),
}
#: (test, function, order, operand) as patterns -> why the layout is not NumPy's.
LIMITS: dict[tuple[str, str, str, str], str] = {
    (
        "taking",
        "ndarray",
        "[Ff]",
        "length one",
    ): "NumPy's memory in both orders is taken for C order",
}


def _sealed(a: Any) -> Any:
    a.flags.writeable = False
    return a


def _filled(a: Any) -> Any:
    a[...] = 1
    return a


def described(m: Any, make: Callable[[Any, Any], Any], call: Callable[[Any, Any], Any]) -> Any:
    """All that can be told of a result, and of what it was made of after something was written to it."""
    owner = m.array(np.arange(24.0).reshape(2, 3, 4))
    operand = make(m, owner)
    try:
        made = call(operand, owner)
    except (ValueError, TypeError) as error:
        return type(error)
    if not isinstance(made, np.ndarray):
        return made if isinstance(made, bytes) else np.asarray(made).tolist()
    names = ("c_contiguous", "f_contiguous", "owndata", "writeable")
    told: dict[str, Any] = {name: getattr(made.flags, name) for name in names}
    told |= {"is operand": made is operand, "dtype": made.dtype, "shape": made.shape, "strides": made.strides}
    told |= {"no base": made.base is None, "bytes": made.tobytes("A")}
    told |= {"shares": (m.may_share_memory(made, operand), m.may_share_memory(made, owner))}
    if min(made.shape, default=2) > 1:
        told["host"] = np.copy(np.asarray(made), "K").strides
    if made.flags.writeable:
        made[...] = -1
        told |= {"owner": owner.tolist(), "operand": operand.tolist()}
    return told


def differences(found: Any, wanted: Any) -> Any:
    """The differences of two descriptions; None if there are none."""
    if isinstance(found, dict) and isinstance(wanted, dict):
        return {key: (found.get(key), wanted[key]) for key in wanted if found.get(key) != wanted[key]} or None
    return None if found == wanted else (found, wanted)


def check(
    test: str, name: str, order: Any, operands: Iterable[str], call: Callable[[Any, Any, Any], Any]
) -> None:
    """Compare what is told on TensorFlow with what NumPy tells."""
    wrong, stale = [], []
    with np2tf.config.using(eager="tensorflow"):
        for operand, make in ((name, OPERANDS[name]) for name in operands):
            known = [key for key in LIMITS if _fits(key, (test, name, str(order), operand))]
            found = described(tnp, make, lambda a, x: call(tnp, a, x))
            differs = differences(found, described(np, make, lambda a, x: call(np, a, x)))
            if differs is not None and not known:
                wrong.append((operand, differs))
            stale += [key for key in known if differs is None and key[-1] == operand]
    assert not wrong, "\n".join(map(str, wrong))
    assert not stale, f"these are NumPy's now: {stale}"


def _fits(patterns: tuple[str, ...], names: tuple[str, ...]) -> bool:
    return all(map(fnmatch.fnmatchcase, names, patterns))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", TAKING)
def test_of_a_function_that_takes_an_order(name: str, order: Any) -> None:
    """Every order, of every array."""
    check("taking", name, order, OPERANDS, lambda m, a, x: TAKING[name](m, a, order))


@pytest.mark.parametrize("name", TAKING)
def test_of_what_is_no_order(name: str) -> None:
    """Letters are of any case and type; NumPy's errors for what is none."""
    for order in ODD:
        check("taking", name, order, ("F",), lambda m, a, x, order=order: TAKING[name](m, a, order))


@pytest.mark.parametrize("name", FOLLOWING)
def test_of_a_result_that_follows_its_operands(name: str) -> None:
    """Results are laid out as NumPy lays them out, and views of what NumPy views."""
    check("following", name, None, OPERANDS, lambda m, a, x: FOLLOWING[name](m, a, x))


def written(m: Any, name: str) -> Any:
    """Write to a new array over the memory of `array`; return the items of `array`, and the new layout."""
    array = m.arange(6, dtype="f4")
    try:
        made = OVER_MEMORY[name](m, array)
    except (ValueError, TypeError, BufferError, np2tf.StagingError) as error:
        return type(error)
    made[...] = 1
    return array.tolist(), made.shape, made.strides, made.flags.owndata, made.base is None


#: Arrays made over the memory of one of the type f4.
OVER_MEMORY: dict[str, Callable[[Any, Any], Any]] = {
    "all of it": lambda m, a: m.ndarray((2, 3), "f4", a.data),
    "by name": lambda m, a: m.ndarray(shape=(3,), dtype="f4", buffer=a.data, offset=4),
    "in Fortran order": lambda m, a: m.ndarray((2, 2), "i2", a.data, 4, order="F"),
    "of another dtype": lambda m, a: m.ndarray((3,), "f8", a.data),
    "of a transposed array": lambda m, a: m.ndarray((3, 2), "f4", a.reshape(2, 3).T.data, order="F"),
    "of a part": lambda m, a: m.ndarray((2,), "f4", a[3:].data),
    "of a part of the memory": lambda m, a: m.ndarray((2,), "f4", a.data[3:]),
    "of a part that is not contiguous": lambda m, a: m.ndarray((2,), "f4", a[::2].data),
    "too much": lambda m, a: m.ndarray((7,), "f4", a.data),
    "frombuffer": lambda m, a: m.frombuffer(a.data, "f4", count=2, offset=8),
}


@pytest.mark.parametrize("name", OVER_MEMORY)
def test_of_an_array_over_memory(name: str) -> None:
    """``ndarray(…, x.data)`` is a view of x."""
    with np2tf.config.using(eager="tensorflow"):
        found = written(tnp, name)
    assert found == written(np, name)


def test_of_what_no_view_of_tensorflow_can_be() -> None:
    """Memory seen across its elements is refused, and not silently a copy."""
    with np2tf.config.using(eager="tensorflow"):
        array = tnp.arange(6, dtype="f4")
        for more in ({"offset": 2}, {"strides": (8,)}):
            with pytest.raises(np2tf.StagingError):
                tnp.ndarray((2,), "f4", array.data, **more)
        assert array.data.readonly


def _first_of_ravel(m: Any, x: Any, order: str) -> Any:
    flat = x.ravel(order)
    flat[0] = -1
    return flat, x + 0


#: Programs in which the memory order of an argument, or of what is made of it, decides about values.
COMPILED: dict[str, Callable[[Any, Any], Any]] = {
    "ravel": lambda m, x: x.ravel("K"),
    "reshape": lambda m, x: x.reshape(-1, order="A"),
    "ravel of the transposed": lambda m, x: x.T.ravel("K"),
    "ravel of a result": lambda m, x: (x.T + 1).ravel("K"),
    "ravel of a copy": lambda m, x: x.copy("F").ravel("K"),
    "ravel of a new array": lambda m, x: (m.zeros((2, 3), order="F") + m.arange(3.0)).ravel("K"),
    "a view or a copy in C order": lambda m, x: _first_of_ravel(m, x, "C"),
    "a view or a copy in F order": lambda m, x: _first_of_ravel(m, x, "F"),
    "a view or a copy as it is": lambda m, x: _first_of_ravel(m, x, "K"),
    "asfortranarray": lambda m, x: _first_of_ravel(m, m.asfortranarray(x), "K"),
    "a diagonal": lambda m, x: _filled(m.einsum("ii->i", x[:2, :2])) + x[0, 1],
}


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("name", COMPILED)
def test_of_compiled_code(name: str, order: str) -> None:
    """Code is compiled for the memory order of its arguments, and writes through views of them only."""
    program = COMPILED[name]
    here = np.arange(6.0).reshape(2, 3).copy(order)
    there = np2tf.device_put(here)
    assert there.strides == here.strides
    found = np2tf.jit(lambda x: program(tnp, x))(there)
    wanted = program(np, here)
    for found_value, wanted_value in zip((found, there), (wanted, here), strict=True):
        np.testing.assert_equal(found_value, wanted_value)
    if isinstance(wanted, np.ndarray) and wanted.ndim > 1:
        assert found.strides == wanted.strides


def test_of_what_a_gradient_tape_follows() -> None:
    """A tape follows permuted arrays, and results laid out like them."""
    with np2tf.config.using(eager="tensorflow"):
        x = tnp.array(np.arange(6.0).reshape(2, 3))
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x.T * 2
            z = (tnp.square(y) * tnp.asfortranarray(x).T).sum()
        np.testing.assert_allclose(tape.gradient(z, x), 12 * np.arange(6.0).reshape(2, 3) ** 2)
        assert (x.T * 2).strides == y.strides == (8, 24)
