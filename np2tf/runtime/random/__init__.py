"""Random numbers in staged code: NumPy's own streams, whose states are inputs and results of the graph.

May import `bits`, `effects`, `structures`, `xla` and `tnp`. Traces and signatures stay out: they import this
folder.
"""
