"""Likely causes when nothing is proved: suspects, scored by the signs for and against them."""
