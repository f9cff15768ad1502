"""`np2tf.scipy`: the functions of SciPy that have a TensorFlow version.

`np2tf.scipy.special`, `linalg`, `fft`, `signal`, `ndimage`, `stats` and `distance` (scipy.spatial.distance)
have what rules/scipy/*.toml list. With operands on the host each is SciPy's own function; with arrays on
TensorFlow, and in graphs, it is the one in `np2tf.scipy.kernels`. Importing this package imports neither
SciPy nor TensorFlow. May import the front of `tnp`; functions over tensors belong to `kernels`.
"""
