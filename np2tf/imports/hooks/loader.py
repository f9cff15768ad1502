"""The loader of translated modules: importlib's own loader, with a translation before the compilation."""

from __future__ import annotations

import importlib.machinery
import sys
import types
from functools import partial
from typing import TYPE_CHECKING, Any

from np2tf.config import program
from np2tf.faults import note_fault
from np2tf.imports.cache.sources import FileState
from np2tf.imports.cache.store import translation
from np2tf.imports.reporting.findings import Finding, TranslationWarning, tell
from np2tf.options import Options

if TYPE_CHECKING:
    from np2tf.diagnostics import Diagnostic
    from np2tf.imports.reporting.findings import Originals

__all__ = ["TranslatingLoader", "TranslationWarning"]

#: The name of a mark on an exception that the original code raises too.
_USERS_OWN = "_np2tf_raised_untranslated_too"
_DEFAULTS = Options()


class TranslatingLoader(importlib.machinery.SourceFileLoader):
    """Loads a module from its source file, translated. The file is only read.

    Attributes:
        translated: whether the code that runs is a translation; None before the module is loaded.
        findings: the parts that could not be translated.
        originals: the code of functions as in the source.
        source_state: the status of the source file when the module was loaded.
        summary: the summary of the module for other modules, pickled; empty if there is none.
    """

    translated: bool | None = None
    findings: tuple[Finding, ...] = ()
    originals: Originals | None = None
    source_state: FileState | None = None
    summary: bytes = b""

    def __init__(self, fullname: str, path: str, options: Options | None = None) -> None:
        super().__init__(fullname, path)
        self.options = options or _DEFAULTS

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """The parts that could not be translated, as `np2tf.convert` reports them."""
        return [finding.diagnostic for finding in self.findings]

    def get_code(self, fullname: str) -> types.CodeType | None:
        """Return the code of the module's translation, or of the module itself, with its bytecode file."""
        as_it_is = partial(super().get_code, fullname)
        self.source_state = FileState.of(self.path)
        failure: Exception | None = None
        try:
            result = translation(self.get_filename(fullname), self.get_data, self.options, as_it_is)
        except Exception as error:  # of np2tf, or of the module itself, which is raised again
            failure = error
        if failure is not None:
            self.translated, code = False, as_it_is()
            note_fault(failure)
            return code
        self.translated, self.findings = result.code is not None, result.findings
        self.originals = result.originals if self.translated else None
        self.summary = result.summary
        if result.findings:
            whole = result.code is None and any(finding.severity == "error" for finding in result.findings)
            try:
                tell(result.findings, "; the module runs untranslated" if whole else "")
            except TranslationWarning:
                raise  # a filter of the program's says so
            except Exception as error:
                note_fault(error)
        return result.code or result.own_code or as_it_is()

    def names(self) -> dict[str, Any]:
        """Return the globals that translated code needs, besides the globals that Python gives to all
        modules.
        """
        if not self.translated:
            return {}
        try:
            _follow_program()
        except Exception as error:
            note_fault(error)
        from np2tf.runtime.environment import raw_tensors, reexported_names
        from np2tf.runtime.environment import tensorflow_patches as tensorflow_patches  # keep AutoGraph off
        from np2tf.runtime.host import originals

        names = {**raw_tensors.NAMES, **reexported_names.NAMES}
        if self.originals is not None:
            names.update(originals.NAMES)
            try:
                originals.add_originals(self.originals, names)
            except Exception as error:  # the translations run alone
                note_fault(error)
                self.originals = None
        return names

    def exec_module(self, module: types.ModuleType) -> None:
        """Run the module. If the translation fails but the source works, run the source instead, with a
        warning.
        """
        before = dict(module.__dict__)
        failure: Exception | None = None
        try:
            code = self.get_code(module.__name__)
            if code is None:
                raise ImportError(f"np2tf: module {module.__name__!r} has no code", name=module.__name__)
            module.__dict__.update(self.names())
            exec(code, module.__dict__)
        except Exception as error:
            if not self.translated or hasattr(error, _USERS_OWN):
                raise
            failure = error
        if failure is not None:
            # Not while the first exception is handled, which the module must not see as a context.
            self._run_as_it_is(module, before, failure)
            return
        if self.originals is not None:
            from np2tf.runtime.host import originals

            try:
                originals.use_originals(self.originals, module)
            except Exception as error:
                note_fault(error)

    def _run_as_it_is(self, module: types.ModuleType, before: dict[str, object], error: Exception) -> None:
        code = super().get_code(module.__name__)
        module.__dict__.clear()
        module.__dict__.update(before)
        try:
            exec(code, module.__dict__)  # type: ignore[arg-type]
        except Exception as own_error:
            # The user's own error, as Python would raise it without np2tf; importing modules pass it on.
            setattr(own_error, _USERS_OWN, True)
            raise
        self.translated = False
        reason = f"{type(error).__name__}: {error}".partition("\n")[0][:200]
        finding = Finding.create("NP2TF941", self.path, _line_of(error, self.path), reason=reason)
        self.findings = (*self.findings, finding)
        tell([finding])


program.loaders = (TranslatingLoader,)


def _follow_program() -> None:
    """Let np2tf see names that the program binds in NumPy's modules, as soon as a module is translated."""
    if not program.is_translated:
        program.is_translated = True
        rebound = sys.modules.get("np2tf.tnp._front.rebound_names")
        if rebound is not None:
            rebound.follow_program()


def _line_of(error: Exception, path: str) -> int:
    """Return the last line of the file in an error's traceback."""
    line, traceback = 1, error.__traceback__
    while traceback is not None:
        if traceback.tb_frame.f_code.co_filename == path:
            line = traceback.tb_lineno
        traceback = traceback.tb_next
    return line
