"""calib_core.readers.inspect."""
