"""A failure that says nothing about the project is told from one that does."""

import pytest

from gitmem.fingerprint.fingerprint import fingerprint

SLIPS = {
    "git commit -m x": "On branch main\nnothing to commit, working tree clean",
    "git commit -m y": 'nothing added to commit but untracked files present (use "git add" to track)',
    "git commit -m z": "Author identity unknown\n\n*** Please tell me who you are.\n\nRun\n",
    "git checkout nosuch": "error: pathspec 'nosuch' did not match any file(s) known to git",
    "git push": "fatal: No configured push destination.\nEither specify the URL",
    "git push nosuch main": "fatal: 'nosuch' does not appear to be a git repository\n"
    "fatal: Could not read from remote repository.",
    "git log nosuch": "fatal: ambiguous argument 'nosuch': unknown revision or path not in the working tree.",
    "git switch nosuch": "fatal: invalid reference: nosuch",
    "make nosuch": "make: *** No rule to make target 'nosuch'.  Stop.",
    "npm run nosuch": 'npm error Missing script: "nosuch"',
    "cargo nosuch": "error: no such command: `nosuch`",
    "python3 -c 'import nosuchmod'": "Traceback (most recent call last):\n"
    '  File "<string>", line 1, in <module>\n'
    "ModuleNotFoundError: No module named 'nosuchmod'",
    "node nosuch.js": "Error: Cannot find module '/home/ada/shop/nosuch.js'",
    "python3 nosuch.py": "python3: can't open file '/shop/nosuch.py': [Errno 2] No such file or directory",
    "./nosuch.sh": "bash: ./nosuch.sh: No such file or directory",
    "pytest tests/nosuch.py": "ERROR: file or directory not found: tests/nosuch.py",
    "cd nosuch && ls": "cd: nosuch: No such file or directory",
    f"git checkout {'long' * 20}": f"error: pathspec '{'long' * 20}' did not match any file(s) known to git",
    "rm nosuch": "rm: cannot remove 'nosuch': No such file or directory",
    "mkdir -p a && mkdir a": "mkdir: cannot create directory ‘a’: File exists",
}
FAULTS = {
    "make": "make: *** No rule to make target 'gen/api.h', needed by 'main.o'.  Stop.",
    "make all": "make: *** No rule to make target 'gen/api.h'.  Stop.",
    "python3 -m shop": "Traceback (most recent call last):\n"
    '  File "/shop/app.py", line 1, in <module>\n'
    "ModuleNotFoundError: No module named 'requests'",
    "cd shop && pytest": "ModuleNotFoundError: No module named 'shop'",
    "cd shop && npm test": "Error: Cannot find module 'shop'",
    "node server.js": "Error: Cannot find module 'express'",
    "git push origin main": "! [remote rejected] main -> main (pre-receive hook declined)",
    "git commit -m x": "error: gpg failed to sign the data",
    "./deploy.sh": "./deploy.sh: line 3: /etc/shop.conf: No such file or directory",
    "python app.py": "bash: python: command not found",
}


@pytest.mark.parametrize("command", SLIPS)
def test_what_the_command_asked_for_is_not_there(command: str):
    mark = fingerprint(f"Exit code 1\n{SLIPS[command]}", "", command)
    assert mark is None or mark.is_slip, mark.title


@pytest.mark.parametrize("command", FAULTS)
def test_what_the_project_lacks_is_no_slip(command: str):
    mark = fingerprint(f"Exit code 1\n{FAULTS[command]}", "/shop", command)
    assert mark is not None and not mark.is_slip
