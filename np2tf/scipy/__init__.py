"""`np2tf.scipy`: the functions of SciPy that have a TensorFlow version.

The modules `special`, `linalg`, `fft`, `signal`, `ndimage`, `stats` and `distance` (scipy.spatial.distance)
have the functions that rules/scipy/*.toml list. With operands on the host, each function calls SciPy's own.
With arrays on TensorFlow, and in graphs, it calls the implementation in `np2tf.arrays.scipy`.
Importing this package imports neither SciPy nor TensorFlow.
"""
