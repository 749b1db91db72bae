"""Which answers are equal, and which are right? Extraction, normalisation, clusters and outcomes."""
