"""np2tf.nn: JAX's functions for networks and scatter-gather code, as NumPy programs over tnp."""
