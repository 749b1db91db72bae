"""Results, one module for each question: from evidence to a frozen result with its recipe."""
