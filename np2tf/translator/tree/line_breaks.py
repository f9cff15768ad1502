"""Breaks a long statement as ruff's and Black's formatters do.

A statement of a file is broken anew only if these formatters would leave it as it is in the source, so that a
formatted file stays formatted, and every other file keeps its lines. What is unusual is left alone: comments
inside a statement, strings over several lines, chains of method calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import libcst as cst

from np2tf.translator.tree.alignment import Exchange
from np2tf.translator.tree.nodes import children, every_child, walk

_INDENT = "    "


class _UnusualError(Exception):
    """Raised for code whose layout is not known here."""


def broken(statement: cst.SimpleStatementLine, column: int, width: int) -> str | None:
    """Return the text of a statement with line breaks; None if its layout is not known.

    Args:
        statement: a line with one assignment, `return` or expression.
        column: its indentation.
        width: the length of lines, including the indentation.
    """
    has_comment = statement.trailing_whitespace.comment is not None
    if len(statement.body) != 1 or has_comment or any(map(_is_comment, _every(statement.body[0]))):
        return None
    return _printed(lambda room: _statement(statement.body[0], room), column, width)


def _printed(document: Callable[[int], list[Any]], column: int, width: int) -> str | None:
    """Return the text of a document, which is made for the width behind its column."""
    room = width - column
    try:
        lines = _Printer(room).text(document(room)).split("\n")
    except _UnusualError:
        return None
    return "\n".join(lines) if max(map(len, lines)) <= room else None


# -- documents -----------------------------------------------------------------------------------------------
# A document is text with places where it may be broken, as in Wadler's pretty printer.


@dataclass(frozen=True)
class _Line:
    """A line break if the group around it is broken, else this text."""

    flat: str = ""


@dataclass(frozen=True)
class _IfBroken:
    """Text that is there only if the group around it is broken."""

    text: str


@dataclass(frozen=True)
class _Indented:
    parts: Sequence[Any]


@dataclass(frozen=True)
class _Group:
    """Parts that are broken together, if they do not fit on the line."""

    parts: Sequence[Any]
    is_broken: bool = False


class _Printer:
    """Prints documents; what follows a group must fit on its last line up to the next possible break."""

    def __init__(self, width: int) -> None:
        self._width = width

    def text(self, parts: Sequence[Any]) -> str:
        """Return the text of a document."""
        out: list[str] = []
        column = 0
        stack = [(0, True, part) for part in reversed(parts)]
        while stack:
            depth, is_broken, part = stack.pop()
            if isinstance(part, str):
                out.append(part)
                column += len(part)
            elif isinstance(part, _Line):
                out.append("\n" + _INDENT * depth if is_broken else part.flat)
                column = len(_INDENT) * depth if is_broken else column + len(part.flat)
            elif isinstance(part, _IfBroken):
                out.append(part.text if is_broken else "")
                column += len(part.text) if is_broken else 0
            elif isinstance(part, _Indented):
                stack += [(depth + 1, is_broken, inner) for inner in reversed(part.parts)]
            else:
                breaks = _must_break(part) or not self._fits(part, stack, self._width - column)
                stack += [(depth, breaks, inner) for inner in reversed(part.parts)]
        return "".join(out)

    def _fits(self, group: _Group, behind: Sequence[tuple[int, bool, Any]], room: int) -> bool:
        stack = [
            *((is_broken, part) for _, is_broken, part in behind),
            *((False, p) for p in group.parts[::-1]),
        ]
        inside = len(behind)
        while stack and room >= 0:
            is_behind = len(stack) <= inside
            is_broken, part = stack.pop()
            if isinstance(part, str):
                room -= len(part)
            elif isinstance(part, _Line):
                if is_broken:
                    return True
                room -= len(part.flat)
            elif isinstance(part, _IfBroken):
                room -= len(part.text) if is_broken else 0
            else:
                mode = is_broken or (is_behind and isinstance(part, _Group))
                inside = len(stack) if is_behind else inside
                stack += [(mode, inner) for inner in part.parts[::-1]]
        return room >= 0


def _must_break(part: Any) -> bool:
    if isinstance(part, _Group) and part.is_broken:
        return True
    return isinstance(part, (_Group, _Indented)) and any(map(_must_break, part.parts))


def _flat(parts: Sequence[Any]) -> Iterator[str]:
    for part in parts:
        if isinstance(part, str):
            yield part
        elif isinstance(part, _Line):
            yield part.flat
        elif isinstance(part, (_Group, _Indented)):
            yield from _flat(part.parts)


# -- files ---------------------------------------------------------------------------------------------------
# Breaks the statements of a translation that need it.


def break_lines(
    module: cst.Module,
    source: cst.Module,
    width: int,
    note: Callable[[cst.CSTNode, cst.CSTNode], None],
) -> cst.Module:
    """Return a translation with its new and indented statements broken as a formatter does, if its source is
    formatted.

    Args:
        source: the tree of the source.
        width: the length of lines.
        note: is told each new node, and the node in whose place it stands.
    """
    if module.default_indent != _INDENT:
        return module
    changes: dict[cst.CSTNode, cst.CSTNode] = {}
    known = {place.node: place.column for place in _places(source)}
    for place in _places(module):
        if known.get(place.node) != place.column and (text := _other_text(place, module, width)) is not None:
            new = _parsed(text, place, note)
            if new is not None:
                changes[place.part] = new
    if not changes or source.default_indent != _INDENT:
        return module
    if any(_other_text(place, source, width) is not None for place in _places(source)):
        return module
    lines = {part for part in changes if type(part) is cst.SimpleStatementLine}
    return Exchange(changes, lines, note).node(module)  # type: ignore[return-value]


@dataclass(frozen=True)
class _Place:
    """A simple statement, or the test of an `if` or `while`, at its column."""

    node: cst.CSTNode
    column: int
    keyword: str = ""

    @property
    def part(self) -> cst.CSTNode:
        """What is broken into lines."""
        return self.node.test if self.keyword else self.node  # type: ignore[attr-defined]


def _places(module: cst.Module) -> Iterator[_Place]:
    stack = [_Place(module, 0)]
    while stack:
        place = stack.pop()
        node, column = place.node, place.column
        if type(node) is cst.SimpleStatementLine:
            yield place
        elif not isinstance(node, cst.BaseExpression):
            if isinstance(node, (cst.If, cst.While)):
                yield _Place(node, column, place.keyword or type(node).__name__.lower())
            inner = column + len(_INDENT) * (type(node) is cst.IndentedBlock)
            is_if = type(node) is cst.If
            stack += [
                _Place(child, inner, "elif" if is_if and type(child) is cst.If else "")
                for child in children(node)
            ]


def _other_text(place: _Place, module: cst.Module, width: int) -> str | None:
    """Return how a formatter would break a place that is too long or on several lines, if it is not so."""
    part = place.part
    if type(part) is cst.SimpleStatementLine:
        bare = part.with_changes(leading_lines=(), trailing_whitespace=cst.TrailingWhitespace())
        text = module.code_for_node(bare).rstrip("\n")
    else:
        text = f"{place.keyword} {module.code_for_node(part)}:"
    if "\\\n" in text.replace("\r", ""):  # a formatter leaves such lines as they are
        return None
    if "\n" not in text and len(text) <= width - place.column:
        return None
    if type(part) is cst.SimpleStatementLine:
        new = broken(part, place.column, width)
    else:
        new = _broken_head(place, width)
    return None if new == text else new


def _broken_head(place: _Place, width: int) -> str | None:
    body = place.node.body  # type: ignore[attr-defined]
    header = body.header if type(body) is cst.IndentedBlock else None
    if header is None or header.comment is not None or any(map(_is_comment, _every(place.part))):
        return None
    assert isinstance(place.part, cst.BaseExpression)
    return _printed(lambda room: _value(f"{place.keyword} ", place.part, room, ":"), place.column, width)  # type: ignore[arg-type]


def _parsed(text: str, place: _Place, note: Callable[[cst.CSTNode, cst.CSTNode], None]) -> cst.CSTNode | None:
    """Return what a place has with a new text; None if it is not the same code."""
    old = place.part
    if place.keyword:
        new = cst.parse_statement(f"{text.removeprefix('el')}\n    pass\n").test  # type: ignore[union-attr]
    else:
        new = cst.parse_statement(text)
    pairs = list(zip(walk(old), walk(new)))
    if not all(type(a) is type(b) and len(children(a)) == len(children(b)) for a, b in pairs):
        return None
    if type(old) is cst.SimpleStatementLine:
        new = new.with_changes(leading_lines=old.leading_lines, trailing_whitespace=old.trailing_whitespace)
    for old_node, new_node in zip(walk(old), walk(new)):
        note(new_node, old_node)
    return new  # type: ignore[no-any-return]


def _is_comment(node: cst.CSTNode) -> bool:
    return type(node) is cst.Comment


def _every(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    stack = [node]
    while stack:
        top = stack.pop()
        yield top
        stack += every_child(top)


_KEPT_IN_PARENTHESES = (cst.Tuple, cst.GeneratorExp, cst.NamedExpr, cst.Yield)


# -- statements ----------------------------------------------------------------------------------------------


def _statement(small: cst.BaseSmallStatement, width: int) -> list[Any]:
    if type(small) is cst.Expr:
        return _value("", small.value, width)
    if type(small) is cst.Return:
        return ["return"] if small.value is None else _value("return ", small.value, width)
    if type(small) is cst.Assign:
        head = "".join(f"{_text(target.target)} = " for target in small.targets)
        return _value(head, small.value, width)
    if type(small) is cst.AugAssign:
        return _value(f"{_text(small.target)} {_text(small.operator).strip()} ", small.value, width)
    raise _UnusualError


def _value(head: str, value: cst.BaseExpression, width: int, tail: str = "") -> list[Any]:
    """Return the document for a statement's value, which may be in parentheses where it is broken."""
    if head and len(value.lpar) == 1 and not isinstance(value, _KEPT_IN_PARENTHESES):
        value = value.with_changes(lpar=(), rpar=())
    if type(value) is cst.Tuple and not value.lpar and head:
        items = _items([_Item(_document(element.value), _has_comma(element)) for element in value.elements])
        if len(value.elements) > 1 and _fits_on_a_line([head, *items, tail], width):
            return [head, *_flat(items), tail]
        return [head, _in_brackets("(", items, ")", False), tail]
    bare = [head, *_document(value, in_brackets=False), tail]
    if _fits_on_a_line(bare, width) or not head:
        return bare
    if _needs_no_parentheses(value) and len(next(_first_lines(bare))) <= width:
        return bare
    return [head, _Group(["(", _Indented([_Line(), *_document(value)]), _Line(), ")"], is_broken=True), tail]


