"""How is a result drawn?  Results in, plotly figures out as plain dicts; nothing is computed here."""
