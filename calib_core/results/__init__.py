"""What does one run say of one question?  A run and a choice → one frozen result a question."""
