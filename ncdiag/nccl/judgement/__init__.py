"""Checks of the name and the value of a variable by the table of variables alone, without any file or host."""
