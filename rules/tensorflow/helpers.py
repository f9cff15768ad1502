"""What differs between NumPy and tf.experimental.numpy, written out with TensorFlow's operations.

`np2tf convert --target tf` writes those that a translation calls into it, with what they call themselves, so
that it needs TensorFlow alone. Nothing imports this file.
"""

import tensorflow as tf
import tensorflow.experimental.numpy as tnp


def _floating(x):
    """The array, as NumPy's mathematical functions take it: integers as float64."""
    x = tnp.asarray(x)
    if x.dtype == tf.bool:
        raise TypeError("mathematical functions of truth values are not translated")
    return x if x.dtype.is_floating or x.dtype.is_complex else tf.cast(x, tf.float64)


def _pair(x, y):
    """Two operands as arrays of NumPy's common dtype."""
    dtype = tnp.result_type(x, y)
    return tf.cast(tnp.asarray(x), dtype), tf.cast(tnp.asarray(y), dtype)


def _array(object, dtype=None):
    """A new array; Python's numbers beside arrays count as float64 and int64, as NumPy takes them."""
    leaves = tf.nest.flatten(object)
    if dtype is None and any(map(tf.is_tensor, leaves)):
        leaves = [tnp.asarray(one) for one in leaves]
        object = tf.nest.pack_sequence_as(object, [tf.cast(one, tnp.result_type(*leaves)) for one in leaves])
    return tnp.array(object, dtype=dtype)


def _asarray(a, dtype=None):
    """An array."""
    return _array(a, dtype)


def _asanyarray(a, dtype=None):
    """An array."""
    return _array(a, dtype)


def _ascontiguousarray(a, dtype=None):
    """An array with at least one axis."""
    return tnp.atleast_1d(_array(a, dtype))


def _concatenate(arrays, axis=0):
    """Arrays joined along an axis; None joins their elements."""
    return tnp.concatenate([_array(one) for one in arrays], axis=axis)


def _stack(arrays, axis=0):
    """Arrays joined along a new axis."""
    return tnp.stack([_array(one) for one in arrays], axis=axis)


def _vstack(tup):
    """Arrays joined as rows."""
    return tnp.vstack([_array(one) for one in tup])


def _hstack(tup):
    """Arrays joined along the second axis, vectors along their only one."""
    return tnp.hstack([_array(one) for one in tup])


def _dstack(tup):
    """Arrays joined along the third axis."""
    return tnp.dstack([_array(one) for one in tup])


def _append(arr, values, axis=None):
    """An array with values behind its own."""
    return tnp.append(_array(arr), _array(values), axis=axis)


def _clip(a, a_min, a_max):
    """Values moved to the nearest bound; where the bounds cross, to the upper one."""
    a = a if a_min is None else tnp.maximum(a, a_min)
    return tnp.asarray(a) if a_max is None else tnp.minimum(a, a_max)


def _sort(a, axis=-1):
    """Values in order, NaNs behind all others."""
    a = tnp.asarray(a)
    if axis is None:
        a, axis = tf.reshape(a, [-1]), 0
    if not a.dtype.is_floating:
        return tf.sort(a, axis=axis)
    missing = tf.math.is_nan(a)
    infinity = tf.constant(float("inf"), a.dtype)
    ordered = tf.sort(tf.where(missing, infinity, a), axis=axis)
    count = tf.reduce_sum(tf.cast(~missing, tf.int32), axis=axis, keepdims=True)
    number = tf.cumsum(tf.ones_like(a, tf.int32), axis=axis, exclusive=True)
    return tf.where(number < count, ordered, tf.constant(float("nan"), a.dtype))


def _log2(x):
    """The logarithm to base 2, with the operand's precision."""
    x = _floating(x)
    return tf.cast(tf.math.log(tf.cast(x, tf.float64)) / tf.math.log(tf.constant(2.0, tf.float64)), x.dtype)


def _log10(x):
    """The logarithm to base 10, with the operand's precision."""
    x = _floating(x)
    return tf.cast(tf.math.log(tf.cast(x, tf.float64)) / tf.math.log(tf.constant(10.0, tf.float64)), x.dtype)


def _degrees(x):
    """Degrees of radians."""
    x = _floating(x)
    return x * tf.constant(57.29577951308232, x.dtype)


