"""How does a plain table, one row a question, become runs?  Parsed, judged cell by cell, told apart."""
