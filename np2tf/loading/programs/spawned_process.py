"""The main module of processes that a program under `np2tf run` spawns: it runs the program's main module."""

from __future__ import annotations

from np2tf.loading.programs.execute import run_in_child

if __name__ == "__mp_main__":
    run_in_child(globals())
