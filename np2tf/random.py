"""`np2tf.random`: random numbers of keys, with JAX's names and the bits of JAX's generator Threefry.

A key determines its numbers: nothing is stored, so that the functions may stand in graphs, loops and saved
models. NumPy's own streams are in `tnp.random`.
"""

from __future__ import annotations

from np2tf.arrays.keys import PRNGKey as PRNGKey
from np2tf.arrays.keys import bernoulli as bernoulli
from np2tf.arrays.keys import bits as bits
from np2tf.arrays.keys import categorical as categorical
from np2tf.arrays.keys import choice as choice
from np2tf.arrays.keys import exponential as exponential
from np2tf.arrays.keys import fold_in as fold_in
from np2tf.arrays.keys import gumbel as gumbel
from np2tf.arrays.keys import normal as normal
from np2tf.arrays.keys import permutation as permutation
from np2tf.arrays.keys import randint as randint
from np2tf.arrays.keys import split as split
from np2tf.arrays.keys import uniform as uniform
