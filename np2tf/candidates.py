"""Which sources are worth a look: those that say NumPy, and those whose loops may be over somebody's arrays.

A quick look with Python's own parser; what it finds is judged by the translator.
"""

from __future__ import annotations

import ast

#: Operators of numbers and arrays that texts and lists have no use for.
_NUMERIC = (ast.Div, ast.Pow, ast.MatMult, ast.BitXor, ast.BitAnd, ast.LShift, ast.RShift, ast.Mult, ast.Sub)


def is_candidate(text: str) -> bool:
    """Whether a source may hold something to translate; one that has been translated holds nothing new."""
    if "numpy" in text:
        return True
    if "np2tf" in text or "def " not in text or ("for " not in text and "while " not in text):
        return False
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return False
    loops = (node for node in ast.walk(tree) if isinstance(node, (ast.For, ast.While)))
    return any(isinstance(node, _NUMERIC) for loop in loops for node in ast.walk(loop))
