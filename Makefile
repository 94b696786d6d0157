# Everything runs in .venv, which is made on first use. Needed: python3 (3.10 or newer, with venv), make, git.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
ARGS ?=
NCCL_VERSIONS ?= 2.18.3 2.21.5 2.27.7 2.32.3
LAB_CASES ?= 1000
TORCH_WHEELS ?= https://download.pytorch.org/whl/cpu
PYTHONS ?= python3.10 python3.14

.PHONY: demo docs all test sweep coverage shared quick translated diff cases signs variables defects lint format types wheel bench fuzz lab man clean

# An exit code of 1 means that faults were found, 3 that there was nothing to judge: both are answers.
answers = ( $(1); code=$$?; test $$code -eq 0 -o $$code -eq 1 -o $$code -eq 3 )

demo: $(VENV)/.installed
	@echo "== three shipped faults: ncdiag demo"
	@$(BIN)/ncdiag demo
	@echo "== this machine: ncdiag check"
	@$(call answers,$(BIN)/ncdiag check)

# All that .ci/run runs. The sweeps run whole, so the core is without the tenth of each.
all: test sweep shared lint types docs wheel
all: WITHOUT = and not sweep

# Processes that run tests.
WORKERS ?= 2
PYTEST := $(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup

# The core: every rule, message and specimen once, and a tenth of each sweep in turn (tests/tenth.py).
CORE = --ignore=tests/wheel -m "not shared and not long $(WITHOUT)"
test: $(VENV)/.installed-dev
	$(PYTEST) $(CORE) $(ARGS)

# The sweeps whole (SWEEP=full: with all of those that take a part in turn), property tests with more examples, and what
# takes long: a real NCCL library, further faults of hosts, networks and browsers.
SWEEP ?= whole
sweep: $(VENV)/.installed-dev
	NCDIAG_SWEEP=$(SWEEP) NCDIAG_FUZZ=$${NCDIAG_FUZZ-same} $(PYTEST) \
	  --ignore=tests/wheel -m "(sweep or long) and not shared" $(ARGS)

# The lines and branches of the package that these tests do not run, in the processes that they start too; fails below
# the floor in pyproject.toml. Counting makes them take two to three times as long, hence the limit of each.
coverage: $(VENV)/.installed-dev
	$(PYTEST) $(CORE) --timeout 900 --cov --cov-report term $(ARGS)

# The tests that read the shared specimens (NCDIAG_SHARED, default ../shared): outputs of real jobs, support threads, what
# auditors wrote. The first test of a group reads the texts for all of them (tests/shared_texts.py), hence the limit of
# each. A test that reads them is in a file with the word shared: only these are collected.
shared: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -n 2 --dist loadgroup --timeout 900 -m shared $$(grep -rlw shared tests --include='test_*.py') $(ARGS)

# After a small change, in less than a minute: what is read and judged, rules and messages as data, the layout of the
# tree. Left out are other processes, the cache, random and hostile inputs, and measurements of time.
QUICK := tests/engine tests/facts tests/messages tests/rules tests/parsers tests/sections tests/test_layout.py
quick: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -q -n 2 $(QUICK) --ignore=tests/engine/test_catalogue.py --ignore=tests/rules/test_order.py --ignore-glob='*/test_real_*' \
	  --ignore-glob='*/test_simulated_*' -m "not hypothesis and not long" -k "not linear" $(ARGS)

wheel: $(VENV)/.installed-dev
	$(BIN)/python -m pytest tests/wheel $(ARGS)

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check

format: $(VENV)/.installed-dev
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

types: $(VENV)/.installed-dev
	$(BIN)/mypy

bench: $(VENV)/.installed-dev
	$(BIN)/python bench/run.py $(if $(PEERS),--peers .cache/peers) $(ARGS)
	$(BIN)/python bench/scale.py
	$(BIN)/python bench/fleet.py
	$(BIN)/python bench/sweep.py --hosts 32
	$(BIN)/python bench/watching.py

# The documentation as a site, in .cache/site: docs/, and pages for rules, variables and facts. Warnings are errors.
docs: $(VENV)/.installed-dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict --site-dir .cache/site

# The manual page, from the texts of --help, as a wheel installs it.
man: $(VENV)/.installed
	$(BIN)/python tools/man.py .cache/ncdiag.1

# The texts of rules that have no translation, or whose English was changed since: make translated ARGS="RULE...", and
# ARGS=--holes for the English that is left in the holes of the texts.
TO ?= zh
translated: $(VENV)/.installed
	$(BIN)/python tools/translated.py $(TO) $(ARGS)

# What the answers of this tree add, lose and change against those of BASE, over all inputs at hand (ARGS="--texts" compares
# every sentence too, "--part 0/10" takes a tenth of the inputs).
diff: $(VENV)/.installed-dev
	$(BIN)/python tools/diff_findings.py $(or $(BASE),HEAD) $(ARGS)

# How often the answer to a real support thread comes first, with a fifth of the threads left out in turn.
cases: $(VENV)/.installed-dev
	$(BIN)/python tools/cases.py $(ARGS)

# Signs that are seen in healthy texts, and rules and signs of one support thread and nothing else.
signs: $(VENV)/.installed-dev
	$(BIN)/python tools/signs.py $(ARGS)

# The table of variables against the source of every release: make variables NCCL=path-to-a-clone-of-NVIDIA/nccl.
variables: $(VENV)/.installed-dev
	$(BIN)/python tools/variables.py $(NCCL)

# Fixes of new releases that the tables of defects lack: make defects NCCL=path-to-a-clone-of-NVIDIA/nccl.
defects: $(VENV)/.installed-dev
	$(BIN)/python tools/defects.py $(NCCL)

# Hostile inputs and random examples of the property tests, for some minutes (ARGS="--minutes 30"); prints how many
# were tried.
fuzz: $(VENV)/.installed-dev
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --only-binary :all: atheris || \
	  echo "atheris has no wheel for this Python and machine: its inputs are left out"
	cd tests && ../$(BIN)/python -m fuzz.campaign $(ARGS)

# The tests against a real libnccl, for several of its releases (250 to 490 MB each, kept in .cache/nccl), with LAB_CASES
# generated networks and settings each; then a sweep of 100 hosts, 200 analyses of the page, what all tests run of the package, and all tests with the oldest Python
# that is promised and the newest.
lab: $(VENV)/.installed-dev
	@for version in $(NCCL_VERSIONS); do \
	  echo "== NCCL $$version"; \
	  NCDIAG_NCCL_VERSION=$$version NCDIAG_LAB_CASES=$(LAB_CASES) NCDIAG_REQUIRE=nccl \
	    $(BIN)/python -m pytest tests/nccl $(ARGS) || exit 1; \
	done
	@echo "== a kill for lack of memory"; NCDIAG_OOM=1 $(BIN)/python -m pytest tests/watching/test_ends.py
	@echo "== jobs of PyTorch"; $(PYTHON) -m venv .cache/torch && .cache/torch/bin/pip install -q torch numpy --index-url $(TORCH_WHEELS)
	NCDIAG_TORCH=$(CURDIR)/.cache/torch/bin/python $(BIN)/python -m pytest -n 0 tests/watching/test_torch.py
	@echo "== 100 hosts"; NCDIAG_HOSTS=100 $(BIN)/python -m pytest tests/cluster
	@echo "== 200 analyses of ten users"; NCDIAG_LOAD=20 $(BIN)/python -m pytest --timeout 1200 tests/serve/test_load.py
	@echo "== coverage"; $(MAKE) coverage
	@for python in $(PYTHONS); do \
	  if $$python -c '' 2>/dev/null; then \
	    echo "== $$python"; NCDIAG_FUZZ=whole $(MAKE) test sweep wheel SWEEP=full VENV=.cache/venv-$$python PYTHON=$$python || exit 1; \
	  else echo "== $$python is not here: skipped"; fi; \
	done

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
	  { echo "ncdiag needs Python 3.10 or newer; name one: make PYTHON=python3.11 ..." >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.installed-dev: pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@ $(VENV)/.installed

clean:
	rm -rf $(VENV) .cache dist build .mypy_cache .pytest_cache .ruff_cache .hypothesis
