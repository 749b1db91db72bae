"""calib_core.methods.answers."""
