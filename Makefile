# Two commands do all the set-up on a fresh machine: `make check` (the main job) and `make test`.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin

.PHONY: check test bench lint clean

check: $(VENV)/.installed-base
	$(BIN)/countback check

test: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/pytest -n 2

bench: $(VENV)/.installed-bench
	$(BIN)/pytest tests/bench -m bench

lint: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/mypy

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed-base: $(BIN)/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	touch $@

$(VENV)/.installed-test $(VENV)/.installed-bench: $(VENV)/.installed-%: $(BIN)/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[$*]'
	touch $(VENV)/.installed-base $@

clean:
	rm -rf $(VENV) build dist *.egg-info
