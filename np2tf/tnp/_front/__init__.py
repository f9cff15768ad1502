"""The functions that programs call, and the flags and exact types that tell where a call runs.

Imports NumPy, and of `tnp` nothing but this folder: everything here works before TensorFlow is loaded. No
function over tensors belongs here; the TensorFlow half is named only through `np2tf.lazy`.
"""
