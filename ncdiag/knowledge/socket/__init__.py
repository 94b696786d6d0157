"""TCP between hosts: addresses, interfaces, connections and their speed."""
