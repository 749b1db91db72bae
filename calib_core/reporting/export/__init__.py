"""Export of figures (PNG, SVG), of tables (CSV, Parquet, Markdown, LaTeX) and of runs."""
