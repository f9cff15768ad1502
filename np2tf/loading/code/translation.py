"""Makes code that runs translated, under the file's own name and lines, from the bytes of a module.

This module loads the translator, so it is imported only if there is something to translate. Cached
translations do not need it.
"""

from __future__ import annotations

import ast
import pickle

from np2tf.loading.code.boundaries import add_boundaries
from np2tf.loading.code.numpy_names import check_reexports, keep_names
from np2tf.loading.code.originals import jitted_lines, originals_of
from np2tf.loading.code.source_lines import SourceMap
from np2tf.loading.findings import Finding, Translation
from np2tf.loading.loops.array_work import ArrayWork
from np2tf.loading.loops.loop_functions import loops_of
from np2tf.loading.loops.watched_code import watch_translation
from np2tf.translator.batch.outcome import reason_of
from np2tf.translator.control.summaries import summarise
from np2tf.translator.pipeline import Result, translate
from np2tf.translator.sources.options import Options
from np2tf.translator.sources.python_trees import parse_quietly
from np2tf.translator.tree.source import Source, SourceError


def translation_of(data: bytes, path: str, options: Options) -> Translation:
    """Translate a module. Every failure becomes a finding, and the module runs untranslated."""
    try:
        source = Source.of(data, path)
        result = translate(source, options)
        findings = tuple(map(Finding.of, result.diagnostics))
        summary = _summary(source, result, path, options)
        if not result.changed:
            return Translation(None, findings, summary=summary)
        tree, original = tree_of(source, result)
        check_reexports(tree, options.reexports)
        add_boundaries(tree, original, result.compiler_functions)
        loops = loops_of(original, source.text, path, ArrayWork(original, path))
        watch_translation(tree, path, loops, jitted_lines(tree), result.compiler_functions)
        code = compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)
        originals = originals_of(data, path, tree, code, loops)
        return Translation(code, findings, result.text, originals=originals, summary=summary)
    except SourceError as error:
        return Translation(None, (Finding.of(error.diagnostic),))
    except Exception as error:  # a fault of np2tf must not break an import that works without it
        return Translation(None, (Finding.create("NP2TF905", path, 1, reason=reason_of(error)),))


def _summary(source: Source, result: Result, path: str, options: Options) -> bytes:
    if result.facts is None:
        return b""
    return pickle.dumps(summarise(result.facts, source.text, path, options))


def tree_of(source: Source, result: Result) -> tuple[ast.Module, ast.Module]:
    """Return the translation as Python's tree, with the source's places and names, and the source's own
    tree.
    """
    # Python gave its warnings when it parsed the source; the lines here differ.
    tree, original = parse_quietly(result.text.removeprefix("\ufeff")), parse_quietly(source.text)
    SourceMap(source, result).relocate(tree)
    keep_names(original, tree)
    return tree, original
