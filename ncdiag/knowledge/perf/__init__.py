"""What is slower than it has to be: benchmarks, trainings, and the parts of their steps."""
