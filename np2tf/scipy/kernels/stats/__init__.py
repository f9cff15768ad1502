"""scipy.stats over tensors.

May import `np2tf.scipy.kernels`, the chapter `special`, and `tnp`. Special functions belong to `special`.
"""
