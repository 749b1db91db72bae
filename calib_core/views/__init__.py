"""Answers as plain data: what is said and shown of a result, in which order, one module a question."""