def _fits_on_a_line(parts: Sequence[Any], width: int) -> bool:
    return not any(map(_must_break, parts)) and len("".join(_flat(parts))) <= width


def _first_lines(parts: Sequence[Any]) -> Iterator[str]:
    """Yield the text up to the first possible break."""
    text = ""
    for part in _leaves(parts):
        if isinstance(part, _Line):
            break
        text += part if isinstance(part, str) else ""
    yield text


def _leaves(parts: Sequence[Any]) -> Iterator[Any]:
    for part in parts:
        if isinstance(part, (_Group, _Indented)):
            yield from _leaves(part.parts)
        else:
            yield part


# -- expressions ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Item:
    """An item of a bracket: its document, and whether a comma follows it in the source."""

    parts: Sequence[Any]
    has_comma: bool


#: The levels of operators, from the one that binds most; a level is broken as a whole.
_LEVELS: tuple[tuple[type[cst.CSTNode], ...], ...] = (
    (cst.Power,),
    (cst.Multiply, cst.Divide, cst.FloorDivide, cst.Modulo, cst.MatrixMultiply),
    (cst.Add, cst.Subtract),
    (cst.LeftShift, cst.RightShift),
    (cst.BitAnd,),
    (cst.BitXor,),
    (cst.BitOr,),
)
_COMPARISON, _BOOLEAN, _CONDITIONAL = 7, 8, 9
_ATTRIBUTE = -1
_BRACKETED = (cst.Call, cst.Subscript, cst.List, cst.Set, cst.Dict, cst.Tuple, cst.BaseComp, cst.DictComp)


