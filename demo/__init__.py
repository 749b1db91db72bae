"""Where does the demo data come from?  From here: a tiny model trained and asked (`python -m demo`)."""
