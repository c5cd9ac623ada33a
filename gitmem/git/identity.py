"""Whose a commit is, for what asks git; the rules are in `gitmem.repo.identity`, which hooks may load."""

from gitmem.repo.identity import author, fold, made_by, own_addresses

__all__ = ["author", "fold", "made_by", "own_addresses"]
