"""The lines of a text and of its translation are matched as a reader would match them."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as some

from np2tf import convert
from np2tf.translator.batch.patches import LineMatcher, patch_text

LINES = some.lists(some.sampled_from("abcdefg"), max_size=14)
#: A module of more than 200 lines, in which blank lines and `return x` are frequent.
LONG = "import numpy as np\n\n\n" + "".join(
    f"def f{k}(x):\n    for _ in range({k}):\n        x = np.sin(x)\n\n"
    f"    x = np.cos(x) + {k}\n\n    return x\n\n\n"
    for k in range(40)
)


@settings(max_examples=300, deadline=None)
@given(LINES, LINES)
def test_the_blocks_are_equal_ranges_in_order(before: list[str], after: list[str]) -> None:
    place = other_place = 0
    for block in LineMatcher(before, after).get_matching_blocks():
        assert block.a >= place
        assert block.b >= other_place
        assert before[block.a : block.a + block.size] == after[block.b : block.b + block.size]
        place, other_place = block.a + block.size, block.b + block.size
    assert (place, other_place) == (len(before), len(after))


def test_frequent_lines_of_long_files_are_no_changes() -> None:
    """A removed line is a line that the translation changes, however long the file is."""
    after = convert(LONG).text
    patch = patch_text("a.py", LONG, after).splitlines()
    changed = [line[1:].strip() for line in patch[2:] if line.startswith(("-", "+"))]
    assert "@np2tf.jit" in changed
    removed = [line[1:].strip() for line in patch[2:] if line.startswith("-")]
    assert "return x" not in removed
    assert [line for line in removed if "np" not in line and not line.startswith("for _")] == []


def test_lines_that_occur_often_are_matched_between_the_others() -> None:
    before = ["", "x", "", "def f():", "", "return x", "", "y"]
    after = ["", "X", "", "@jit", "def f():", "", "return x", "", "Y"]
    blocks = [block for block in LineMatcher(before, after).get_matching_blocks() if block.size]
    assert [(block.a, block.b, block.size) for block in blocks] == [(0, 0, 1), (2, 2, 1), (3, 4, 4)]


def test_large_texts_take_little_time() -> None:
    """Texts without unique lines are compared, too."""
    before = ["", "x = 1", "return x"] * 5000
    after = ["", "x = 2", "return x"] * 5000
    assert sum(block.size for block in LineMatcher(before, after).get_matching_blocks()) >= 2
