"""Reduces distributions over K classes, one per position of a text, to small additive sums on a fixed grid.

``dense`` reduces whole distributions and ``topk`` their k largest entries, both to the ``TokenSums`` of
``sums``; ``grid`` bins them, ``bounds`` says what Full-ECE can be where classes are missing, and
``null_draws`` samples outcomes under perfect calibration. The other modules make the pass over the rows fast.
"""
