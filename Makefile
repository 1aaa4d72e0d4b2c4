# Everything a person or a CI machine does here. `make setup` is part of every other target.

PYTHON ?= python3
TORCH ?= torch==2.13.0
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.setup-done

.DEFAULT_GOAL := help
.PHONY: help setup test check fix demo bench soak lock clean

help:  ## what there is to make
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/make \1\t\2/' | expand -t 14

setup: $(STAMP)  ## a virtual environment in .venv, exactly as locked (repeating it is free)

# torch comes first and by itself: which build is right depends on the machine, not on the lock.
# Its own index or wheel folder is named as pip is always told: PIP_INDEX_URL, PIP_FIND_LINKS.
$(STAMP): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "phalanx needs Python 3.11 or later, '$(PYTHON)' is older or missing; try: make setup PYTHON=python3.12" >&2; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(TORCH)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	# Compiled once here: where bytecode is not written on import, every start would compile again.
	$(BIN)/python -m compileall -q src
	$(BIN)/python -m pip check
	@touch $@

test: setup  ## the whole suite; with CI=1 an unexpected skip is a failure
	$(BIN)/python -m pytest -n 3 --dist worksteal -m "not soak"

check: setup  ## format, lint, types, import contracts, house tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest tests/house

fix: setup  ## put format and imports in order
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

demo: setup  ## a real training job loses a rank half-way and goes on
	$(BIN)/python scripts/demo.py

bench: setup  ## measure, beside peers; writes bench/results.json
	$(BIN)/python -m bench

soak: setup  ## the long proofs: thousands of seeded schedules, kills by the hundred, mutants
	$(BIN)/python scripts/soak.py
	$(BIN)/python scripts/mutants.py

# torch is overridden away: it stands outside the lock, and so do the device libraries it would pull.
lock:  ## resolve requirements.lock again (asks the package index)
	rm -rf build/lock && $(PYTHON) -m venv build/lock
	build/lock/bin/python -m pip install --quiet uv
	echo "torch; sys_platform == 'never'" > build/lock/outside.txt
	build/lock/bin/uv pip compile --quiet --upgrade --extra dev --universal --python-version 3.11 \
	  --override build/lock/outside.txt --no-emit-package torch --generate-hashes --no-header \
	  --annotation-style line --no-emit-index-url --no-emit-find-links \
	  --output-file requirements.lock pyproject.toml
	rm -rf build/lock

clean:  ## remove the environment and every cache
	rm -rf $(VENV) build .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
