# The whole interface of the project. Each target makes its own .venv, installs what it needs, and is quick the second time.
SHELL := bash
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
# Stamps of what is installed: the package's own needs (enough for the demo), everything for developers, the compiled core.
BASE := $(VENV)/.base
STAMP := $(VENV)/.installed
CORE := $(VENV)/.core
PIP := $(PY) -m pip install --quiet --disable-pip-version-check
INSTALL = $(PY) tools/requirements.py $(1) > $(VENV)/requirements.txt && $(PIP) -r $(VENV)/requirements.txt
PYTEST := PYTHONHASHSEED=0 $(PY) -m pytest
# Every data set the tests may use lies in this folder; without it those tests are skipped.
export PERMISSIBLE_DATA ?= $(wildcard ../shared/data)

.PHONY: demo test test-all test-browser test-lowest programs lint format bench bench-full bench-kernels docs reproduce reproduce-full dist sanitize fuzz clean help FORCE
.DEFAULT_GOAL := help

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(firstword $(MAKEFILE_LIST)) | sed -E 's/:.*## /\t/' | sort | expand -t 16

$(BASE): pyproject.toml tools/requirements.py
	@bash tools/check-machine.sh "$(PYTHON)"
	@test -x $(PY) || $(PYTHON) -m venv $(VENV)
	@echo "Installing what the project needs into $(VENV) (a minute or two, once) ..."
	@$(PIP) --upgrade "pip>=24"
	@$(call INSTALL,build report)
	@touch $@

$(STAMP): $(BASE)
	@echo "Installing the developers' tools into $(VENV) (a few minutes, once) ..."
	@$(call INSTALL,dev)
	@touch $@

# An editable install knows its modules by a list: it is renewed when a file comes or goes.
build/modules: FORCE
	@mkdir -p build && find src -name '*.py' | sort > $@.new && { cmp -s $@.new $@ && rm $@.new || mv $@.new $@; }
FORCE:

$(CORE): $(BASE) build/modules CMakeLists.txt $(shell find cpp -name '*.cpp' -o -name '*.hpp')
	@echo "Building the compiled core ..."
	@PATH="$(CURDIR)/$(VENV)/bin:$$PATH" $(PIP) --no-build-isolation --no-deps --editable .
	@touch $@

$(VENV)/.demo: $(BASE)
	@$(call INSTALL,demo) || echo "LightGBM could not be installed: the demo goes without it."
	@touch $@

demo: $(VENV)/.demo $(CORE) ## decide about 1,000 loans: what each way to decide costs, the model in words, a report page
	@$(VENV)/bin/permissible demo

test: $(STAMP) $(CORE) ## the test-suite (under ten minutes on two cores)
	@$(PYTEST) -n 2 --dist loadfile -m "not slow" --doctest-modules src papers tests

test-all: sanitize fuzz test-lowest $(STAMP) $(CORE) ## all that is promised: sanitizers, fuzzing, lowest versions, then every test, the slow ones too
	@$(PYTEST) -n 2 --dist loadfile --doctest-modules src papers tests

programs: ## install the programs that some tests drive where they are missing (Debian: chromium, postgresql, nodejs)
	@bash tools/install-programs.sh

test-browser: programs $(STAMP) $(CORE) ## the report page and the built documentation in a real browser
	@$(PYTEST) -m browser tests/report tests/house

lint: $(STAMP) $(CORE) ## ruff, mypy, import-linter, clang-format
	@$(VENV)/bin/ruff check .
	@$(VENV)/bin/ruff format --check .
	@$(VENV)/bin/clang-format --dry-run --Werror $$(find cpp -name '*.cpp' -o -name '*.hpp')
	@$(PY) -m mypy
	@$(VENV)/bin/lint-imports

$(VENV)/.docs: $(BASE)
	@echo "Installing what the documentation needs into $(VENV) (a minute, once) ..."
	@$(call INSTALL,docs)
	@touch $@

# Formulas without a network: MathJax from its npm package, where npm is installed; else the pages load it from its CDN.
docs/_static/mathjax/tex-mml-chtml.js:
	@mkdir -p build/mathjax docs/_static/mathjax
	@if command -v npm > /dev/null && (cd build/mathjax && npm pack --silent mathjax@3.2.2 > /dev/null && tar xzf mathjax-3.2.2.tgz); then \
		cp -r build/mathjax/package/es5/tex-mml-chtml.js build/mathjax/package/es5/output docs/_static/mathjax/; \
		else echo "MathJax will be loaded from the network: npm is not installed or has no access."; fi

docs: $(VENV)/.docs $(CORE) docs/_static/mathjax/tex-mml-chtml.js ## the documentation, with its gallery, into docs/_build/html; warnings are errors
	@rm -rf docs/gallery
	@cd docs && MPLBACKEND=Agg ../$(PY) -m sphinx -W --keep-going -q -b html . _build/html
	@$(PY) tools/check_links.py docs/_build/html
	@echo "Open docs/_build/html/index.html"

