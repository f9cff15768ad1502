"""NumPy's random streams in a graph, bit for bit.

A draw (`drawing`) takes bits of its stream (`streams`: how a generator's words or state come into the graph,
and go back after the call). `sources` makes bits within the graph, `states` takes a generator's state apart,
and `distributions` makes numbers of bits.
"""
