# The commands of this project; the first run installs what they need into .venv.
PORT ?= 8000
ARGS ?=
JOBS ?= 2
RECENT := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(firstword $(foreach python,python3.11 python3 python3.12 python3.13 python3.14,$(shell \
	$(python) -c '$(RECENT)' 2>/dev/null && echo $(python))))
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
INSTALL := $(PIP) install --quiet --require-hashes --no-deps -r

GERMAN := locale/de/LC_MESSAGES/django.po dashboard_api/locale/de/LC_MESSAGES/django.po

MUTATED := addresses/hosts sealing
MUTATED_NEEDS := django|cryptography|idna|pytest|pytest-django|hypothesis

PYTEST := $(BIN)/pytest --quiet --numprocesses $(JOBS) --dist worksteal

.PHONY: help setup demo pdf stripe engines check quick test test-all test-long bench screenshots observatory judges schemathesis clients mutants sbom outdated messages lock

help:
	@echo "make demo [PORT=8001] [ARGS=--reset]   set up a demo and serve it"
	@echo "make pdf                               install the typesetter of PDF reports"
	@echo "make stripe                            install the library for payment callbacks of Stripe"
	@echo "make engines                           install SSLyze and Wapiti for scans into var/engines, each in an environment of its own"
	@echo "make check                             lint, types and layers, in seconds"
	@echo "make quick [ARGS='-k portal']          the tests without a browser and without slow ones"
	@echo "make test [JOBS=4]                     every check, and every test except slow ones"
	@echo "make test-all                          every check and every test that continuous integration runs"
	@echo "make test-long [ARGS='-k killed']      the long tests, in half an hour; DATABASE_URL names the database server"
	@echo "make bench [ARGS=--json]               run the benchmarks of docs/performance.md, in about 5 minutes"
	@echo "make setup                             only prepare .venv"
	@echo "make screenshots                       take the screenshots of the README again (needs Chromium)"
	@echo "make observatory                       grade the pages with the MDN HTTP Observatory (needs nginx and npm)"
	@echo "make judges [ARGS=csp]                 compare our scans of the ground truth with other scanners (needs npm)"
	@echo "make schemathesis                      send calls that Schemathesis makes from the OpenAPI description"
	@echo "make clients                           call the API with clients of openapi-generator (needs Java 17 and Go)"
	@echo "make mutants                           change es1, hosts and sealing in some 250 ways, and list changes that no test notices"
	@echo "make sbom > sbom.json                  print the bill of materials of the product (CycloneDX)"
	@echo "make outdated                          list what 'make lock ARGS=--upgrade' would change, and what limits hold back (some minutes)"
	@echo "make messages                          collect the texts to translate and compile them (needs gettext)"
	@echo "make lock [ARGS=--upgrade]             pin what pyproject.toml and the engines need again (ARGS='-P django': one newer)"

setup: $(VENV)/installed

demo: $(VENV)/installed-pdf
	@$(BIN)/python manage.py demo --port $(PORT) $(ARGS)

pdf: $(VENV)/installed-pdf

bench: $(VENV)/installed-bench
	@$(BIN)/python -m benchmarks $(ARGS)

check: $(VENV)/installed-dev
	$(BIN)/ruff check --quiet
	$(BIN)/ruff format --quiet --check
	$(BIN)/mypy --no-error-summary
	$(BIN)/lint-imports --no-logo
	@$(BIN)/pip check >/dev/null || $(BIN)/pip check

quick: $(VENV)/installed-dev
	$(PYTEST) -m "not browser and not slow" $(ARGS)

test: check
	$(PYTEST) -m "not slow" $(ARGS)

test-all: check
	$(PYTEST) $(ARGS)

test-long: $(VENV)/installed-dev  # not in parallel: some tests measure time
	$(BIN)/pytest -m long -rA tests/long tests/dashboard_api/crawler/test_known_page.py $(ARGS)

screenshots: $(VENV)/installed-dev
	@$(BIN)/python -m tests.browser.screenshots

observatory: $(VENV)/installed-dev
	@$(BIN)/python -m tests.deploy.observatory

judges: $(VENV)/installed-dev
	@$(BIN)/python -m tests.dashboard_api.crawler.ground_truth.judges $(ARGS)

schemathesis: $(VENV)/installed  # in a separate environment: it needs other versions
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && $(PYTHON) -m venv $$folder && \
	$$folder/bin/pip install --quiet schemathesis==4.32.0 && \
	SCHEMATHESIS=$$folder/bin/schemathesis $(BIN)/python -m tests.long.openapi_cases $(ARGS)

clients: $(VENV)/installed-dev
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && $(PYTHON) -m venv $$folder && \
	$$folder/bin/pip install --quiet openapi-generator-cli==7.26.0 && \
	OPENAPI_GENERATOR=$$folder $(BIN)/pytest --quiet tests/contract/openapi_generator/generated_clients.py $(ARGS)

