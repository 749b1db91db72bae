"""Statistical inference on metrics: intervals, null distributions, verdicts and paired comparisons."""
