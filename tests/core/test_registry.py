"""The registry of containers: each kind is taken apart and made again, and walks find what they look for."""

from __future__ import annotations

import functools
import weakref
from collections import OrderedDict, namedtuple
from types import MethodType
from typing import Any, NamedTuple

import pytest

from np2tf.core import containers
from np2tf.core.containers import (
    DISPLAYS,
    METHOD,
    PARTIAL,
    SEARCHED_CONTAINERS,
    SET,
    SLICE,
    STRUCTURES,
    Registry,
    make_tuple,
)
from np2tf.staging.objects.user_objects import OBJECTS


class Point(NamedTuple):
    """A named tuple, written as a class."""

    x: Any
    y: Any


Pair = namedtuple("Pair", "a b")


class Box:
    """An object that consists of its attributes."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def get(self) -> Any:
        """Return the value in the box."""
        return self.value


class Slots:
    """The same, without a dict."""

    __slots__ = ("left", "right")

    def __init__(self, left: Any, right: Any) -> None:
        self.left, self.right = left, right


ALL = OBJECTS | (SLICE, PARTIAL)
VALUES: list[Any] = [
    (),
    [],
    {},
    (1, 2, 3),
    [1, [2, (3,)], {"a": 4}],
    {"b": 1, "a": {"c": [2]}, 3: (None,)},
    Point(1, [2, 3]),
    Pair((1, 2), {"k": Point(3, 4)}),
    slice(1, 2, 3),
    functools.partial(divmod, 7, 2),
    functools.partial(sorted, [3, 1], reverse=True),
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_taken_apart_and_made_again(value: Any) -> None:
    """Flattening loses nothing; `rebuild` puts new leaves in the places of the old leaves."""
    leaves, rebuild, outline = ALL.flatten(value)
    made = rebuild(leaves)
    assert type(made) is type(value)
    assert repr(made) == repr(value)
    assert all(ALL.find(leaf) is None for leaf in leaves)
    assert ALL.flatten(made)[2] == outline
    marks = [
        lambda: None for _ in leaves
    ]  # which may be called, as the function of a partial application must
    again, _, outline_again = ALL.flatten(rebuild(marks))
    assert all(map(lambda a, b: a is b, again, marks))
    assert outline_again == outline


UNLIKE: list[tuple[Any, Any]] = [
    ((1, 2), [1, 2]),
    ((1, 2), (1, 2, 3)),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    ({"a": 1}, {"b": 1}),
    (Point(1, 2), Pair(1, 2)),
    ([[1], 2], [1, [2]]),
    (functools.partial(divmod, 7, 2), functools.partial(divmod, 7)),
    (functools.partial(sorted, [1], reverse=True), functools.partial(sorted, [1], key=True)),
    ((), []),
]


@pytest.mark.parametrize(("one", "other"), UNLIKE, ids=repr)
def test_outlines_tell_structures_apart(one: Any, other: Any) -> None:
    """Values of different structures have different outlines, and are not zipped."""
    assert ALL.flatten(one)[2] != ALL.flatten(other)[2]
    if type(one) is not type(other) or len(ALL.items(one)) != len(ALL.items(other)):
        assert ALL.zip_items(lambda a, b: pytest.fail("zipped"), one, other) is one


def test_objects() -> None:
    """Objects are made again of their attributes, not by calling the class; methods keep their function."""
    box = Box([1, 2])
    made = OBJECTS.map_items(lambda item: (item, 3), box)
    assert type(made) is Box
    assert made is not box
    assert made.value == ([1, 2], 3)
    slots = OBJECTS.map_items(str, Slots(1, 2))
    assert (slots.left, slots.right) == ("1", "2")
    method = OBJECTS.map_items(lambda item: Box("other"), box.get)
    assert isinstance(method, MethodType)
    assert method() == "other"
    assert STRUCTURES.find(box) is None
    assert METHOD.outline_of(box.get) == METHOD.outline_of(made.get)


def test_kinds_of_registries() -> None:
    """A registry goes into containers of its own kinds, and into no other containers."""
    assert DISPLAYS.find(Point(1, 2)) is None
    assert STRUCTURES.find(Point(1, 2)) is containers.TUPLE
    assert STRUCTURES.find(OrderedDict(a=1)) is None
    assert list(SEARCHED_CONTAINERS.items(OrderedDict(a=1))) == [1]
    with pytest.raises(TypeError, match="OrderedDict cannot be rebuilt"):
        SEARCHED_CONTAINERS.map_items(str, OrderedDict(a=1))
    for leaf in (None, 1, "text", object(), {1, 2}, print, Point):
        assert STRUCTURES.find(leaf) is None
        assert STRUCTURES.map_items(pytest.fail, leaf) is leaf
        assert STRUCTURES.items(leaf) == ()


def test_replacing_keeps_what_nothing_was_replaced_in() -> None:
    """`replace_items` gives the container itself where all items stay."""
    for value in ((1, 2), Point(1, 2), [1], {"a": 1}):
        assert STRUCTURES.replace_items(lambda item: item, value) is value
    assert STRUCTURES.replace_items(str, Point(1, 2)) == Point("1", "2")
    assert type(STRUCTURES.replace_items(str, Point(1, 2))) is Point


def test_zipping() -> None:
    """Items that stand in the same places are given to the function together, in order."""
    assert STRUCTURES.zip_items(lambda a, b: (a, b), [1, 2], [3, 4]) == [(1, 3), (2, 4)]
    assert STRUCTURES.zip_items(max, Point(1, 5), Point(4, 2)) == Point(4, 5)
    assert STRUCTURES.zip_items(max, {"a": 1, 2: 3}, {"a": 0, 2: 7}) == {"a": 1, 2: 7}


def test_nodes_have_paths() -> None:
    """`nodes` gives the containers and their keys, outer containers first; it gives no leaves."""
    inner, deep = [1], {"k": (2,)}
    value = (inner, Point(0, deep))
    found = list(STRUCTURES.nodes(value))
    assert [path for path, _ in found] == [(), (0,), (1,), (1, 1), (1, 1, "k")]
    assert found[1][1] is inner
    assert found[3][1] is deep


def test_reachable_containers_come_once() -> None:
    """Lists that hold themselves, and lists in two places, come once; what is too deep does not come."""
    inner: list[Any] = [1]
    inner.append(inner)
    box = Box(inner)
    box.other = box  # type: ignore[attr-defined]
    found = [container for _, container in OBJECTS.reachable([inner, (inner, box)])]
    assert [id(container) for container in found if type(container) is not tuple] == [id(inner), id(box)]
    deep: Any = []
    for _ in range(6):
        deep = [deep]
    assert len(list(STRUCTURES.reachable([deep]))) == 7
    assert len(list(STRUCTURES.reachable([deep], 3))) == 4


def test_copies_and_comparisons() -> None:
    """Copies hold the very same items; a change of items, keys or their order is seen, and taken back."""
    item = [0]
    for value, change in [
        ([item, 2], lambda v: v.append(3)),
        ([item, 2], lambda v: v.__setitem__(0, [0])),
        ({"a": item}, lambda v: v.update(b=1)),
        ({"a": item, "b": 1}, lambda v: v.update(a=v.pop("a"))),
        ({"a": item}, lambda v: v.update(a=[0])),
        ({3, 1, 2}, lambda v: v.add(9)),
        (Box(item), lambda v: setattr(v, "value", [0])),
        (Box(item), lambda v: setattr(v, "new", 1)),
        (Box(item), lambda v: delattr(v, "value")),
    ]:
        kind = SET if type(value) is set else OBJECTS.find(value)
        assert kind is not None
        assert kind.fill is not None
        before = list(kind.items(value))
        copy = kind.copy(value)
        assert kind.has_items_of(value, copy)
        change(value)
        assert not kind.has_items_of(value, copy)
        kind.fill(value, copy)
        assert kind.has_items_of(value, copy)
        assert all(map(lambda a, b: a is b, kind.items(value), before))


def test_order_of_attributes_is_no_change() -> None:
    """An object is what it was where an attribute has been deleted and set again; a dict is not."""
    slots = Box(1)
    slots.other = 2  # type: ignore[attr-defined]
    kind = OBJECTS.find(slots)
    assert kind is not None
    copy = kind.copy(slots)
    del slots.value
    slots.value = 1
    assert kind.has_items_of(slots, copy)


def test_builders_keep_no_item_alive() -> None:
    """A structure can be made again without its old leaves, which are gone."""
    box = Box(1)
    _, rebuild, _ = STRUCTURES.flatten([{"a": (box, Point(box, 1))}])
    gone = weakref.ref(box)
    del box
    assert gone() is None
    assert rebuild([1, 2, 3]) == [{"a": (1, Point(2, 3))}]


def test_tuples_of_classes() -> None:
    """Named tuples take their items one by one."""
    assert make_tuple(tuple, [1, 2]) == (1, 2)
    assert make_tuple(Point, iter([1, 2])) == Point(1, 2)
    assert Registry().find([]) is None
