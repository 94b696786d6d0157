"""Environment variables: names, values, lists, what they cost and who has to agree on them."""
