"""Contents of a few blobs, by one process of git that ends with the call."""

from collections.abc import Iterator, Sequence
from contextlib import suppress

from gitmem.git.objects_cli import is_partial
from gitmem.git.process import Git


def read_blobs(
    git: Git, names: Sequence[str], most: int, config: Sequence[str] = ()
) -> Iterator[bytes | None]:
    """Yield the contents of objects by name, in order: an id, or `COMMIT:PATH`.

    None for what is missing, no blob, or larger than `most` bytes. At most 1,000 names: they are
    written before the first answer is read. Ends early where git fails.
    """
    at = 0
    while at < len(names):  # a new child follows one that was ended at a large blob
        with git.open("cat-file", "--batch", config=config) as child:
            assert child.stdin is not None
            assert child.stdout is not None
            asked = "".join(f"{name}\n" for name in names[at:])
            with suppress(BrokenPipeError):  # git has ended: there is no answer then
                child.stdin.write(asked.encode("utf-8", "surrogateescape"))
                child.stdin.close()
            while at < len(names):
                at += 1
                head = child.stdout.readline().split()
                if not head and not is_partial(git.gitdir):
                    return
                if not head:  # git before 2.45 ends where it may not fetch what is missing
                    yield None
                    break
                size = int(head[2]) if len(head) == 3 and head[2].isdigit() else -1
                if size > most:
                    child.kill()
                    yield None
                    break
                data = child.stdout.read(size + 1)[:-1] if size >= 0 else None
                yield data if head[1:2] == [b"blob"] else None
