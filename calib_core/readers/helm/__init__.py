"""calib_core.readers.helm."""
