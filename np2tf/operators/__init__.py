"""The operators that translated code calls: their table, which meaning is in use, and unbound names.

Imports nothing else of np2tf, and neither NumPy nor TensorFlow: `import np2tf` loads it, and both columns
read the table. Operators that stage belong to `runtime/staged_operators`.
"""
