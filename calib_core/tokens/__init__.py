"""What is kept of a distribution at every position of a text?  Sums on a fixed grid: small, additive."""