def _radians(x):
    """Radians of degrees."""
    x = _floating(x)
    return x * tf.constant(0.017453292519943295, x.dtype)


def _fabs(x):
    """Absolute values as floats."""
    return tf.abs(_floating(x))


def _asin(x):
    """The inverse sine."""
    return tf.math.asin(_floating(x))


def _acos(x):
    """The inverse cosine."""
    return tf.math.acos(_floating(x))


def _atan(x):
    """The inverse tangent."""
    return tf.math.atan(_floating(x))


def _sinc(x):
    """sin(pi x) / (pi x)."""
    x = _floating(x)
    y = x * tf.constant(3.141592653589793, x.dtype)
    one = tf.ones_like(y)
    return tf.where(y == 0, one, tf.sin(y) / tf.where(y == 0, one, y))


def _whole(x, function):
    """Whole numbers near an array's; integers stay what they are."""
    x = tnp.asarray(x)
    return function(x) if x.dtype.is_floating else x


def _floor(x):
    """The largest whole number that is not larger."""
    return _whole(x, tf.floor)


def _ceil(x):
    """The smallest whole number that is not smaller."""
    return _whole(x, tf.math.ceil)


def _toward_zero(x):
    """Whole numbers toward zero, which keep the sign."""
    return tf.where(x < 0, tf.math.ceil(x), tf.floor(x))


def _trunc(x):
    """The whole number toward zero."""
    return _whole(x, _toward_zero)


def _fix(x):
    """The whole number toward zero."""
    return _whole(x, _toward_zero)


def _rint(x):
    """The nearest whole number, as a float."""
    return tf.math.rint(_floating(x))


def _round(a, decimals=0):
    """Rounded to decimals, halves to even."""
    a = tnp.asarray(a)
    if not a.dtype.is_floating:
        if decimals < 0 or a.dtype == tf.bool:
            raise TypeError("rounding of such values is not translated")
        return a
    factor = tf.constant(10.0 ** abs(decimals), a.dtype)
    return tf.math.rint(a * factor) / factor if decimals >= 0 else tf.math.rint(a / factor) * factor


def _around(a, decimals=0):
    """Rounded to decimals, halves to even."""
    return _round(a, decimals)


def _python_round(number, ndigits=None):
    """Python's `round` of a number that may be an array without axes."""
    if not tf.is_tensor(number):
        return round(number) if ndigits is None else round(number, ndigits)
    return int(_round(number)) if ndigits is None else _round(number, ndigits)


def _add(x1, x2):
    """The sum; of truth values, whether one of them is true."""
    x1, x2 = _pair(x1, x2)
    return tf.logical_or(x1, x2) if x1.dtype == tf.bool else x1 + x2


def _remainder(x1, x2):
    """The remainder with the divisor's sign."""
    if not tf.is_tensor(x1) and not tf.is_tensor(x2):
        return x1 % x2
    x1, x2 = _pair(x1, x2)
    if not x1.dtype.is_floating:
        return tf.math.floormod(x1, x2)
    rest = tf.math.floormod(x1, x2)
    zero = tf.cast(0.0, x1.dtype)
    return tf.where(rest == 0, tf.where(x2 < 0, -zero, zero), rest)


def _mod(x1, x2):
    """The remainder with the divisor's sign."""
    return _remainder(x1, x2)


def _fmod(x1, x2):
    """The remainder with the dividend's sign."""
    x1, x2 = _pair(x1, x2)
    return tf.raw_ops.TruncateMod(x=x1, y=x2)


def _floor_divide(x1, x2):
    """The quotient toward minus infinity, from the remainder: `1.0 // 0.1` is 9."""
    if not tf.is_tensor(x1) and not tf.is_tensor(x2):
        return x1 // x2
    x1, x2 = _pair(x1, x2)
    if not x1.dtype.is_floating:
        return tf.math.floordiv(x1, x2)
    rest = tf.raw_ops.TruncateMod(x=x1, y=x2)
    quotient = (x1 - rest) / x2
    quotient = tf.where((rest != 0) & ((x2 < 0) != (rest < 0)), quotient - 1, quotient)
    whole = tf.floor(quotient)
    whole = tf.where(quotient - whole > 0.5, whole + 1, whole)
    whole = tf.where(quotient == 0, 0 * (x1 / x2), whole)
    return tf.where(x2 == 0, x1 / x2, whole)


