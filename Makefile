# `make` alone lists what there is. A recipe is one line per step; the how is in .ci/.

SHELL := /bin/bash
# pip leaves bytecode to the first import, which must be allowed to write it.
unexport PYTHONDONTWRITEBYTECODE
.DEFAULT_GOAL := help
.PHONY: help demo test fuzz pages sanitize coverage-floor golden docs figures check lint format-check warnings types pyright imports wheel \
	bench format lock environment clean

# Say PYTHON=python3.12 for another interpreter, and ARGS=... for more words to pytest or to the lock's compiler.
PYTHON ?= python3
ARGS ?=
BIN := .venv/bin
ENVIRONMENT := $(PYTHON) .ci/environment.py
STEP := .ci/step
CPP = $$(git ls-files --cached --others --exclude-standard '*.cpp' '*.hpp')
# Tests that `make sanitize` runs.
SANITIZED := tests/simulator/test_compiled_library.py tests/simulator/kernel/test_engine.py tests/simulator/kernel/test_size.py \
	tests/simulator/analytic/test_system.py tests/simulator/analytic/test_writes.py
COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --annotation-style line --custom-compile-command "make lock"

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 16

demo: ## predict the shipped example machine and write out/v20z.html
	@$(ENVIRONMENT) run
	@mkdir -p out
	@$(BIN)/oltpsim run scenarios/library/v20z.yaml --seed 1 --report out/v20z.html
	@echo "the program: $(BIN)/oltpsim; to type oltpsim alone: source $(BIN)/activate"

test: ## run every test; ARGS="-k disk -n 0" is passed on to pytest; COVERAGE=yes holds their branches against the floors
	@$(ENVIRONMENT) dev --browser --clang --postgresql --laboratory
	@$(if $(COVERAGE),rm -rf out/coverage && mkdir -p out/coverage)
	@$(BIN)/$(if $(COVERAGE),coverage run -m )pytest -n 2 --dist worksteal $(ARGS)
	@$(if $(COVERAGE),$(BIN)/python .ci/coverage_floor.py)

pages: environment ## run every command of README and docs/ and hold what the pages show against it
	@$(BIN)/pytest -n 2 --dist worksteal -m pages tests/test_commands_of_pages.py $(ARGS)

sanitize: environment ## run tests of the kernel with its bounds, addresses and undefined behaviour checked
	@.ci/sanitized $(BIN)/pytest -n 2 --dist worksteal --capture=sys $(SANITIZED) $(ARGS)

coverage-floor: environment ## raise the floors of .ci/coverage_floor.json to what `make test COVERAGE=yes` measured last
	@$(BIN)/python .ci/coverage_floor.py --raise

fuzz: environment ## read a million damaged files and 10,000 planted changes; ARGS="--cases 20000 --reader import" for less of the first
	@PYTHONPATH=$(CURDIR) $(BIN)/python -m tests.fuzzing --cases 1000000 $(ARGS)
	@PYTHONPATH=$(CURDIR) $(BIN)/python -m tests.planting --changes 10000

golden: environment ## write tests/golden anew after a change of trajectories that is meant; a commit of its own
	@$(BIN)/python $$(git ls-files 'tests/*test_golden.py')

check: lint format-check warnings types pyright imports wheel docs pages ## everything CI checks beside the tests

lint: environment
	@$(STEP) "ruff check" $(BIN)/ruff check .

format-check: environment
	@$(STEP) "ruff format" $(BIN)/ruff format --check .
	@$(STEP) "clang-format" $(BIN)/clang-format --dry-run -Werror $(CPP)

warnings: environment
	@$(STEP) "C++ warnings" $(BIN)/python .ci/libraries.py warnings

types: environment
	@$(STEP) "mypy, strict" $(BIN)/mypy

pyright: environment
	@$(STEP) "pyright" $(BIN)/basedpyright

imports: environment
	@$(STEP) "import layers" $(BIN)/lint-imports

wheel: environment
	@$(STEP) "wheel, installed in new environments" $(BIN)/python .ci/check_wheel.py

bench: environment ## measure speed and write docs/performance.md; ARGS=--full takes long sizes, ARGS="--beside FOLDER" another checkout too
	@$(BIN)/python -m benchmarks $(ARGS)

docs: environment ## build the documentation site into out/site; needs no network, simulates nothing
	@$(STEP) "documentation site, strict" $(BIN)/zensical build --strict --clean --config-file mkdocs.yml

figures: environment ## simulate for the pages and pictures of docs/ what their code has made new, and write them
	@$(BIN)/python -m oltpsim.models.reading.schema
	@$(BIN)/python docs/build_commands.py
	@$(BIN)/python docs/build_python.py
	@$(BIN)/python docs/build_scenario.py
	@$(BIN)/python docs/build_decisions.py
	@$(BIN)/python docs/build_chance.py
	@$(BIN)/python docs/build_validation.py
	@$(BIN)/python docs/build_published.py
	@$(BIN)/python docs/build_models.py
	@$(BIN)/python docs/build_public.py
	@$(BIN)/python docs/build_path_lengths.py
	@$(BIN)/python docs/build_described.py --fit
	@$(BIN)/python docs/build_laboratory.py
	@$(BIN)/python docs/build_evidence.py
	@$(BIN)/python docs/build_large_systems.py
	@$(BIN)/python docs/build_sampling.py
	@$(BIN)/python docs/build_analytic.py
	@$(BIN)/python docs/build_cpu_scaling.py
	@$(BIN)/python docs/build_volumes.py --draw
	@$(BIN)/python docs/build_calibration.py
	@$(BIN)/python docs/build_next_run.py
	@$(BIN)/python docs/build_devices.py
	@$(BIN)/python docs/build_pictures.py --simulate
	@$(BIN)/python docs/build_what_if_picture.py
	@$(BIN)/python docs/build_page_picture.py
	@$(BIN)/python docs/build.py
figures: export PYTHONPATH = $(CURDIR)

format: environment ## sort imports, apply safe fixes, lay out the code
	@$(BIN)/ruff check --fix-only --quiet .
	@$(BIN)/ruff format .
	@$(BIN)/clang-format -i $(CPP)

lock: environment ## bring the lock files up to date with pyproject.toml; ARGS=--upgrade takes newer versions
	@$(STEP) "requirements.lock" $(COMPILE) pyproject.toml --group build --output-file requirements.lock $(ARGS)
	@$(STEP) "requirements-dev.lock" $(COMPILE) pyproject.toml --group dev --constraint requirements.lock \
		--output-file requirements-dev.lock $(ARGS)
	@$(STEP) "benchmarks/requirements.lock" $(COMPILE) benchmarks/requirements.in \
		--output-file benchmarks/requirements.lock $(ARGS)

environment: ## make .venv with everything for development
	@$(ENVIRONMENT) dev

clean: ## remove what make has made
	@rm -rf .venv out dist .cache simulator/*/lib*.so simulator/*/*/lib*.so .benchmarks .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	@find simulator models calibration scenarios tests benchmarks -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true
