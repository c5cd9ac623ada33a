"""The names of our refs. Apart from the layout, because hooks need them and cannot pay for its imports."""

NAMESPACE = "refs/gitmem/"
SHARED = "refs/gitmem/heads/main"
PRIVATE = "refs/gitmem/local/main"
REMOTES = "refs/gitmem/remotes/"
BACKUP = "refs/gitmem/backup/"
BRANCH = "refs/heads/gitmem/main"  # on a remote that takes branches only
