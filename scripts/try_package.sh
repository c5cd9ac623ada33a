#!/usr/bin/env bash
# Install a wheel or a source archive in a clean environment, and run it in a scratch repository.
# usage: scripts/try_package.sh FILE [PYTHON]
set -euo pipefail

if [ $# -lt 1 ] || [ ! -f "$1" ]; then
  echo "usage: scripts/try_package.sh FILE [PYTHON]; 'make build' writes the files into dist/" >&2
  exit 2
fi
package=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
place=$(mktemp -d)
# work in the background may still write there
trap 'for try in 1 2 3 4 5; do rm -rf "$place" 2>/dev/null && break; sleep 1; done' EXIT

# nothing of the checkout, of an active environment or of the user's settings
cd "$place"
unset PYTHONPATH PYTHONHOME VIRTUAL_ENV
export HOME=$place/home GIT_CONFIG_NOSYSTEM=1
mkdir home
git config --global user.name Test
git config --global user.email test@example.org
git config --global init.defaultBranch main

"${2:-python3}" -m venv environment
environment/bin/python -m pip install --quiet --disable-pip-version-check "$package"
export PATH=$place/environment/bin:$PATH

git init --quiet repository
cd repository
echo 'total = 0' >shop.py
git add shop.py
git commit --quiet --message 'Start the shop'
git mem --version
git mem init
git mem add 'Totals are in cents' --type rule
git mem gotcha add 'The rate is a percentage' --anchor shop.py:1
git mem list | grep -F 'Totals are in cents'
git mem search cents | grep -F 'Totals are in cents'
git mem gotcha for shop.py | grep -F 'The rate is a percentage'
git mem undo
git mem doctor
git-mem-lsp --version
printf '{"hook_event_name": "SessionStart", "session_id": "s1", "cwd": "%s", "source": "startup"}' "$PWD" |
  git mem hook claude
test -z "$(git status --porcelain)" || { echo "the work tree was changed" >&2; exit 1; }
echo "$(basename "$package"): installed and run"
