"""What every house may use: settings, rules, errors, counts, the table of operators, containers, the
cache on disk. It imports neither NumPy, TensorFlow nor libcst.
"""
