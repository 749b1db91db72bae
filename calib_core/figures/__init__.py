"""Plotly figures of results, as plain dicts. Nothing is computed here: results go in, pictures come out."""
