"""The run time of translated code: control flow operators, jit, statistics.

Its folders may import `tnp` and `scipy`, and one another as tests/test_layers.py lists. The translator stays
out: code that must be translated while a program runs is requested from `imports`, by name.
"""
