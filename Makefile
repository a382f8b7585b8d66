# tablectl: see README.md. `make demo` and `make test` do all that a newcomer needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMPS := .stamps
RUN := OMP_NUM_THREADS=2 $(BIN)/python -m tablectl
WEB_SOURCES := $(shell find web -path web/node_modules -prune -o -type f -print 2>/dev/null) $(wildcard vision/art/*.svg)

.PHONY: help setup setup-dev web demo firmware test lint bench check-long train clean

help: ## what can be made
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 14

setup: $(STAMPS)/run web ## everything that running needs, into .venv
setup-dev: $(STAMPS)/dev web ## setup, and everything that tests need

$(STAMPS)/run: pyproject.toml scripts/setup.sh
	bash scripts/setup.sh run "$(PYTHON)" "$(VENV)"
	@mkdir -p $(STAMPS) && touch $@

$(STAMPS)/dev: pyproject.toml scripts/setup.sh
	bash scripts/setup.sh dev "$(PYTHON)" "$(VENV)"
	@mkdir -p $(STAMPS) && touch $@ $(STAMPS)/run

$(STAMPS)/long: pyproject.toml scripts/setup.sh
	bash scripts/setup.sh long "$(PYTHON)" "$(VENV)"
	@mkdir -p $(STAMPS) && touch $@

web: tablectl/web/static/index.html
tablectl/web/static/index.html: $(WEB_SOURCES) scripts/build_web.sh | $(STAMPS)/run
	bash scripts/build_web.sh "$(VENV)"

demo: setup ## a simulated session, live in the browser
	$(RUN) demo

firmware: $(STAMPS)/dev ## the controller's firmware, for the chip and for this machine, and its simulator
	$(MAKE) --silent -C hardware/firmware all
	$(MAKE) --silent -C hardware/plant all build/exerciser.elf

# Tests run side by side and must find the firmware made.
test: setup-dev lint firmware ## all quick tests
	$(BIN)/python -m pytest -n 2 --dist loadfile
	cd web && PATH="$(CURDIR)/$(BIN):$$PATH" npm test --silent

lint: $(STAMPS)/dev ## style, types, import rules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: setup-dev firmware ## speed and memory, as tables
	$(BIN)/python scripts/bench.py

check-long: setup-dev $(STAMPS)/long firmware ## longer checks: many hands, bigger property tests, the wheel
	$(BIN)/python -m pytest -m slow --timeout 3600

train: .venv-train/bin/yolo ## the recogniser's weights anew, from ../shared/data: hours (models/recipe.sh)
	sh models/recipe.sh

.venv-train/bin/yolo:
	"$(PYTHON)" -m venv .venv-train
	.venv-train/bin/python -m pip install --quiet --upgrade pip
	.venv-train/bin/python -m pip install --quiet --editable '.[train]'

clean: ## remove what can be made again
	rm -rf $(STAMPS) hardware/firmware/build hardware/plant/build tablectl/web/static web/node_modules dist build .mypy_cache .ruff_cache .pytest_cache