def _arctan2(x1, x2):
    """The angle of a point."""
    x1, x2 = _pair(x1, x2)
    return tf.math.atan2(_floating(x1), _floating(x2))


def _copysign(x1, x2):
    """The size of one, with the sign of the other."""
    x1, x2 = _pair(x1, x2)
    x1, x2 = _floating(x1), _floating(x2)
    negative = tf.math.atan2(x2, tf.ones_like(x2)) < 0
    negative |= (x2 == 0) & (1 / x2 < 0)
    return tf.where(negative, -tf.abs(x1), tf.abs(x1))


def _isinf(x):
    """Where values are infinite."""
    x = tnp.asarray(x)
    return tf.math.is_inf(x) if x.dtype.is_floating else tf.zeros(x.shape, tf.bool)


def _isposinf(x):
    """Where values are plus infinity."""
    x = tnp.asarray(x)
    return _isinf(x) & (x > 0) if x.dtype.is_floating else tf.zeros(x.shape, tf.bool)


def _isneginf(x):
    """Where values are minus infinity."""
    x = tnp.asarray(x)
    return _isinf(x) & (x < 0) if x.dtype.is_floating else tf.zeros(x.shape, tf.bool)


def _isclose(a, b, rtol=1e-05, atol=1e-08):
    """Where values are close, as NumPy says: infinities only to themselves."""
    a, b = tf.cast(tnp.asarray(a), tf.float64), tf.cast(tnp.asarray(b), tf.float64)
    finite = tf.math.is_finite(b)
    return (finite & (tf.abs(a - b) <= atol + rtol * tf.abs(b))) | (a == b)


def _allclose(a, b, rtol=1e-05, atol=1e-08):
    """Whether all values are close."""
    return bool(tf.reduce_all(_isclose(a, b, rtol, atol)))


def _array_equal(a1, a2):
    """Whether shapes and values are the same."""
    a1, a2 = tnp.asarray(a1), tnp.asarray(a2)
    if a1.shape != a2.shape:
        return False
    a1, a2 = _pair(a1, a2)
    return bool(tf.reduce_all(tf.equal(a1, a2)))


def _nonzero(a):
    """The indices of what is not zero, an array for each axis."""
    return tuple(tnp.nonzero(a))


def _max(a, axis=None, keepdims=False):
    """The largest values; an error where there are none."""
    most = tnp.max(a, axis=axis, keepdims=keepdims)
    if 0 in tnp.asarray(a).shape and 0 not in most.shape:
        raise ValueError("zero-size array to reduction operation maximum which has no identity")
    return most


def _min(a, axis=None, keepdims=False):
    """The smallest values; an error where there are none."""
    least = tnp.min(a, axis=axis, keepdims=keepdims)
    if 0 in tnp.asarray(a).shape and 0 not in least.shape:
        raise ValueError("zero-size array to reduction operation minimum which has no identity")
    return least


def _amax(a, axis=None, keepdims=False):
    """The largest values."""
    return _max(a, axis, keepdims)


def _amin(a, axis=None, keepdims=False):
    """The smallest values."""
    return _min(a, axis, keepdims)


def _ptp(a, axis=None):
    """The largest value less the smallest."""
    return _max(a, axis) - _min(a, axis)


def _first_extreme(a, axis, function):
    """Where an extremum is first; a NaN is one."""
    a = tnp.asarray(a)
    if axis is None:
        a, axis = tf.reshape(a, [-1]), 0
    a = tf.cast(a, tf.int32) if a.dtype == tf.bool else a
    found = function(a, axis=axis, output_type=tf.int64)
    if not a.dtype.is_floating:
        return found
    missing = tf.math.is_nan(a)
    first = tf.argmax(tf.cast(missing, tf.int32), axis=axis, output_type=tf.int64)
    return tf.where(tf.reduce_any(missing, axis=axis), first, found)


def _argmax(a, axis=None):
    """Where the largest value is first."""
    return _first_extreme(a, axis, tf.argmax)


def _argmin(a, axis=None):
    """Where the smallest value is first."""
    return _first_extreme(a, axis, tf.argmin)


