"""Collectives that some ranks did not enter, or entered otherwise than the rest."""
