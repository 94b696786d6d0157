"""What is wrong with the name or the value of a variable, by the book alone: no file, no host, no place."""
