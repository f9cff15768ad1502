"""Staged versions of functions that staged code calls, and the jitted function behind any callable."""

from __future__ import annotations

import ast
import linecache
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from np2tf.core.counts import Fallback
from np2tf.core.errors import CalleeError
from np2tf.loading.findings import UntranslatableError
from np2tf.loading.functions.blocks import Block, block_of, block_of_loop, definition_of
from np2tf.loading.functions.new_functions import translate_block
from np2tf.staging.host.jit import JittedFunction
from np2tf.staging.host.watched_loops import LoopFunction
from np2tf.staging.objects.code_names import all_names
from np2tf.staging.objects.user_code import is_of_library
from np2tf.translator.sources.options import Options

__all__ = [
    "jitted_of",
]


# -- callees -------------------------------------------------------------------------------------------------
# Staged versions of functions that staged code calls, made when a trace reaches the call.

_OPTIONS = Options(everything=True)
_EAGER_OPTIONS = Options(everything=True, eager=True)
#: The name of a lambda that is translated as a definition.
_NAME = "np2tf_lambda"


def staged_version(function: types.FunctionType) -> tuple[str, Any]:
    """Return a function's staged version, or None, with the reason as the rest of "it …".

    Functions of installed packages are staged only if the package has been translated, because the user has
    not asked for other packages.
    """
    if is_of_library(function):
        return "is in a module that has not been translated", None
    try:
        block = _of_lambda(function) if function.__code__.co_name == "<lambda>" else block_of([function])
        translations, findings = translate_block(block, [function], _OPTIONS)
    except UntranslatableError as reason:
        return f"cannot be translated: {reason}", None
    translation = translations.get(function)
    if isinstance(translation, JittedFunction):
        return "", translation
    why = [dict(finding.args)["reason"] for finding in findings if "reason" in dict(finding.args)]
    return (why or [finding.message for finding in findings] or ["cannot be compiled"])[0], None


def eager_version(function: types.FunctionType) -> Any:
    """Return a function's translation for eager code; None if it has no source or nothing changes."""
    try:
        block = _of_lambda(function) if function.__code__.co_name == "<lambda>" else block_of([function])
        translations, _ = translate_block(block, [function], _EAGER_OPTIONS)
    except UntranslatableError:
        return None
    return translations.get(function)


def asked_by(function: types.FunctionType) -> tuple[set[str], list[str]]:
    """Return the operators of np2tf that a function's staged version uses, and the callees that `np2tf.call`
    checks.

    Raises:
        StagingError: if the function has no source any more.
    """
    # Imported only here, because it loads the translator.
    from np2tf.translator.pipeline import translate
    from np2tf.translator.tree.source import Source, SourceError

    try:
        tree = ast.parse(translate(Source.of(block_of([function]).text), _OPTIONS).text)
    except (UntranslatableError, SourceError) as error:
        raise CalleeError(str(error)) from None
    attributes = [
        node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and _is_np2tf(node.value)
    ]
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    operator_calls = [
        node for node in calls if isinstance(node.func, ast.Attribute) and _is_np2tf(node.func.value)
    ]
    callees = [ast.unparse(node.args[0]) for node in operator_calls if node.func.attr == "call"]  # type: ignore[attr-defined]
    return {node.attr for node in attributes}, callees


def _is_np2tf(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "np2tf"


def staged_loop(
    plain: types.FunctionType, loop_function: LoopFunction
) -> tuple[Fallback | None, JittedFunction | None]:
    """Return the staged version of `plain`, a loop's function as in the source; or None, and the reason."""
    path, line = plain.__code__.co_filename, loop_function.line
    try:
        translations, findings = translate_block(block_of_loop(plain, loop_function), [plain], _OPTIONS)
    except UntranslatableError as error:
        return Fallback(plain.__qualname__, str(error), path=path, line=line), None
    translation = translations.get(plain)
    if isinstance(translation, JittedFunction):
        return None, translation
    for finding in findings:
        reason = dict(finding.args).get("reason", finding.message)
        return Fallback(plain.__qualname__, reason, finding.code, path, finding.line), None
    return None, None


def _of_lambda(function: types.FunctionType) -> Block:
    """Return the block of a lambda, written as a definition.

    Raises:
        UntranslatableError: if the lambda cannot be told from others in its line, or has no source.
    """
    block = block_of([function], may_share_line=True)
    path = function.__code__.co_filename
    text = "".join(linecache.getlines(path, function.__globals__))
    node = definition_of(ast.parse(text), function, may_share_line=True)
    head = block.text.partition("\n")[0]
    body = ast.get_source_segment(text, node.body) or ""
    source = f"{head}\ndef {_NAME}({ast.unparse(node.args)}): return (\n{body}\n)\n"
    down = node.body.lineno - 3
    return Block(source, path, down, 0, {function: (_NAME, 2 + down)}, block.names)


# -- jitted functions ----------------------------------------------------------------------------------------
# The jitted function behind any callable, translated if needed.


def jitted_of(function: Callable[..., Any]) -> tuple[JittedFunction, tuple[Any, ...]]:
    """Return the jitted function behind a callable, translated if needed, and the arguments bound to it.

    Raises:
        StagingError: if the function cannot be translated, or has effects.
    """
    if isinstance(function, JittedFunction):
        return _translate(function), ()
    if isinstance(function, types.MethodType):
        jitted_function, arguments = jitted_of(function.__func__)
        return jitted_function, (function.__self__, *arguments)
    behind = getattr(function, "_jitted_function", None)
    if isinstance(behind, JittedFunction) and not function._kwargs:  # type: ignore[attr-defined]
        return _translate(behind), function._args  # type: ignore[attr-defined]
    name = getattr(function, "__qualname__", type(function).__name__)
    if type(function) is not types.FunctionType:
        raise CalleeError(f"`{name}` is not a Python function, so it cannot be translated")
    reason, staged_function = staged_version(function)
    if staged_function is None:
        place = function.__code__.co_filename, function.__code__.co_firstlineno
        raise CalleeError(f"`{name}` ({place[0]}:{place[1]}) cannot be compiled: it {reason}", place)
    return staged_function, ()


def _translate(jitted_function: JittedFunction) -> JittedFunction:
    """Return a jitted function, translated if its code still reads the module numpy."""
    function = jitted_function.__wrapped__
    space = getattr(function, "__globals__", {})
    if type(function) is not types.FunctionType or all(
        space.get(name) is not np for name in all_names(function.__code__)
    ):
        return jitted_function
    return staged_version(function)[1] or jitted_function
