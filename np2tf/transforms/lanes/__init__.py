"""The lanes of a `vmap`: staged together, compiled by themselves, over rows of different lengths, and with
collectives.
"""
