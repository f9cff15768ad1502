"""One trace: arguments and captures go in, the operations are made, changes come out."""
