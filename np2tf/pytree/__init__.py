"""The registry of containers: how each kind is divided into its items, and made again from other items.

The idea is JAX's pytree registry (https://docs.jax.dev/en/latest/pytrees.html). All of the right column may
import this package, which imports nothing of np2tf; kinds of containers that need more than Python are
defined in the modules of their classes.
"""