def _level(operator: cst.CSTNode) -> int:
    return next(number for number, kinds in enumerate(_LEVELS) if isinstance(operator, kinds))


def _text(node: cst.CSTNode) -> str:
    """Return the text of a node that is not broken."""
    text = cst.Module([]).code_for_node(node)
    if "\n" in text or "\\" in text:
        raise _UnusualError
    return text


def _has_comma(node: cst.BaseElement | cst.Arg | cst.SubscriptElement) -> bool:
    return type(node.comma) is cst.Comma


def _document(node: cst.BaseExpression, in_brackets: bool = True) -> list[Any]:
    """Return the document of an expression; outside of brackets, no operator begins a line."""
    if len(node.lpar) > 1:
        raise _UnusualError
    if node.lpar and not isinstance(node, (cst.Tuple, cst.GeneratorExp)):
        inside = _document(node.with_changes(lpar=(), rpar=()))
        return [_Group(["(", _Indented([_Line(), *inside]), _Line(), ")"])]
    if isinstance(node, (cst.Call, cst.Attribute, cst.Subscript)):
        return _chain(node)
    if isinstance(node, (cst.Tuple, cst.List)):
        return [_display(node)]
    if isinstance(node, (cst.ListComp, cst.GeneratorExp)):
        start, end = ("[", "]") if type(node) is cst.ListComp else ("(", ")")
        return [_Group([start, _Indented([_Line(), _Group(_clauses(node))]), _Line(), end])]
    if type(node) is cst.UnaryOperation:
        return [_text(node.operator), *_document(node.expression, in_brackets)]
    if type(node) is cst.Lambda:
        head = _text(node.with_changes(body=cst.Name("_")))
        return [head[:-1], *_document(node.body, in_brackets=False)]
    operands = list(_operands(node))
    if not operands:
        return [_text(node)]
    parts: list[Any] = []
    for operator, operand in operands:
        if operator:
            parts += [_Line(" ") if in_brackets else " ", f"{operator} "]
        parts += _document(operand, in_brackets)
    return [_Group(parts)] if in_brackets else parts


