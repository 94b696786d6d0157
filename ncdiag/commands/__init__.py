"""The commands: one small module each, with a typer app called ``app``; a name with an underscore is a helper."""
