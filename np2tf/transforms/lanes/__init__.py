"""The lanes of a `vmap`: staged together, compiled by themselves, over rows of different lengths, and with
collectives.

May import `np2tf.transforms` and the run time. The transforms themselves stay out.
"""
