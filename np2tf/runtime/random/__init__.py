"""Random numbers in staged code: NumPy's own streams, whose states are inputs and results of the graph."""
