"""Which hosts can connect to which, as a matrix for each network: in a terminal, and as SVG."""