def _var(a, axis=None, ddof=0, keepdims=False):
    """The variance, with `ddof` values fewer in the divisor."""
    a = _floating(a)
    if a.dtype.is_complex:
        raise TypeError("the variance of complex values is not translated")
    mean = tf.reduce_mean(a, axis=axis, keepdims=True)
    total = tf.reduce_sum(tf.square(a - mean), axis=axis, keepdims=keepdims)
    one = tf.reduce_sum(tf.ones_like(a), axis=axis, keepdims=keepdims)
    return total / (one - tf.cast(ddof, a.dtype))


def _std(a, axis=None, ddof=0, keepdims=False):
    """The standard deviation."""
    return tf.sqrt(_var(a, axis, ddof, keepdims))


def _median(a, axis=None):
    """The middle value, or the mean of two; NaN where one is."""
    a = _floating(a)
    if axis is None:
        a, axis = tf.reshape(a, [-1]), 0
    count = a.shape[axis]
    ordered = tf.sort(a, axis=axis)
    low = tf.gather(ordered, (count - 1) // 2, axis=axis)
    high = tf.gather(ordered, count // 2, axis=axis)
    middle = low if count % 2 else (low + high) / 2
    missing = tf.reduce_any(tf.math.is_nan(a), axis=axis)
    return tf.where(missing, tf.cast(float("nan"), a.dtype), middle)


def _arange(start, stop=None, step=1, dtype=None):
    """Evenly spaced values, each from its number: sums of steps would drift."""
    start, stop = (0, start) if stop is None else (start, stop)
    start, stop, step = (_number(one) for one in (start, stop, step))  # [tensors]
    count = max(0, -int((start - stop) / step // 1))
    made = start + ((start + step) - start) * tf.range(count, dtype=tnp.asarray(start + stop + step).dtype)
    return made if dtype is None else tf.cast(made, tnp.zeros(0, dtype).dtype)


def _number(x):
    """A number of Python's, from one that may be in an array without axes."""
    if not tf.is_tensor(x):
        return float(x) if isinstance(x, float) else int(x)
    if x.dtype == tf.float32:
        raise TypeError("values between numbers of single precision are not translated")
    return x.numpy().item()


def _linspace(start, stop, num=50, endpoint=True):
    """Evenly spaced values between two numbers; the last is exactly the stop."""
    start, stop, num = float(_number(start)), float(_number(stop)), _number(num)  # [tensors]
    made = tf.range(num, dtype=tf.float64) * ((stop - start) / max(num - bool(endpoint), 1)) + start
    return tf.concat([made[:-1], [stop]], 0) if endpoint and num > 1 else made


def _trace(a):
    """The sum of the diagonal of a matrix."""
    a = tnp.asarray(a)
    if len(a.shape) != 2:
        raise TypeError("the trace of more than a matrix is not translated")
    return tnp.sum(tf.linalg.diag_part(a))


def _meshgrid(*xi, indexing="xy"):
    """Coordinates of a grid, each with the dtype of its own array."""
    places = tf.meshgrid(*[tf.range(tf.size(one)) for one in xi], indexing=indexing)
    return tuple(tf.gather(tf.reshape(tnp.asarray(one), [-1]), place) for one, place in zip(xi, places))


def _take(a, indices, axis=None):
    """Elements by their numbers, which may count from the end."""
    a, indices = tnp.asarray(a), tnp.asarray(indices)
    if axis is None:
        a, axis = tf.reshape(a, [-1]), 0
    count = a.shape[axis]
    tf.debugging.assert_less(indices, tf.cast(count, indices.dtype), "index out of bounds")
    tf.debugging.assert_greater_equal(indices, tf.cast(-count, indices.dtype), "index out of bounds")
    return tf.gather(a, tf.where(indices < 0, indices + tf.cast(count, indices.dtype), indices), axis=axis)


def _pad(array, pad_width):
    """The array with zeros around it."""
    array = tnp.asarray(array)
    widths = tf.broadcast_to(tf.cast(tnp.asarray(pad_width), tf.int32), [len(array.shape), 2])
    return tf.pad(array, widths)


def _bincount(x):
    """How often each whole number occurs."""
    x = tnp.asarray(x)
    if len(x.shape) != 1 or not x.dtype.is_integer:
        raise TypeError("bincount takes a vector of whole numbers")
    tf.debugging.assert_non_negative(x, "bincount takes numbers that are not negative")
    length = int(tf.reduce_max(x)) + 1 if x.shape[0] else 0
    return tf.math.unsorted_segment_sum(tf.ones_like(x, tf.int64), x, length)


def _ndim(a):
    """The number of axes."""
    return len(tnp.asarray(a).shape)


def _size(a):
    """The number of elements."""
    return tnp.asarray(a).shape.num_elements()


def _shape(a):
    """The lengths of the axes."""
    return tuple(tnp.asarray(a).shape)


def _linalg_norm(x, ord=None, axis=None, keepdims=False):
    """Norms of vectors, and the Frobenius norm of all values."""
    x = tf.abs(_floating(x))
    if ord is None or (ord == 2 and (axis is not None or len(x.shape) == 1)):
        return tf.sqrt(tf.reduce_sum(tf.square(x), axis=axis, keepdims=keepdims))
    if isinstance(axis, (tuple, list)) or (axis is None and len(x.shape) != 1):
        raise TypeError("this norm of a matrix is not translated")
    if ord == float("inf"):
        return tf.reduce_max(x, axis=axis, keepdims=keepdims)
    if ord == 1:
        return tf.reduce_sum(x, axis=axis, keepdims=keepdims)
    raise TypeError("this norm is not translated")


def _linalg_solve(a, b):
    """The solution of a linear system; of a vector, or of the columns of a matrix."""
    a, b = _pair(_floating(a), _floating(b))
    if len(b.shape) == 1:
        return tf.linalg.solve(a, b[:, None])[:, 0]
    return tf.linalg.solve(a, b)


def _linalg_inv(a):
    """The inverse of a matrix."""
    return tf.linalg.inv(_floating(a))


def _linalg_det(a):
    """The determinant of a matrix."""
    return tf.linalg.det(_floating(a))


def _linalg_cholesky(a):
    """The lower triangular factor of a matrix."""
    return tf.linalg.cholesky(_floating(a))


def _linalg_eigvalsh(a):
    """The eigenvalues of a symmetric matrix, ascending."""
    return tf.linalg.eigvalsh(_floating(a))


def _linalg_matrix_power(a, n):
    """A matrix times itself."""
    if n < 0:
        raise TypeError("negative powers of matrices are not translated")
    a = tnp.asarray(a)
    if a.dtype == tf.bool:
        raise TypeError("powers of matrices of truth values are not translated")
    power = tf.eye(a.shape[-1], dtype=a.dtype)
    for _ in range(int(n)):
        power = tf.linalg.matmul(power, a)
    return power


def _complex(a):
    """The array as complex numbers."""
    a = tnp.asarray(a)
    if a.dtype == tf.bool:
        raise TypeError("transforms of truth values are not translated")
    single = a.dtype in (tf.float32, tf.complex64)
    return tf.cast(a, tf.complex64 if single else tf.complex128)


def _fft_fft(a):
    """The discrete Fourier transform along the last axis."""
    return tf.signal.fft(_complex(a))


def _fft_ifft(a):
    """The inverse transform along the last axis."""
    return tf.signal.ifft(_complex(a))


def _fft_fft2(a):
    """The transform along the last two axes."""
    return tf.signal.fft2d(_complex(a))


def _fft_ifft2(a):
    """The inverse transform along the last two axes."""
    return tf.signal.ifft2d(_complex(a))


def _fft_rfft(a):
    """The transform of real values: its first half."""
    return tf.signal.rfft(_floating(a))


def _fft_fftfreq(n, d=1.0):
    """The frequencies of a transform of length n."""
    n, d = int(n), float(d)
    half = (n - 1) // 2 + 1
    numbers = tf.concat([tf.range(half, dtype=tf.int64), tf.range(-(n // 2), 0, dtype=tf.int64)], 0)
    return tf.cast(numbers, tf.float64) * (1.0 / (n * d))


def _cast(x, dtype):
    """The array with another dtype."""
    return tf.cast(tnp.asarray(x), tnp.zeros(0, dtype).dtype)


def _copy(x):
    """A copy of an array, or of a list or dictionary of a caller elsewhere."""
    return tnp.copy(x) if tf.is_tensor(x) else x.copy()


def _item(a):
    """The only element, as Python's number."""
    if not tf.is_tensor(a):
        return a.item()
    return tf.reshape(a, []).numpy().item()


def _tolist(a):
    """The elements as nested lists of Python's numbers."""
    return a.numpy().tolist() if tf.is_tensor(a) else a.tolist()


def _host(value):
    """A value with NumPy's numbers, arrays and dtypes in the place of TensorFlow's."""
    if isinstance(value, dict):  # [dictionaries]
        return {key: _host(one) for key, one in value.items()}  # [dictionaries]
    if type(value) is type({}.values()):  # [views]
        return dict(enumerate(map(_host, value))).values()  # [views]
    if type(value) is type({}.items()):  # [views]
        return _host(dict(value)).items()  # [views]
    if type(value) in (list, tuple):  # [lists]
        return type(value)(_host(one) for one in value)  # [lists]
    if hasattr(value, "__next__") and type(value).__module__ == "builtins":  # [iterators]
        return (_host(one) for one in value)  # [iterators]
    if isinstance(value, tf.DType):  # [dtypes]
        return value.as_numpy_dtype(0).dtype  # [dtypes]
    return value.numpy() if tf.is_tensor(value) else value


def _drawn(value):
    """What NumPy has computed or drawn, as a tensor; Python's numbers stay."""
    dtype = getattr(value, "dtype", None)
    if dtype is not None and dtype.char not in "?ilqfdFD":
        raise TypeError(f"arrays of {dtype} are not translated")
    return value if dtype is None else tf.constant(value)


def _on_host(f, /, *args, **keywords):
    """What a function of NumPy's gives, with tensors in the place of arrays."""
    return tf.nest.map_structure(_drawn, f(*map(_host, args), **{k: _host(v) for k, v in keywords.items()}))


def _shuffled(shuffle, x, **keywords):
    """The array after a generator's `shuffle`, which exchanges its parts."""
    values = _tensor(x).numpy().copy()
    shuffle(values, **keywords)
    return tf.constant(values)


def _tensor(x):
    """The array; a write to anything else is an error, for its owner would not see it."""
    if not tf.is_tensor(x):
        raise TypeError(f"a write to {type(x).__name__}, where an array was translated")
    return x


def _of_kind(value, dtype):
    """A value as a ufunc writes it to an array: floats are not written to integers."""
    value = tnp.asarray(value)
    kinds = ["biufc".index(one.as_numpy_dtype(0).dtype.kind) for one in (value.dtype, dtype)]
    if kinds[0] > kinds[1]:
        raise TypeError(f"cannot write {value.dtype.name} into {dtype.name}")
    return tf.cast(value, dtype)


def _set_slice(x, key, value):
    """What `x` is after `x[key] = value`, for a key of whole numbers and slices."""
    if not tf.is_tensor(x):  # [elsewhere] A list, a dictionary or a NumPy array of a caller elsewhere.
        x[key] = value  # [elsewhere]
        return x  # [elsewhere]
    parts = key if isinstance(key, tuple) else (key,)
    ends = [one.indices(n) if type(one) is slice else (one, one + 1, 1) for one, n in zip(parts, x.shape)]
    shape = [len(range(*end)) for end, one in zip(ends, parts) if type(one) is slice] + x.shape[len(parts) :]
    begin, end, strides = (tf.cast(tf.stack(column), tf.int64) for column in zip(*ends))
    value = tf.broadcast_to(tf.cast(tnp.asarray(value), x.dtype), shape)
    numbers = sum(1 << axis for axis, one in enumerate(parts) if type(one) is not slice)
    return tf.raw_ops.TensorStridedSliceUpdate(
        input=x, begin=begin, end=end, strides=strides, value=value, shrink_axis_mask=numbers
    )


def _set_where(x, mask, value):
    """What `x` is after `x[mask] = value`, for one value."""
    if not tf.is_tensor(x):  # [elsewhere] A NumPy array of a caller elsewhere.
        x[mask] = value  # [elsewhere]
        return x  # [elsewhere]
    return tf.where(mask, tf.cast(tnp.asarray(value), x.dtype), x)


def _set_item(x, key, value):
    """What `x` is after `x[key] = value`; where an element is chosen twice, the last value stays."""
    if not tf.is_tensor(x):  # [elsewhere] A list, a dictionary or a NumPy array of a caller elsewhere.
        x[key] = value  # [elsewhere]
        return x  # [elsewhere]
    places = tf.reshape(tf.range(x.shape.num_elements()), x.shape)[key]
    value = tf.cast(tnp.asarray(value), x.dtype)
    if not places.shape.num_elements():
        return x
    value = tf.reshape(tf.broadcast_to(value, places.shape), [-1])
    order = tf.range(places.shape.num_elements())
    last = tf.math.unsorted_segment_max(order, tf.reshape(places, [-1]), x.shape.num_elements())
    value = tf.reshape(tf.gather(value, tf.maximum(last, 0)), x.shape)
    return tf.where(tf.reshape(last >= 0, x.shape), value, x)


def _updated(old, new):
    """What `x += v` leaves in x, for old x and new x + v: an array keeps its dtype and shape."""
    if hasattr(old, "__iadd__") or hasattr(old, "__ior__"):  # [elsewhere] An array of a caller elsewhere.
        old[...] = _of_kind(new, tf.as_dtype(old.dtype)).numpy()  # [elsewhere]
        return old  # [elsewhere]
    if not tf.is_tensor(old) or not len(old.shape):
        return new
    if tnp.asarray(new).shape != old.shape:
        raise ValueError("non-broadcastable output operand")
    return _of_kind(new, old.dtype)


def _update_slice(x, key, new):
    """What `x` is after `x[key] += v`, for new x[key] + v, and a key of whole numbers and slices."""
    if type(x) in (list, dict) and (tf.is_tensor(x[key]) or hasattr(x[key], "__iadd__")):  # [elsewhere]
        raise TypeError("an object in a container is not changed in place")  # [elsewhere]
    return _set_slice(x, key, _updated(x[key], new))


def _update_item(x, key, new):
    """What `x` is after `x[key] += v`, for new x[key] + v."""
    if type(x) in (list, dict) and (tf.is_tensor(x[key]) or hasattr(x[key], "__iadd__")):  # [elsewhere]
        raise TypeError("an object in a container is not changed in place")  # [elsewhere]
    return _set_item(x, key, _updated(x[key], new))


def _scattered(x, indices, values, function):
    """The array after a ufunc's `at`: every time that an index occurs counts."""
    places = tf.reshape(tf.range(_tensor(x).shape.num_elements()), x.shape)[indices]
    values = tf.broadcast_to(_of_kind(values, x.dtype), places.shape)
    flat = function(tf.reshape(x, [-1]), tf.reshape(places, [-1, 1]), tf.reshape(values, [-1]))
    return tf.reshape(flat, x.shape)


def _add_at(a, indices, b):
    """The array after `np.add.at`."""
    return _scattered(a, indices, b, tf.tensor_scatter_nd_add)


def _subtract_at(a, indices, b):
    """The array after `np.subtract.at`."""
    return _scattered(a, indices, b, tf.tensor_scatter_nd_sub)


def _maximum_at(a, indices, b):
    """The array after `np.maximum.at`."""
    return _scattered(a, indices, b, tf.tensor_scatter_nd_max)


def _minimum_at(a, indices, b):
    """The array after `np.minimum.at`."""
    return _scattered(a, indices, b, tf.tensor_scatter_nd_min)


def _fill_diagonal(a, val):
    """The matrix after `np.fill_diagonal`."""
    if len(_tensor(a).shape) != 2:
        raise TypeError("fill_diagonal of more than a matrix is not translated")
    value = tf.broadcast_to(tf.cast(tnp.asarray(val), a.dtype), [min(a.shape)])
    return tf.linalg.set_diag(a, value)


def _copy_to(dst, src):
    """The array after `np.copyto`."""
    return tf.broadcast_to(_of_kind(src, _tensor(dst).dtype), dst.shape)


def _fill(x, value):
    """The array after `x.fill(value)`."""
    return tf.fill(_tensor(x).shape, tf.cast(tnp.asarray(value), x.dtype))


def _sorted(x, axis=-1):
    """The array after `x.sort()`."""
    return _sort(_tensor(x), axis)
