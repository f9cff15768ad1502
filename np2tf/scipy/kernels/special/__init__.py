"""scipy.special over tensors.

May import `np2tf.scipy.kernels` and `tnp`, and no other chapter of SciPy.
"""
