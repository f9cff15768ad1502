"""What tests share: harnesses, programs as rows and text, expressions, and generators of random programs.

Which harness is for what: one op: `op_harness` (host, eager, compiled, against NumPy). One program:
`differential` (four ways). The example of a rule: `rule_examples`. Text in, text out: `golden`. A program
that keeps its meaning without TensorFlow: `plain_operators`. Derivatives: `transform_judge`. A command:
`command_runner`. Hot loops: `replacing`. Random programs: `random_*`, `composed_*`, `machine_*`.
"""
