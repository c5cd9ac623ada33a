"""A git-native memory for coding agents and for the people who work with them."""

__version__ = "0.1.0"
