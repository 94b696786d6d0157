"""What is likely where nothing is proved: suspects, weighed by the signs for and against them."""