mutants:  # copies lose their caches, which would hide changes; mutmut does not change decorated functions
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && \
	mkdir -p $$folder/tests/es1 $$folder/tests/foundation/addresses $$folder/foundation/addresses && \
	cp -r es1 $$folder && cp tests/es1/[!_]*.py $$folder/tests/es1 && \
	rm $$folder/tests/es1/test_imports.py $$folder/tests/es1/test_package.py && \
	for module in $(MUTATED); do test=tests/foundation/$$(dirname $$module)/test_$$(basename $$module).py; cp $$test $$folder/$$test && \
	sed '/^@.*lru_cache/d' foundation/$$module.py > $$folder/foundation/$$module.py; done && \
	versions="$$(grep -ohE '^($(MUTATED_NEEDS))==[^ ]+' requirements.lock requirements-dev.lock | sort -u)" && cd $$folder && \
	touch foundation/__init__.py foundation/addresses/__init__.py tests/__init__.py tests/es1/__init__.py tests/foundation/__init__.py tests/foundation/addresses/__init__.py && \
	printf 'SECRET_KEY = "mutants"\nALLOW_PRIVATE_HOSTS = False\nMASTER_KEYS = ["%s="]\n' \
		bXV0YW50cy1tdXRhbnRzLW11dGFudHMtMDEyMzQ1Njc > mutant_settings.py && \
	printf '[mutmut]\nsource_paths=\n    es1/\n    foundation/\npytest_add_cli_args_test_selection=tests\nalso_copy=\n    tests\n    es1\n    foundation\n    mutant_settings.py\n[tool:pytest]\nDJANGO_SETTINGS_MODULE=mutant_settings\n' >setup.cfg && \
	$(PYTHON) -m venv venv && venv/bin/pip install --quiet mutmut==3.8.1 $$versions && \
	venv/bin/mutmut run >log && venv/bin/mutmut results

sbom:
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && \
	$(PYTHON) -m venv $$folder/product && $(PYTHON) -m venv $$folder/tool && \
	$$folder/product/bin/pip install --quiet --require-hashes --no-deps -r requirements.lock && \
	for lock in pdf stripe; do \
	$$folder/product/bin/pip install --quiet --require-hashes --no-deps -r requirements-$$lock.lock || exit; done && \
	$$folder/product/bin/pip uninstall --quiet --yes setuptools pip && \
	$$folder/tool/bin/pip install --quiet cyclonedx-bom==7.5.0 && \
	$$folder/tool/bin/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible $$folder/product/bin/python

outdated: $(VENV)/installed
	@$(BIN)/python .ci/outdated

messages: $(VENV)/installed
	@$(BIN)/django-admin makemessages --locale de --no-wrap --no-obsolete --add-location file \
		--ignore tests --ignore benchmarks --ignore var
	@for file in $(GERMAN); do \
		sed '/^"POT-Creation-Date/d' $$file > $$file.new && mv $$file.new $$file; done  # so that only changed texts differ
	@$(BIN)/django-admin compilemessages --locale de --ignore .venv --ignore var

$(VENV)/bin/pip:
	@$(or $(PYTHON),false) -c '$(RECENT)' 2>/dev/null || { \
		echo "Python 3.11 or later is needed and was not found. Install it, or name it:" \
		"make setup PYTHON=/path/to/python3"; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "Debian and Ubuntu: apt install python3-venv"; exit 1; }

$(VENV)/installed: requirements.lock | $(VENV)/bin/pip
	@echo "Installing the requirements of the product into $(VENV) ..."
	@$(INSTALL) requirements.lock
	@touch $@

engines: var/engines/sslyze/installed var/engines/wapiti/installed

var/engines/%/installed: deploy/engines/%.lock
	@echo "Installing $* into var/engines/$* ..."
	@$(PYTHON) -m venv --clear var/engines/$*
	@var/engines/$*/bin/pip --disable-pip-version-check install --quiet --require-hashes --no-deps -r $<
	@touch $@

$(VENV)/installed-pdf: requirements-pdf.lock $(VENV)/installed
	@echo "Installing the typesetter of PDF reports into $(VENV) ..."
	@$(INSTALL) requirements-pdf.lock
	@touch $@

stripe: $(VENV)/installed-stripe

$(VENV)/installed-stripe: requirements-stripe.lock $(VENV)/installed
	@echo "Installing the library of Stripe into $(VENV) ..."
	@$(INSTALL) requirements-stripe.lock
	@touch $@

$(VENV)/installed-dev: requirements-dev.lock $(VENV)/installed
	@echo "Installing the requirements of the tests into $(VENV) ..."
	@$(INSTALL) requirements-dev.lock
	@touch $@

$(VENV)/installed-bench: requirements-bench.lock $(VENV)/installed
	@echo "Installing the requirements of the benchmarks into $(VENV) ..."
	@$(INSTALL) requirements-bench.lock
	@touch $@

lock:
	@scratch=$$(mktemp -d) && trap 'rm -rf "$$scratch"' EXIT && \
	$(PYTHON) -m venv "$$scratch" && "$$scratch/bin/pip" install --quiet pip-tools && \
	compile="$$scratch/bin/pip-compile --quiet --generate-hashes --no-emit-index-url --no-emit-find-links \
		--no-emit-trusted-host --strip-extras --no-header --allow-unsafe $(ARGS)" && \
	$$compile -o requirements.lock pyproject.toml && \
	$$compile --extra pdf -c requirements.lock -o requirements-pdf.lock pyproject.toml && \
	$$compile --extra stripe -c requirements.lock -o requirements-stripe.lock pyproject.toml && \
	$$compile --extra dev --extra pdf --extra stripe -c requirements.lock -o requirements-dev.lock pyproject.toml && \
	$$compile --extra bench -c requirements.lock -o requirements-bench.lock pyproject.toml && \
	for engine in sslyze:sslyze wapiti3:wapiti; do \
	echo $${engine%:*} | $$compile --no-annotate -o deploy/engines/$${engine#*:}.lock - || exit; done
