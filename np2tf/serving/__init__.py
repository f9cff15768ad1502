"""Saved models: functions written to a folder that TensorFlow loads without np2tf, and read from there.

May import both columns, because a plain NumPy function is translated before it is saved. The command
`np2tf export` belongs to `commands`; tracing a function over unknown lengths belongs to the run time's
`compilation`.
"""
