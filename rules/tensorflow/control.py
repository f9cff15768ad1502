"""Control flow of translations: in Python, or as one graph where that is provably the same.

A loop becomes a graph after some rounds in Python, if what goes from one round to the next are tensors of the
same dtypes and shapes, and every shape in the graph is known. Where that is not so, or where Python asks for
the value of a tensor (a branch, `float(x)`, an index of a list), the loop goes on in Python. The translator
gives only rounds to these functions that print nothing, raise nothing by themselves and change no object but
the lists that they append to. `np2tf convert --target tf` writes those that a translation calls into it.
Nothing imports this file.
"""

import tensorflow as tf


def _for_loop(numbers, step, state):
    """The state after `for i in numbers: state = step(i, *state)`; a long loop becomes a graph."""
    for number in numbers[:2]:
        state = step(number, *state)
    rest = numbers[2:]
    if not tf.executing_eagerly():
        return _for_in_graph(rest, step, state)
    made = _as_graph(lambda *now: _for_in_graph(rest, step, now), step, state) if len(rest) > 61 else None
    for number in rest if made is None else ():
        state = step(number, *state)
    return state if made is None else made


def _collecting_loop(numbers, step, state, lists):
    """The state after `for i in numbers: state = step(i, *state, *lists)`; rounds append to the lists."""
    for number in numbers[:1]:
        state = step(number, *state, *lists)
    counts = [len(one) for one in lists]
    for number in numbers[1:2]:
        state = step(number, *state, *lists)
    rest, rows = numbers[2:], [one[count:] for one, count in zip(lists, counts)]
    made = (
        _as_graph(lambda *now: _for_and_rows(rest, step, now, rows), step, state) if len(rest) > 61 else None
    )
    if made is None:
        for number in rest:
            state = step(number, *state, *lists)
        return state
    for one, columns in zip(lists, made[1]):
        for items in zip(*map(tf.unstack, columns)):
            one.extend(items)
    return made[0]


def _while_loop(test, step, state):
    """The state after `while test(*state): state = step(*state)`; a long loop becomes a graph."""
    if not tf.executing_eagerly():
        return _while_in_graph(test, step, state)
    count = 0
    while test(*state):
        state, count = step(*state), count + 1
        made = _as_graph(lambda *now: _while_in_graph(test, step, now), step, state) if count == 32 else None
        if made is not None:
            return made
    return state


def _cond(test, then, otherwise, state):
    """The state after `if test: state = then(*state)`, `else: state = otherwise(*state)`."""
    if not tf.is_tensor(test) or tf.executing_eagerly():
        return then(*state) if test else otherwise(*state)
    made = []

    def branch(function):
        made.append(function(*state))
        _require_same(made[-1], made[0])
        return made[-1]

    test = tf.reshape(tf.cast(test, tf.bool), [])
    return tf.cond(test, lambda: branch(then), lambda: branch(otherwise))


def _as_graph(rounds, step, state):
    """The state after rounds as a graph; None where a dtype or shape changes, or Python asks for a value."""
    failed = _as_graph.__dict__.setdefault("failed", set())
    is_fit = step.__code__ not in failed and all(map(tf.is_tensor, state))
    try:
        return tf.function(rounds, autograph=False)(*state) if is_fit else None
    except Exception:
        failed.add(step.__code__)
        return None


def _for_in_graph(numbers, step, state):
    """The state after the rounds of a `tf.while_loop`."""

    def body(done, *now):
        made = step(numbers.start + numbers.step * done, *now)
        _require_same(made, now)
        return (done + 1, *made)

    _require_same(state, state)
    return tf.while_loop(lambda done, *_: done < len(numbers), body, (tf.constant(0, tf.int64), *state))[1:]


def _for_and_rows(numbers, step, state, rows):
    """The state after the rounds of a `tf.while_loop`, and for each list the rows that they append to it."""
    arrays = [
        [tf.TensorArray(one.dtype, len(numbers), element_shape=one.shape) for one in items] for items in rows
    ]

    def body(done, state, arrays):
        lists = [[] for _ in rows]
        made = step(numbers.start + numbers.step * done, *state, *lists)
        for these, those in zip([made, *lists], [state, *rows]):
            _require_same(these, those)
        pairs = zip(arrays, lists)
        arrays = [[array.write(tf.cast(done, tf.int32), one) for array, one in zip(*pair)] for pair in pairs]
        return done + 1, tuple(made), arrays

    before = (tf.constant(0, tf.int64), tuple(state), arrays)
    _, state, arrays = tf.while_loop(lambda done, *_: done < len(numbers), body, before)
    return state, [[array.stack() for array in items] for items in arrays]


def _while_in_graph(test, step, state):
    """The tensors after a `tf.while_loop`."""

    def body(*now):
        made = step(*now)
        _require_same(made, now)
        return tuple(made)

    _require_same(state, state)
    return tf.while_loop(lambda *now: tf.reshape(tf.cast(test(*now), tf.bool), []), body, tuple(state))


def _require_same(made, before):
    """Fail unless all are tensors like those before, and every shape in the graph is known."""
    operations = tf.compat.v1.get_default_graph().get_operations()
    is_known = all(one.shape.is_fully_defined() for operation in operations for one in operation.outputs)
    if len(made) != len(before) or not all(map(tf.is_tensor, made)) or not is_known:
        raise TypeError("a shape that depends on values, or no tensor")
    if any(one.dtype != other.dtype or one.shape != other.shape for one, other in zip(made, before)):
        raise TypeError("another dtype or shape")


def _own_error(error):
    """Fail where a handler has caught an error of TensorFlow's, which is not NumPy's.

    This is the last of the helpers: what begins before it in this file is one.
    """
    own, is_foreign = _own_error.__code__, isinstance(error, tf.errors.OpError)
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename == own.co_filename:
            is_helper = code.co_name != "<module>" and code.co_firstlineno <= own.co_firstlineno
            is_foreign = is_helper or (is_foreign and isinstance(error, tf.errors.OpError))
        else:
            is_foreign = is_foreign or "tensorflow" in code.co_filename
        trace = trace.tb_next
    if is_foreign:
        raise SystemError("an error of TensorFlow's in the place of NumPy's") from error
