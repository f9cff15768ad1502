"""np2tf's own import of TensorFlow's modules leaves nothing behind that a program could notice."""

from __future__ import annotations

import typing

from np2tf.arrays.front.tensorflow_loading import unnoticed


def test_forward_references_are_compiled_once_and_only_meanwhile() -> None:
    with unnoticed():
        with unnoticed():
            first, second = typing.ForwardRef("list[int]"), typing.ForwardRef("list[int]")
        # An inner block's end must not leave the outer one without.
        third = typing.ForwardRef("list[int]")
    assert first.__forward_code__ is second.__forward_code__
    assert first == second == third
    assert "compile" not in vars(typing)
    assert typing.get_type_hints(type("C", (), {"__annotations__": {"x": first}})) == {"x": list[int]}
