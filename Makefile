# onceproof: `make` explains itself.
#
# All paths are relative, so that the folder may lie anywhere, also below one with spaces.

.DEFAULT_GOAL := help
ifeq ($(filter real-%,$(MAKECMDGOALS)),)
.NOTPARALLEL:
endif
.PHONY: help setup run test test-faults test-docker soak matrix power known-bugs versions pictures agree mutants fuzz-runs bench-checking bench-shapes bench-edn bench-audit bench-gate bench-recording bench-perf-test bench-report reference docs dist lint lock lock-jars clean

PYTHON ?= python3
BIN := .venv/bin
RUNS ?= 10
SEED ?=
MATRIX ?= all
POWER ?= all
ONLY ?=
SEEDS ?= 1
JOBS ?=
ARGS ?=
options = $(if $(SEED),--seed $(SEED)) $(ARGS)

compile := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-header
quick := $(wildcard tests/unit tests/properties)
real := $(wildcard tests/integration tests/end_to_end)

help: ## Show this help
	@echo 'onceproof: exactly-once claims on trial. Needs Linux, Python 3.11+ and Java 17 to 23.'
	@echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' Makefile
	@echo
	@echo '  SEED=42              repeat a run, a soak or a matrix with this seed'
	@echo '  RUNS=10              how many seeds a soak tries; 0: until told to stop'
	@echo '  MATRIX=quick         a sample of the matrix, in under ten minutes'
	@echo '  POWER=quick          a drawn sample of the pairs, in 15 minutes'
	@echo '  ONLY=name,name       only these pairs; SEEDS=1,2,3: each with these seeds'
	@echo '  JOBS=2               how many runs of a matrix, or trials of pairs, at a time; else by cores and memory'
	@echo '  ARGS="..."           more options for onceproof, pytest (test) or the locks'
	@echo '  PYTHON=python3.12    the Python that .venv is made from'

setup: .bootstrap ## Get everything: Python packages, jars, toxiproxy, PostgreSQL
	@$(BIN)/python -m onceproof.harness.tools setup

run: .bootstrap-run ## Put the example claim on trial, and write a report
	@$(BIN)/onceproof run $(options)

test: lint ## Lint and types, then unit and property tests, then real brokers
	$(if $(quick),$(BIN)/python -m pytest -n auto $(if $(SEED),--hypothesis-seed=$(SEED)) $(quick) $(ARGS))
	@# They wait most of the time, so brokers and whole runs are tried side by side.
	@$(if $(real),$(MAKE) --no-print-directory --jobs=2 $(addprefix real-,$(notdir $(real))))

real-%: .bootstrap
	$(BIN)/python -m pytest --durations=15 tests/$* $(ARGS)

test-faults: .bootstrap ## Every fault of a link on every role, and all other tests of faults
	ONCEPROOF_FAULTS=all $(BIN)/python -m pytest $(wildcard tests/integration/test_fault*.py) $(addprefix tests/integration/test_,$(addsuffix .py,audit broker_template cost engine_spark explore gate_on_brokers group_members java_clients kubernetes light_installation locale queue_broker runtimes_jvm runtimes_python senders spark_classes spark_uris)) tests/unit/docs/test_docs_histories.py \
		$(addprefix tests/end_to_end/test_,$(addsuffix .py,check_again connect controls crash_points ending explore external findings flagship flink groups how_to_pages iceberg_table lab_bare lab_driver lab lab_verbs matrix other_users output_elsewhere page_commands producers pytest_plugin queues secured spark_sinks spark_state spark_triggers stored_offsets surgery verify versions web_run)) $(ARGS)

test-docker: .bootstrap ## Install and start Docker if need be, build images, try the docker backend
	$(BIN)/python -m pytest tests/docker $(ARGS)

soak: .bootstrap ## Many runs with different seeds, keeping the unexpected (RUNS=10)
	@$(BIN)/onceproof soak --runs $(RUNS) $(options)

matrix: .bootstrap ## Every scenario on both backends, and one page of it all (MATRIX=quick)
	@$(BIN)/onceproof matrix $(if $(filter quick,$(MATRIX)),--quick) $(if $(JOBS),--jobs $(JOBS)) $(options)

power: .bootstrap ## Known faults and their mended twins: who is caught by what (POWER=quick)
	@$(BIN)/python -m tests.power $(if $(filter quick,$(POWER)),--quick,--page docs/reference/power.md) \
		$(if $(ONLY),--only $(ONLY)) --seeds $(SEEDS) $(if $(JOBS),--jobs $(JOBS)) $(ARGS)

versions: .bootstrap ## A sample of scenarios in other versions, as it comes out (ONLY=librdkafka)
	@$(BIN)/python -m tests.versions --page docs/reference/versions.md $(if $(ONLY),--only $(ONLY))

