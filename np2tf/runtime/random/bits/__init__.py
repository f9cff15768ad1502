"""Sources of random bits in a graph, and the numbers made from the bits.

May import `runtime/xla` and this folder. Generators, streams and NumPy's signatures belong to
`runtime/random`.
"""
