"""The language server of git mem."""