known-bugs: .bootstrap ## Known bugs of released versions, found again by generic means (ONLY=, SEEDS=)
	@$(BIN)/python -m tests.known_bugs --page docs/reference/known-bugs.md \
		$(if $(ONLY),--only $(ONLY)) $(if $(filter command% env%,$(origin SEEDS)),--seeds $(SEEDS))

pictures: .bootstrap ## The pictures of README and docs anew, from a real run; needs Chromium
	@$(BIN)/python -m tests.pictures

agree: .bootstrap ## Thousands of generated histories, judged by every engine and by the oracle
	@$(BIN)/python -m tests.properties.checkers.agree $(options)

mutants: .bootstrap ## Alter every condition of every query; each must be noticed
	@$(BIN)/python -m tests.mutants $(ARGS)

fuzz-runs: .bootstrap ## Damage every file of run folders in 2,000 ways; each must be told (ARGS=--seed 8)
	@$(BIN)/python -m tests.fuzz_runs $(ARGS)

bench-checking: .bootstrap ## Time judging 0.1 to 10 million records (ARGS=--large: 100)
	@$(BIN)/python -m benchmarks.checking $(ARGS)

bench-shapes: .bootstrap ## Whether a query grows faster than its rows, on histories of many shapes
	@$(BIN)/python -m benchmarks.shapes $(ARGS)

bench-edn: .bootstrap ## Judge a Jepsen history of 500 000 operations (ARGS="--operations 100000")
	@$(BIN)/python -m benchmarks.edn $(ARGS)

bench-audit: .bootstrap ## Audit millions of records with planted faults (ARGS=--records 20000000)
	@$(BIN)/python -m benchmarks.audit $(ARGS)

bench-gate: .bootstrap ## What a gate on a link costs, beside toxiproxy alone
	@$(BIN)/python -m benchmarks.gate $(ARGS)

bench-recording: .bootstrap ## What our recording costs a producer, beside a bare client
	@$(BIN)/python -m benchmarks.recording $(ARGS)

bench-perf-test: .bootstrap ## Transactions as `onceproof cost` and Kafka's own perf test measure them
	@$(BIN)/python -m benchmarks.perf_test $(ARGS)

bench-report: .bootstrap ## Size of a report of a thousand findings, and how fast Chromium opens it
	@$(BIN)/python -m benchmarks.report $(ARGS)

reference: .bootstrap ## Write docs/reference anew, from the code
	@$(BIN)/python -m onceproof.reports.anomalies.markdown > docs/reference/anomalies.md
	@$(BIN)/python -m onceproof.checkers.tables_page > docs/reference/history.md
	@$(BIN)/python -m onceproof.checkers.claims_page > docs/reference/claims.md
	@$(BIN)/python -m onceproof.harness.faults.page > docs/reference/faults.md
	@$(BIN)/python -m onceproof.verify.hazards_page > docs/reference/hazards.md
	@$(BIN)/python -m onceproof.harness.user_pipeline.outputs.page > docs/reference/outputs.md
	@$(BIN)/python -m onceproof.scenarios_page > docs/reference/scenarios.md
	@$(BIN)/python -m onceproof.commands_page > docs/reference/commands.md
	@$(BIN)/python -m onceproof.settings.page docs/reference
	@$(BIN)/python -m onceproof.reports.schema
	@$(BIN)/python -m onceproof.reports.event_lines.page docs/reference

docs: .bootstrap ## Build the site into build/site; dead links are errors
	@$(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going --fresh-env \
		--conf-dir docs --doctree-dir build/doctrees . build/site
	@echo 'build/site/index.html'

dist: .bootstrap ## Build wheel and source distribution, and check them (ARGS=--release)
	@$(BIN)/python -m tests.packaging $(ARGS)

lint: .bootstrap ## ruff, mypy, and the law of who may import whom
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

lock: .bootstrap ## Write requirements.txt and harness.lock anew (ARGS=--upgrade moves versions)
	$(compile) --extra dev $(ARGS) --output-file requirements.txt pyproject.toml
	printf 'setuptools\nwheel\n' | $(compile) --extra full --constraint requirements.txt \
		--output-file harness/tools/harness.lock pyproject.toml -

lock-jars: .bootstrap ## Write harness/tools/jars.lock.json anew
	$(BIN)/python -m onceproof.harness.tools lock-jars

clean: ## Remove .venv and what tools left; runs/ and downloads stay
	rm -rf .venv .venv.lock build dist src/onceproof.egg-info .pytest_cache .mypy_cache .ruff_cache \
		.hypothesis .import_linter_cache
	find . -path ./runs -prune -o -name __pycache__ -type d -exec rm -rf {} +

.PHONY: .bootstrap .bootstrap-run
.bootstrap:
	@$(PYTHON) harness/tools/bootstrap.py
.bootstrap-run:
	@$(PYTHON) harness/tools/bootstrap.py --run
