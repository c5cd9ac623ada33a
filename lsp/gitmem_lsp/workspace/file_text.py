"""Read a file that the editor does not have open."""

from gitmem.base.regular_files import open_regular


def read_regular(path: str, most: int) -> bytes:
    """Return the bytes of a file, as far as `most`; raises OSError for what is no regular file.

    A pipe or a device is not waited for.
    """
    with open_regular(path) as file:
        return file.read(most)