format: $(STAMP) ## format Python and C++
	@$(VENV)/bin/ruff check --fix-only --quiet . ; $(VENV)/bin/ruff format .
	@$(VENV)/bin/clang-format -i $$(find cpp -name '*.cpp' -o -name '*.hpp')

$(VENV)/.bench: $(BASE)
	@echo "Installing the peers into $(VENV) (a few minutes, once) ..."
	@$(call INSTALL,bench)
	@touch $@

bench: $(VENV)/.bench $(CORE) ## every claim of speed measured beside the peers (about ten minutes)
	@$(PY) -m benchmarks -o results/bench

bench-full: $(VENV)/.bench $(CORE) ## the same at full size, and how time and memory grow with every size
	@$(PY) -m benchmarks --full -o results/bench-full; status=$$?; $(PY) -m benchmarks.scaling -o results/scaling && exit $$status

bench-kernels: $(STAMP) $(CORE) ## the kernels alone, as ratios to a reference kernel, beside the stored ratios
	@OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(PY) -m pytest benchmarks/kernels --benchmark-timer=time.process_time --benchmark-columns=min,median,rounds --benchmark-disable-gc

$(VENV)/.experiments: $(BASE)
	@echo "Installing data sets and peers into $(VENV) (a few minutes, once) ..."
	@$(call INSTALL,experiments bench)
	@touch $@

reproduce: $(VENV)/.experiments $(CORE) ## every paper's tables and figures, the quick version (under ten minutes)
	@$(PY) -m papers all --quick -o results/quick

reproduce-full: $(VENV)/.experiments $(CORE) ## the papers' own settings (75 minutes of CPU); takes up where it was interrupted
	@$(PY) -m papers all -o results/full

$(VENV)-lowest/.core: pyproject.toml tools/requirements.py CMakeLists.txt $(shell find cpp -name '*.cpp' -o -name '*.hpp')
	@test -x $(VENV)-lowest/bin/python || $(PYTHON) -m venv $(VENV)-lowest
	@echo "Installing the lowest versions that pyproject.toml allows into $(VENV)-lowest ..."
	@$(PYTHON) tools/requirements.py --lowest build lowest > $(VENV)-lowest/requirements.txt
	@$(VENV)-lowest/bin/python -m pip install --quiet --disable-pip-version-check -r $(VENV)-lowest/requirements.txt
	@PATH="$(CURDIR)/$(VENV)-lowest/bin:$$PATH" $(VENV)-lowest/bin/python -m pip install --quiet --disable-pip-version-check \
		--no-build-isolation --no-deps --editable . -Cbuild-dir=build/lowest
	@touch $@

test-lowest: $(VENV)-lowest/.core ## the tests of the core on the lowest versions of its dependencies that are allowed
	@PYTHONHASHSEED=0 $(VENV)-lowest/bin/python -m pytest -q -m "not slow" tests/validation tests/table tests/bins tests/losses \
		tests/decisions tests/kernels tests/learners tests/faults/test_bad_*.py tests/faults/test_extremes.py

sanitize: $(STAMP) $(CORE) ## the tests of the kernels on a core built with the address, undefined-behaviour and thread sanitizers
	@tools/sanitize/run.sh $(PY) address -m "not slow" tests/kernels tests/bins tests/learners tests/faults/test_extremes.py -k "not memory_beyond"
	@tools/sanitize/run.sh $(PY) thread -m "not slow" tests/kernels tests/faults/test_concurrency.py \
		-k "(thread or kernel) and not nested and not process"

FUZZ_SECONDS ?= 60
FUZZ_TARGETS := json_text model_document csv_file arff_file cost_file command_options
fuzz: $(STAMP) $(CORE) ## hostile bytes through every door, FUZZ_SECONDS each; prints the executions
	@$(call INSTALL,fuzz)
	@for target in $(FUZZ_TARGETS); do $(PY) -m fuzz.$$target -max_total_time=$(FUZZ_SECONDS) > build/fuzz-$$target.log 2>&1 \
		|| { tail -40 build/fuzz-$$target.log; exit 1; }; \
		echo "$$target: $$(grep -ao 'Done [0-9]* runs in [0-9]* second' build/fuzz-$$target.log)s"; done

PYTHONS ?= $(PYTHON) $(firstword $(foreach version,3.12 3.13 3.14,$(shell command -v python$(version) 2> /dev/null)))
dist: $(STAMP) ## build the sdist and the wheels (3.11, and one for 3.12 and newer), audit them, try them in a clean environment
	@rm -rf dist && PATH="$(CURDIR)/$(VENV)/bin:$$PATH" $(PY) -m build --quiet --sdist --outdir dist .
	@for python in $(PYTHONS); do echo "A wheel with $$($$python --version) ..."; \
		$$python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist . -Cbuild-dir=build/dist-{cache_tag} || exit 1; done
	@for wheel in dist/*.whl; do $(PY) -m auditwheel show $$wheel | grep -i "consistent\|constrained" || exit 1; done
	@if ls dist/*abi3*.whl > /dev/null 2>&1; then $(VENV)/bin/abi3audit --strict dist/*abi3*.whl; fi
	@bash tools/try-dist.sh dist $(PYTHONS)

clean: ## remove what was built
	@rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
