"""Collectives that some ranks did not enter, or entered differently from the others."""