def _operands(node: cst.BaseExpression, level: int | None = None) -> Iterator[tuple[str, cst.BaseExpression]]:
    """Yield the operands of the outermost operators of an expression, each with the operator before it."""
    if node.lpar and level is not None:
        yield "", node
    elif type(node) is cst.BinaryOperation and level in (None, _level(node.operator)):
        if not cst.Module([]).code_for_node(node.operator)[0].isspace():
            return  # `x**2`
        yield from _operands_or_itself(node.left, _level(node.operator))
        yield _text_of_operator(node.operator), node.right
    elif type(node) is cst.BooleanOperation and level in (None, _BOOLEAN):
        yield from _operands_or_itself(node.left, _BOOLEAN)
        (_, first), *others = _operands_or_itself(node.right, _BOOLEAN)
        yield _text_of_operator(node.operator), first
        yield from others
    elif type(node) is cst.Comparison and level is None:
        yield "", node.left
        for part in node.comparisons:
            yield _text_of_operator(part.operator), part.comparator
    elif type(node) is cst.IfExp and level is None:
        yield "", node.body
        yield "if", node.test
        yield "else", node.orelse


def _operands_or_itself(node: cst.BaseExpression, level: int) -> list[tuple[str, cst.BaseExpression]]:
    return list(_operands(node, level)) or [("", node)]


def _text_of_operator(operator: cst.CSTNode) -> str:
    words = cst.Module([]).code_for_node(operator).split()
    if any("#" in word for word in words):
        raise _UnusualError
    return " ".join(words)


def _chain(node: cst.Call | cst.Attribute | cst.Subscript) -> list[Any]:
    """Return the document of calls, attributes and subscripts behind one another."""
    parts: list[Any] = []
    attributes = 0
    base: cst.BaseExpression = node
    while isinstance(base, (cst.Call, cst.Attribute, cst.Subscript)) and (base is node or not base.lpar):
        if type(base) is cst.Call:
            parts.insert(0, _arguments(base))
            base = base.func
        elif type(base) is cst.Subscript:
            parts.insert(0, _index(base))
            base = base.value
        else:
            assert type(base) is cst.Attribute
            attributes += isinstance(base.value, (cst.Call, cst.Subscript))
            parts.insert(0, f".{base.attr.value}")
            base = base.value
    parts = [*_document(base), *parts]
    # Where such a chain is broken before its attributes is not known here.
    return ["".join(_flat(parts))] if attributes > 1 and not any(map(_must_break, parts)) else parts


def _arguments(node: cst.Call) -> Any:
    if not node.args:
        return "()"
    if len(node.args) == 1 and type(node.args[0].value) is cst.GeneratorExp:
        return _Group(["(", _Indented([_Line(), _Group(_clauses(node.args[0].value))]), _Line(), ")"])
    items = []
    for arg in node.args:
        head = arg.star if arg.keyword is None else f"{arg.keyword.value}="
        items.append(_Item([head, *_document(arg.value)], _has_comma(arg)))
    return _in_brackets("(", _items(items), ")", is_call=True)


