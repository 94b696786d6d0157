"""InfiniBand and verbs: ports, links, partitions, rails and the lists that name them."""
