"""The functions that programs call: NumPy's (and SciPy's) own while all operands are on the host. Nothing
here imports TensorFlow (watch_error excepted).
"""
