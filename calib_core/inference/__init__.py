"""calib_core.inference."""
