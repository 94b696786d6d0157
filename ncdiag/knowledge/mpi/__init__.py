"""MPI: its processes, transports and collectives, and UCX below it."""
