# `make run` and `make test` do all their own set-up: they need Python 3.11+, git and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# `make test` adds the tools of development to the same environment.
RUN_STAMP := $(VENV)/.installed
DEV_STAMP := $(VENV)/.installed-dev
PIP_INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: run demo test check lint format bench fire screenshots audit sbom clean
.DELETE_ON_ERROR:

run: $(RUN_STAMP)
	$(BIN)/intent-studio --home .studio/home serve --sample

demo: $(RUN_STAMP)
	$(BIN)/intent-studio --home .studio/demo demo

# Three processes for two cores, each on one thread: a page's test waits as long as it computes. Numba
# would give torch more threads, too, and beside other processes these took twenty times as long. The
# order is that of tests/conftest.py; one of the tests is mypy. Python keeps compiled modules, for
# hundreds of processes start.
test: lint
	OMP_NUM_THREADS=1 NUMBA_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -m "not benchmark and not fire" -n 3 --dist loadfile --no-loadscope-reorder

# Faults and abuse with every write point, a thousand kills and ten thousand requests, and the long
# story of raw texts: up to 40 minutes on two cores. The simulated day is measured alone: it keeps both cores busy by itself.
fire: $(DEV_STAMP)
	OMP_NUM_THREADS=1 NUMBA_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -m "not benchmark" --timeout 2400 tests/faults/day
	OMP_NUM_THREADS=1 NUMBA_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -m "not benchmark and not quick" --timeout 2400 -n 3 --dist worksteal $(wildcard tests/faults tests/abuse) tests/browser/stories/traffic/test_raw_texts.py --ignore tests/faults/day

check: lint
	$(BIN)/mypy

lint: $(DEV_STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports

format: $(DEV_STAMP)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(DEV_STAMP)
	$(BIN)/python -m tests.benchmarks.bench_few_shot
	$(BIN)/python -m tests.benchmarks.bench_encoding
	$(BIN)/python -m tests.benchmarks.bench_precision
	$(BIN)/python -m tests.benchmarks.bench_maps
	$(BIN)/python -m tests.benchmarks.bench_browser

screenshots: $(DEV_STAMP)
	mkdir -p docs/images
	$(BIN)/python -m tests.browser.pictures.screenshots

# The tools have an environment of their own, so that they are not in the list.
$(VENV)-tools/.installed: constraints.txt
	$(PYTHON) -m venv $(VENV)-tools
	$(VENV)-tools/bin/python -m pip install --quiet --disable-pip-version-check "cyclonedx-bom==7.5.0" "pip-audit>=2.9"
	touch $@

# Needs a network: it asks for the known faults of the pinned packages.
audit: $(VENV)-tools/.installed
	$(VENV)-tools/bin/pip-audit --requirement constraints.txt --no-deps --disable-pip

# A software bill of materials of what is installed, as CycloneDX; after `make run` in a fresh clone it
# lists what users have, after `make test` the tools of development, too.
sbom: $(RUN_STAMP) $(VENV)-tools/.installed
	mkdir -p build
	$(VENV)-tools/bin/cyclonedx-py environment --pyproject pyproject.toml --output-file build/sbom.cdx.json $(BIN)/python

clean:
	rm -rf $(VENV) $(VENV)-tools .studio build dist *.egg-info

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Intent Studio needs Python 3.11 or newer; set PYTHON=...")'
	$(PYTHON) -m venv $(VENV)

$(RUN_STAMP): pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "Setting up (a few minutes the first time) ..."
	$(PIP_INSTALL) -e ".[studio,maps,onnx]"
	touch $@

# The tests import a fifth of all modules; pip would compile the others, too, for a minute and a half.
$(DEV_STAMP): pyproject.toml constraints.txt | $(VENV)/bin/python
	@echo "Setting up (a few minutes the first time) ..."
	$(PIP_INSTALL) --no-compile -e ".[studio,maps,onnx,dev]"
	touch $@ $(RUN_STAMP)
