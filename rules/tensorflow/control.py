"""Control flow of translations: in Python, or as one graph where that is provably the same.

A loop becomes a graph after some rounds in Python, if what goes from one round to the next are tensors of the
same dtypes and shapes, and every shape in the graph is known. Where that is not so, or where Python asks for
the value of a tensor (a branch, `float(x)`, an index of a list), the loop goes on in Python. The translator
gives only rounds to these functions that print nothing, raise nothing by themselves and change no object but
the lists that they append to. `np2tf convert --target tf` writes those that a translation calls into it.
Nothing imports this file.
"""

import tensorflow as tf


def _for_loop(numbers, step, state, lists=()):
    """The state after `for i in numbers: state = step(i, *state, *lists)`; rounds may append to the lists."""
    if getattr(_as_graph, "is_tracing", False) and not tf.executing_eagerly():
        state = _python_rounds(numbers[: 1 if len(numbers) > 4 else 4], step, state, lists)
        return tuple(_for_in_graph(numbers[1:], step, state, [])[0]) if len(numbers) > 4 else state
    if len(numbers) < 64 or not _may_be_graph(step):
        return _python_rounds(numbers, step, state, lists)
    _as_graph.is_waiting = True
    try:
        state = _python_rounds(numbers[:1], step, state, lists)
        counts = [len(one) for one in lists]
        state = _python_rounds(numbers[1:2], step, state, lists)
    finally:
        _as_graph.is_waiting = False
    appended = [one[count:] for one, count in zip(lists, counts)]
    graph = _as_graph(lambda *held: _for_in_graph(numbers[2:], step, held, appended), step, state)
    if graph is None:
        return _python_rounds(numbers[2:], step, state, lists)
    state, rows = graph(*state)
    for one, columns in zip(lists, rows):
        for items in zip(*map(tf.unstack, columns)):
            one.extend(items)
    return tuple(state)


def _while_loop(test, step, state):
    """The state after `while test(*state): state = step(*state)`."""
    if getattr(_as_graph, "is_tracing", False) and not tf.executing_eagerly():
        return tuple(_while_in_graph(test, step, state))
    count = 0
    while test(*state):
        state, count = step(*state), count + 1
        if count == 32 and _may_be_graph(step):
            graph = _as_graph(lambda *held: _while_in_graph(test, step, held), step, state)
            if graph is not None:
                return tuple(graph(*state))
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

    _require_same([test], [tf.TensorSpec([], test.dtype)])
    return tf.cond(tf.cast(test, tf.bool), lambda: branch(then), lambda: branch(otherwise))


def _python_rounds(numbers, step, state, lists):
    """The state after some rounds in Python."""
    for number in numbers:
        state = step(number, *state, *lists)
    return state


def _may_be_graph(step):
    """Whether rounds may become a graph: they have not failed to, and no loop around them is about to."""
    is_waiting = getattr(_as_graph, "is_waiting", False)
    return tf.executing_eagerly() and not is_waiting and step.__code__ not in getattr(_as_graph, "failed", ())


def _as_graph(rounds, step, state):
    """Rounds as a graph over such a state; None where that would not be the same."""
    _as_graph.is_tracing = True
    try:
        _require_same(state, state)
        specs = [tf.TensorSpec(one.shape, one.dtype) for one in state]
        return tf.function(rounds, autograph=False).get_concrete_function(*specs)
    except Exception:
        _as_graph.failed = {*getattr(_as_graph, "failed", ()), step.__code__}
        return None
    finally:
        _as_graph.is_tracing = False


def _for_in_graph(numbers, step, state, appended):
    """The state after the rounds of a `tf.while_loop`, and for each list the rows that they append to it."""
    _require_same(state, state)
    count = len(numbers)
    rows = [
        [tf.TensorArray(one.dtype, count, element_shape=one.shape) for one in items] for items in appended
    ]

    def body(done, state, rows):
        lists = [[] for _ in appended]
        made = step(numbers.start + numbers.step * done, *state, *lists)
        _require_same(made, state)
        for items, before in zip(lists, appended):
            _require_same(items, before)
        place = tf.cast(done, tf.int32)
        rows = [[row.write(place, item) for row, item in zip(*pair)] for pair in zip(rows, lists)]
        return done + 1, tuple(made), rows

    first = tf.constant(0, tf.int64)
    _, state, rows = tf.while_loop(lambda done, *_: done < count, body, (first, tuple(state), rows))
    return state, [[row.stack() for row in columns] for columns in rows]


def _while_in_graph(test, step, state):
    """The tensors after a `tf.while_loop`."""
    _require_same(state, state)

    def keep_going(*now):
        tested = test(*now)
        _require_same([tested], [tf.TensorSpec([], tested.dtype)])
        return tf.cast(tested, tf.bool)

    def body(*now):
        made = step(*now)
        _require_same(made, now)
        return made

    return tf.while_loop(keep_going, body, tuple(state))


def _require_same(made, before):
    """Fail unless all are tensors like those before, and every shape in the graph is known."""
    if len(made) != len(before) or not all(map(tf.is_tensor, made)):
        raise TypeError("not a tensor")
    for one, other in zip(made, before):
        if one.dtype != other.dtype or not one.shape.is_fully_defined() or one.shape != other.shape:
            raise TypeError("another dtype or shape")
    for operation in [] if tf.executing_eagerly() else tf.compat.v1.get_default_graph().get_operations():
        if not all(one.shape.is_fully_defined() for one in operation.outputs):
            raise TypeError("a shape that depends on values")


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
