# make run and make test are all a newcomer needs; both set up .venv by themselves.
PYTHON ?= python3
# Tests start hundreds of processes: bytecode spares each of them the compiling.
unexport PYTHONDONTWRITEBYTECODE
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
LIBRARY := $(VENV)/.local
SITE := $(VENV)/.docs
CLIENTS := $(VENV)/.rings
RINGS := .rings
SERVERS := .servers
# What pip is at, on one line that changes; its own exit code counts.
INSTALL = { PIP_CONSTRAINT=constraints.txt $(BIN)/python -m pip install --progress-bar off --disable-pip-version-check $(1); \
	echo $$? > $(VENV)/.status; } \
	| awk '/^ *(Collecting|Downloading|Using cached|Building|Installing)/ { printf "\r  %-72.72s", $$0; fflush() } END { printf "\r%-76s\r", "" }'; \
	exit $$(cat $(VENV)/.status)

.PHONY: help run chat model serve test check slow lint types pyright bench compare conformance mutants sim crash fuzz local servers rings web web-types e2e docs images clean parity

help: ## say what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: $(STAMP) model ## serve the web app on this machine, and open it in a browser where there is a display
	@$(BIN)/python -m antiphon serve --open

chat: $(STAMP) model ## talk with a model in the terminal
	@$(BIN)/python -m antiphon chat

model: $(STAMP)
	@$(MAKE) --silent $(LIBRARY) && $(BIN)/antiphon models install local:smollm2 --quiet \
		|| echo "going on without the embedded model; the next 'make run' tries again"

serve: $(STAMP) ## serve the store over HTTP on this machine, and print the address with its token
	@$(BIN)/python -m antiphon serve

test: $(STAMP) ## run the tests
	@$(BIN)/python -m pytest -n auto --dist worksteal

check: $(STAMP) lint types test slow ## lint, type-check, run the tests and the slow ones

slow: $(STAMP) ## run the tests that explore for long
	@$(BIN)/python -m pytest -n auto --dist worksteal -m slow

lint: $(STAMP)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: $(STAMP)
	@$(BIN)/mypy

pyright: $(STAMP) ## check the public types with pyright too (needs Node)
	@npm install --silent --no-audit --no-fund --prefix .pyright pyright@1.1.414
	@ANTIPHON_PYRIGHT=.pyright/node_modules/.bin/pyright $(BIN)/python -m pytest -m node tests/typing

bench: $(STAMP) ## measure speed, growth, the runtime, runs, providers, debates, threads, the sandbox and the server beside the peers (needs Node for XState)
	@$(BIN)/python bench/engine.py
	@$(BIN)/python bench/growth.py
	@$(BIN)/python bench/runtime.py
	@$(BIN)/python bench/runs.py
	@$(BIN)/python bench/providers.py
	@$(BIN)/python bench/debates.py
	@$(BIN)/python bench/checks.py
	@$(BIN)/python bench/threads.py
	@$(BIN)/python bench/sandbox.py
	@$(BIN)/python bench/first_question.py
	@$(BIN)/python bench/server.py

compare: $(STAMP) ## compare the speed with another revision, e.g. make compare BASE=HEAD~20
	@test -n '$(BASE)' || { echo "no revision to compare with; use: make compare BASE=HEAD~20" >&2; exit 2; }
	@$(BIN)/python bench/compare.py '$(BASE)'

conformance: $(STAMP) ## compare fresh random charts with XState (needs Node), and random SCXML documents with the W3C algorithm
	@$(BIN)/python -m tests.scxml.fuzz --count 5000
	@$(BIN)/python conformance/run.py

mutants: $(STAMP) ## break the code for each row that tests/mutants lists, and show that a test of the row fails
	@$(BIN)/python -m tests.mutants $(ROWS)

sim: $(STAMP) ## run the durable runtime through 12,000 simulated lives full of faults, 2,000 of them with two owners
	@$(BIN)/python campaigns/simulate.py
	@$(BIN)/python campaigns/simulate.py --owners --seeds 2000

crash: $(STAMP) ## kill a real process 1,000 times, cut its power, let its disk fail, and look for what is lost
	@$(BIN)/python campaigns/crash.py

fuzz: $(STAMP) ## run 20,000 generated commands that are judged to read only, and look for what they have changed
	@$(BIN)/python campaigns/judge.py

