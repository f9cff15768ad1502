"""NumPy's random streams in a graph, bit for bit."""
