"""Run np2tf from a bare checkout: `python cli.py convert …`."""

from __future__ import annotations

from np2tf.cli.main import main

if __name__ == "__main__":
    main()
