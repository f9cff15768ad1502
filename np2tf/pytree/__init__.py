"""The registry of containers: how each kind is taken apart into its items, and made again of other items.

The idea is JAX's pytree registry (https://docs.jax.dev/en/latest/pytrees.html). All of the right column may
import this package, which imports nothing of np2tf; kinds of containers that need more than Python lie where
they are defined.
"""
