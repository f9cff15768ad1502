"""`np2tf.random`: random numbers of keys, with JAX's names and the bits of JAX's generator Threefry.

A key determines its numbers: nothing is stored, so that the functions may stand in graphs, loops and saved
models. NumPy's own streams are in `tnp.random`. May import `tnp` and `nn`; streams with a state stay out.
"""

from np2tf.random.choosing import categorical as categorical
from np2tf.random.choosing import choice as choice
from np2tf.random.choosing import permutation as permutation
from np2tf.random.continuous import exponential as exponential
from np2tf.random.continuous import gumbel as gumbel
from np2tf.random.continuous import normal as normal
from np2tf.random.continuous import uniform as uniform
from np2tf.random.discrete import bernoulli as bernoulli
from np2tf.random.discrete import randint as randint
from np2tf.random.keys import PRNGKey as PRNGKey
from np2tf.random.keys import bits as bits
from np2tf.random.keys import fold_in as fold_in
from np2tf.random.keys import split as split