local: $(LIBRARY) ## test the embedded model itself, and llama.cpp's server with it (fetches it the first time)
	@$(BIN)/antiphon models install local:smollm2 --quiet
	@$(BIN)/python -m pytest -m local tests/providers/local tests/agents tests/debate tests/servers

servers: $(LIBRARY) $(SERVERS)/.installed ## test with real servers: llama.cpp, a gateway, MCP servers (needs Node)
	@$(BIN)/antiphon models install local:smollm2 --quiet
	@$(BIN)/python -m pytest -m 'servers or local' tests/servers

rings: $(CLIENTS) $(RINGS)/.installed ## test the server with clients of other makers, from PyPI and, where there is Node, from npm
	@$(BIN)/python -m pytest -n auto --dist worksteal -m rings tests/rings

web: $(STAMP) web-types ## check and build the web app (needs Node)
	@cd web && npm ci --silent --no-audit --no-fund && npm run --silent types && npm run --silent lint && npm test --silent
	@cd web && npm run --silent build && cd .. && $(BIN)/python hatch_build.py --stamp

web-types: $(STAMP)
	@$(BIN)/python web/wire_types.py

parity: $(STAMP) ## compare the machines of the browser with those of Python on recorded and random walks (needs Node)
	@cd web && npm ci --silent --no-audit --no-fund && npm run --silent build -w packages/machines
	@$(BIN)/python -m pytest -m node tests/xstate/machines/test_parity.py tests/web
	@$(BIN)/python -m tests.xstate.machines.parity 1000 $(or $(SEED),7)

e2e: $(CLIENTS) ## test the web app in Chromium; screenshots are in .screenshots
	@command -v chromium >/dev/null || { echo "there is no chromium on this machine; on Debian: apt-get install chromium" >&2; exit 2; }
	@test -d web/node_modules/axe-core || { cd web && npm ci --silent --no-audit --no-fund; }
	@$(BIN)/python -m pytest -n 2 --dist loadfile -m e2e tests/e2e

docs: $(SITE) ## build the docs site into .site; a warning is an error
	@$(BIN)/python website/build.py

images: $(SITE) $(CLIENTS) ## record the terminal and the web app again for the pictures in docs/images
	@$(BIN)/python website/record.py
	@$(BIN)/python website/screens.py

clean: ## remove what was installed and built
	rm -rf $(VENV) web/node_modules .screenshots .bench .cache .conformance .pyright .site $(RINGS) $(SERVERS)

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Antiphon needs Python 3.11 or newer; set PYTHON=/path/to/python3.11")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "setting up $(VENV) ..."
	@$(call INSTALL,--editable '.[dev]')
	@touch $@

$(LIBRARY): $(STAMP)
	@echo "setting up what the embedded model needs ..."
	@$(call INSTALL,--only-binary xllamacpp --editable '.[local]')
	@touch $@

$(SITE): $(STAMP)
	@echo "setting up what the docs site needs ..."
	@$(call INSTALL,--editable '.[docs]')
	@touch $@

$(CLIENTS): $(STAMP)
	@echo "setting up clients of the server ..."
	@$(call INSTALL,--editable '.[rings]')
	@touch $@

# Without npm the tests of its clients are skipped.
$(RINGS)/.installed: tests/rings/package.json
	@mkdir -p $(RINGS) && cp tests/rings/package.json $(RINGS)/
	@if command -v npm >/dev/null; then npm install --silent --no-audit --no-fund --prefix $(RINGS); \
		else echo "no npm on this machine: the clients from npm are not tested"; fi
	@touch $@

# Each in an environment of its own: nothing of them gets into $(VENV). The gateway is pinned by hash, with all it needs.
$(SERVERS)/.installed: tests/servers/gateway.txt tests/servers/mcp.txt tests/servers/package.json
	@echo "setting up a gateway and MCP servers in $(SERVERS) ..."
	@test -x $(SERVERS)/gateway/bin/python || $(PYTHON) -m venv $(SERVERS)/gateway
	@$(SERVERS)/gateway/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes \
		--only-binary :all: -r tests/servers/gateway.txt
	@test -x $(SERVERS)/mcp-python/bin/python || $(PYTHON) -m venv $(SERVERS)/mcp-python
	@$(SERVERS)/mcp-python/bin/python -m pip install --quiet --disable-pip-version-check -r tests/servers/mcp.txt
	@mkdir -p $(SERVERS)/mcp-node && cp tests/servers/package.json $(SERVERS)/mcp-node/
	@npm install --silent --no-audit --no-fund --prefix $(SERVERS)/mcp-node
	@touch $@
