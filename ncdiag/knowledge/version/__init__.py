"""Releases: known defects, minimum versions, and CUDA releases that do not fit."""
