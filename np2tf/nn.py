"""`np2tf.nn`: functions for networks and scatter-gather code that NumPy lacks, with JAX's names and meaning.

The functions are NumPy programs over `tnp`: with NumPy's arrays they run on the host, with arrays on
TensorFlow there, and in staged code they become a part of the graph.
"""

from __future__ import annotations

from np2tf.arrays.nn.activations import erf as erf
from np2tf.arrays.nn.activations import gelu as gelu
from np2tf.arrays.nn.activations import log_softmax as log_softmax
from np2tf.arrays.nn.activations import logsumexp as logsumexp
from np2tf.arrays.nn.activations import one_hot as one_hot
from np2tf.arrays.nn.activations import relu as relu
from np2tf.arrays.nn.activations import sigmoid as sigmoid
from np2tf.arrays.nn.activations import softmax as softmax
from np2tf.arrays.nn.activations import softplus as softplus
from np2tf.arrays.nn.gather_scatter import at as at
from np2tf.arrays.nn.gather_scatter import segment_max as segment_max
from np2tf.arrays.nn.gather_scatter import segment_min as segment_min
from np2tf.arrays.nn.gather_scatter import segment_prod as segment_prod
from np2tf.arrays.nn.gather_scatter import segment_sum as segment_sum
from np2tf.arrays.nn.gather_scatter import sort_key_val as sort_key_val
from np2tf.arrays.nn.gather_scatter import top_k as top_k
from np2tf.arrays.nn.windows import avg_pool as avg_pool
from np2tf.arrays.nn.windows import conv as conv
from np2tf.arrays.nn.windows import conv_general_dilated as conv_general_dilated
from np2tf.arrays.nn.windows import conv_transpose as conv_transpose
from np2tf.arrays.nn.windows import max_pool as max_pool
