"""RoCE: addresses, congestion and packet sizes."""
