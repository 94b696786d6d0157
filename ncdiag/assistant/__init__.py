"""ncdiag as tools for an assistant (Model Context Protocol): what may be asked, what is answered, and the limits."""
