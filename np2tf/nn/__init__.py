"""`np2tf.nn`: functions for networks and scatter-gather code that NumPy lacks, with JAX's names and meaning.

The functions are NumPy programs over `tnp`: with NumPy's arrays they run on the host, with arrays on
TensorFlow there, and in staged code they become a part of the graph. May import `tnp` and `scipy`; gradients
and other transforms stay out.
"""

from np2tf.nn.activations import erf as erf
from np2tf.nn.activations import gelu as gelu
from np2tf.nn.activations import relu as relu
from np2tf.nn.activations import sigmoid as sigmoid
from np2tf.nn.activations import softplus as softplus
from np2tf.nn.classes import log_softmax as log_softmax
from np2tf.nn.classes import logsumexp as logsumexp
from np2tf.nn.classes import one_hot as one_hot
from np2tf.nn.classes import softmax as softmax
from np2tf.nn.convolution import conv as conv
from np2tf.nn.convolution import conv_general_dilated as conv_general_dilated
from np2tf.nn.convolution import conv_transpose as conv_transpose
from np2tf.nn.pooling import avg_pool as avg_pool
from np2tf.nn.pooling import max_pool as max_pool
from np2tf.nn.segments import segment_max as segment_max
from np2tf.nn.segments import segment_min as segment_min
from np2tf.nn.segments import segment_prod as segment_prod
from np2tf.nn.segments import segment_sum as segment_sum
from np2tf.nn.sorting import sort_key_val as sort_key_val
from np2tf.nn.sorting import top_k as top_k
from np2tf.nn.updates import at as at
