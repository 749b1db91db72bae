"""calib_core.report.export."""
