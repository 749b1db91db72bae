"""The verbs of the command line, one module each (`score` and `bins` share one)."""
