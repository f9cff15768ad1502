"""What XLA needs: its options, the ops that it may have, changes of a loop's body, cheap and
stoppable calls.
"""