def _clauses(node: cst.ListComp | cst.GeneratorExp) -> list[Any]:
    parts = _document(node.elt)
    loop: cst.CompFor | None = node.for_in
    while loop is not None:
        if loop.asynchronous is not None:
            raise _UnusualError
        parts += [_Line(" "), f"for {_text(loop.target)} in ", *_document(loop.iter)]
        for test in loop.ifs:
            parts += [_Line(" "), "if ", *_document(test.test)]
        loop = loop.inner_for_in
    return parts


def _index(node: cst.Subscript) -> Any:
    if _has_comma(node.slice[-1]):
        raise _UnusualError
    return _Group(
        ["[", _Indented([_Line(), ", ".join(_text_of_slice(part) for part in node.slice)]), _Line(), "]"]
    )


def _text_of_slice(part: cst.SubscriptElement) -> str:
    return _text(part.with_changes(comma=cst.MaybeSentinel.DEFAULT))


def _display(node: cst.Tuple | cst.List) -> Any:
    start, end = ("(", ")") if type(node) is cst.Tuple else ("[", "]")
    if not node.elements:
        return start + end
    if any(type(element) is cst.StarredElement for element in node.elements):
        return _text(node)
    is_single = type(node) is cst.Tuple and len(node.elements) == 1
    items = [_Item(_document(element.value), _has_comma(element)) for element in node.elements]
    if is_single:
        return _Group([start, _Indented([_Line(), *items[0].parts, ","]), _Line(), end])
    return _in_brackets(start, _items(items), end, is_call=False)


def _items(items: Sequence[_Item]) -> list[Any]:
    """Return the items with commas; a comma behind the last one keeps each on its own line."""
    parts: list[Any] = []
    for number, item in enumerate(items):
        parts += ([",", _Line(" ")] if number else []) + list(item.parts)
    return (
        [*parts, _Group([_IfBroken(",")], is_broken=True)]
        if items[-1].has_comma
        else [*parts, _IfBroken(",")]
    )


def _in_brackets(start: str, items: Sequence[Any], end: str, is_call: bool) -> _Group:
    """Return items in brackets. Those of a call stand on one line together, if there is room."""
    return _Group([start, _Indented([_Line(), *([_Group(items)] if is_call else items)]), _Line(), end])


def _needs_no_parentheses(value: cst.BaseExpression) -> bool:
    """Return whether a value that does not fit is broken inside its own brackets."""
    levels: dict[int, int] = {}
    has_brackets = False
    stack = [value]
    while stack:
        node = stack.pop()
        if node is not value and node.lpar:
            has_brackets = True
            continue
        operands = list(_operands(node))
        if operands:
            level = _level_of(node)
            levels[level] = levels.get(level, 0) + len(operands) - 1
            stack += [operand for _, operand in operands]
        elif isinstance(node, (cst.Call, cst.Subscript)):
            has_brackets = True
            stack.append(node.func if isinstance(node, cst.Call) else node.value)
        elif type(node) is cst.Attribute:
            if isinstance(node.value, _BRACKETED):
                levels[_ATTRIBUTE] = levels.get(_ATTRIBUTE, 0) + 1
            stack.append(node.value)
        elif isinstance(node, _BRACKETED):
            has_brackets = True
        elif type(node) is cst.UnaryOperation:
            stack.append(node.expression)
    if not has_brackets:
        return False
    highest = max(levels, default=_ATTRIBUTE)
    if levels.get(highest, 0) > 1:
        return False
    return highest == _ATTRIBUTE or _is_bracketed(_end(value, -1)) or _begins_with_bracket(_end(value, 0))


def _level_of(node: cst.BaseExpression) -> int:
    if type(node) is cst.BinaryOperation:
        return _level(node.operator)
    return {cst.Comparison: _COMPARISON, cst.BooleanOperation: _BOOLEAN}.get(type(node), _CONDITIONAL)


def _end(node: cst.BaseExpression, place: int) -> cst.BaseExpression:
    """Return the first (0) or last (-1) operand of an expression's operators."""
    while operands := list(_operands(node)):
        node = operands[place][1]
        if node.lpar:
            break
    return node


def _is_bracketed(node: cst.BaseExpression) -> bool:
    return bool(node.lpar) or isinstance(node, _BRACKETED)


def _begins_with_bracket(node: cst.BaseExpression) -> bool:
    return bool(node.lpar) or (
        isinstance(node, _BRACKETED) and not isinstance(node, (cst.Call, cst.Subscript))
    )
