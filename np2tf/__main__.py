"""The command `python -m np2tf`."""

from np2tf.cli.main import main

if __name__ == "__main__":
    main()
