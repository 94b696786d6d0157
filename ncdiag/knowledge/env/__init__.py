"""Environment variables: names, values, lists, costs, and agreement between ranks."""
