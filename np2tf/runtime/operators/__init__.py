"""The table of operators that translated code calls, and their meaning for known values.

Imports nothing else of np2tf, and neither NumPy nor TensorFlow, because `import np2tf` loads it. Operators
that stage belong to `staged_operators`.
"""
