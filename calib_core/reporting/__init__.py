"""Results for use outside the program: the HTML report, and the export of figures and tables."""
