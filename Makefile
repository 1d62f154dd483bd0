# The chores of this project; what they need goes into .venv, once.
PORT ?= 8000
ARGS ?=
RECENT := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(firstword $(foreach python,python3.11 python3 python3.12 python3.13 python3.14,$(shell \
	$(python) -c '$(RECENT)' 2>/dev/null && echo $(python))))
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
INSTALL := $(PIP) install --quiet --require-hashes -r

.PHONY: help setup demo pdf test bench screenshots messages lock

help:
	@echo "make demo [PORT=8001] [ARGS=--reset]   set up a demo and serve it"
	@echo "make pdf                               add what reports as PDF need, to the demo or to production"
	@echo "make test [ARGS='-k portal']           every check and every test (quicker: ARGS='-n 2')"
	@echo "make bench [ARGS=--json]               measure what the README claims, in about 5 minutes"
	@echo "make setup                             only prepare .venv"
	@echo "make screenshots                       take the README's pictures again (needs Chromium)"
	@echo "make messages                          gather the texts to translate and compile them (needs gettext)"
	@echo "make lock                              pin the dependencies of pyproject.toml again"

setup: $(VENV)/installed

demo: setup
	@$(BIN)/python manage.py demo --port $(PORT) $(ARGS)

pdf: $(VENV)/installed-pdf

bench: $(VENV)/installed-bench
	@$(BIN)/python -m benchmarks $(ARGS)

test: $(VENV)/installed-dev
	$(BIN)/ruff check --quiet
	$(BIN)/ruff format --quiet --check
	$(BIN)/mypy --no-error-summary
	$(BIN)/lint-imports --no-logo
	$(BIN)/pytest --quiet $(ARGS)

screenshots: $(VENV)/installed-dev
	@$(BIN)/python -m tests.browser.screenshots

messages: $(VENV)/installed
	@$(BIN)/django-admin makemessages --locale de --no-wrap --no-obsolete --add-location file \
		--ignore dashboard_api --ignore templates/admin --ignore tests --ignore benchmarks --ignore var
	@$(BIN)/django-admin compilemessages --locale de --ignore .venv

$(VENV)/bin/pip:
	@$(or $(PYTHON),false) -c '$(RECENT)' 2>/dev/null || { \
		echo "Python 3.11 or later is needed and was not found. Install it, or name it:" \
		"make setup PYTHON=/path/to/python3"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "Debian and Ubuntu: apt install python3-venv"; exit 1; }

$(VENV)/installed: requirements.lock | $(VENV)/bin/pip
	@echo "Installing what the product needs into $(VENV) ..."
	@$(INSTALL) requirements.lock
	@touch $@

$(VENV)/installed-pdf: requirements-pdf.lock $(VENV)/installed
	@echo "Installing what reports as PDF need into $(VENV) ..."
	@$(INSTALL) requirements-pdf.lock
	@touch $@

$(VENV)/installed-dev: requirements-dev.lock $(VENV)/installed
	@echo "Installing what the tests need into $(VENV) ..."
	@$(INSTALL) requirements-dev.lock
	@touch $@

$(VENV)/installed-bench: requirements-bench.lock $(VENV)/installed
	@echo "Installing what the benchmarks compare with into $(VENV) ..."
	@$(INSTALL) requirements-bench.lock
	@touch $@

lock:
	@scratch=$$(mktemp -d) && trap 'rm -rf "$$scratch"' EXIT && \
	$(PYTHON) -m venv "$$scratch" && "$$scratch/bin/pip" install --quiet pip-tools && \
	compile="$$scratch/bin/pip-compile --quiet --generate-hashes --no-emit-index-url --no-emit-find-links \
		--no-emit-trusted-host --strip-extras --no-header --allow-unsafe" && \
	$$compile -o requirements.lock pyproject.toml && \
	$$compile --extra pdf -c requirements.lock -o requirements-pdf.lock pyproject.toml && \
	$$compile --extra dev --extra pdf -c requirements.lock -o requirements-dev.lock pyproject.toml && \
	$$compile --extra bench -c requirements.lock -o requirements-bench.lock pyproject.toml
