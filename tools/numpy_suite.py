"""Runs NumPy's own tests on the op library: ``python tools/numpy_suite.py [MODULE…]``.

The tests come with the installed numpy. Every operation runs on TensorFlow (`np2tf.config.eager =
"tensorflow"`). The exit status is 1 if a test fails that is not in tests/numpy_suite/known_*.toml, or if an
entry of these files no longer fails.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from suite import known, report, runner
from suite.replaced import NUMPY_FOLDER

DOCUMENT = Path(__file__).resolve().parent.parent / "docs" / "numpy-suite.md"
MARK = "<!-- written by tools/numpy_suite.py --docs -->"


def main() -> int:
    """Run the tests, print the figures, and compare the failures with the list of known failures."""
    options = _parser().parse_args()
    every = known.included(NUMPY_FOLDER)
    modules = [name for name in every if not options.modules or any(part in name for part in options.modules)]
    if not modules:
        print("no test module of NumPy's fits " + " ".join(options.modules), file=sys.stderr)
        return 2
    more = [*(["-k", options.k] if options.k else []), *(["--suite-oracle"] if options.oracle else [])]
    outcomes = runner.run(modules, options.jobs, options.timeout, more, options.json is not None)
    if options.json is not None:
        print(json.dumps(report.as_json(outcomes), indent=1))
    else:
        print(report.table(outcomes))
    if options.docs:
        head = DOCUMENT.read_text(encoding="utf-8").partition(MARK)[0]
        DOCUMENT.write_text(f"{head}{MARK}\n\n{report.table(outcomes, by_folder=True)}\n", encoding="utf-8")
    if options.k or options.oracle:
        return 0
    listed = known.known_failures()
    if options.update:
        known.write(known.updated(outcomes, listed, modules))
        return 0
    verdict = known.judge(outcomes, listed, modules)
    for outcome in verdict.unknown:
        print(f"not a known failure: {outcome.id}\n    {outcome.cause}", file=sys.stderr)
    for entry in verdict.stale:
        print(f"a known failure that does not fail: {entry}", file=sys.stderr)
    return 1 if verdict.unknown or verdict.stale else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Run NumPy's own tests on np2tf.tnp.")
    parser.add_argument("modules", nargs="*", help="parts of paths, such as lib/tests/test_histograms")
    parser.add_argument("-k", help="run the tests whose names fit this expression of pytest's")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time (default 2)")
    parser.add_argument("--timeout", type=int, default=30, help="seconds that one test may take (default 30)")
    parser.add_argument(
        "--update", action="store_true", help="make the list of known failures fit, keeping reasons"
    )
    parser.add_argument("--json", action="store_const", const=True, help="print figures and failures as JSON")
    parser.add_argument("--docs", action="store_true", help="write the table into docs/numpy-suite.md")
    parser.add_argument(
        "--oracle", action="store_true", help="run the tests on NumPy itself, to see what fails there"
    )
    return parser


if __name__ == "__main__":
    sys.exit(main())
