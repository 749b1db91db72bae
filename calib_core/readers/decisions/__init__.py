"""Responses of decision servers: named questions, each answered by a whole distribution."""
