"""The command `python -m examples`."""

from examples.common.command import main

if __name__ == "__main__":
    main(prog_name="python -m examples")
