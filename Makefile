# make install   the environment, from the lock       make demo    a simulated hospital, start to PDFs
# make test      every check and test                 make check   linters and types alone
# make test-kernels   the numerical tests again, as other processors would run them
# make bench     speed and scale, with figures        make lock    resolve the lock anew (needs uv)
# make install-vllm   the language model's own environment (deploy/vllm); make test-vllm tests it
# make docs      the documentation as a site in build/site, its links checked
# make nightly   hours: a hundred thousand exams killed and resumed, fifty kills at random moments,
#                and make mutation: which changed signs and limits no test notices

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
RUNTIME := $(VENV)/.installed-to-run
VLLM := .venv-vllm
DOCS := .venv-docs
MUTATION := .venv-mutation
VLLM_FOR ?= $(shell nvidia-smi -L >/dev/null 2>&1 && echo gpu || echo cpu)
VLLM_STAMP := $(VLLM)/.installed-for-$(VLLM_FOR)

.PHONY: install install-vllm install-vllm-test demo test test-fast test-kernels test-vllm check docs bench nightly mutation lock clean

install: $(STAMP)

PIP := python -m pip install --quiet --quiet --disable-pip-version-check --no-deps

# uv unpacks many packages at once and compiles them, as pip does: a read-only installation cannot later, and
# a module first compiled in a test would raise its warnings there. Where it cannot be had, or does not reach the index that pip is
# set up for, pip installs the same files by the same hashes.
define from_lock
	url=$$($(2)/bin/python -m pip config get global.index-url 2>/dev/null) || url=$${PIP_INDEX_URL:-}; \
	[ -z "$$url" ] || export UV_DEFAULT_INDEX="$$url"; export UV_SYSTEM_CERTS=1; \
	[ -z "$${PIP_NO_INDEX:-}" ] && \
	$(BIN)/uv pip install --quiet --quiet --compile-bytecode --python $(2)/bin/python --no-deps --require-hashes -r $(1) 2>/dev/null || \
	$(2)/bin/$(PIP) --require-hashes -r $(1)
endef

$(STAMP): requirements.lock $(RUNTIME)
	$(call from_lock,requirements.lock,$(VENV))
	touch $@

# What runs the job, without what tests it: enough for the demonstration.
$(RUNTIME): deploy/runtime.lock deploy/installer.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed.") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	-$(BIN)/$(PIP) --require-hashes -r deploy/installer.lock
	$(call from_lock,deploy/runtime.lock,$(VENV))
	$(BIN)/$(PIP) --no-build-isolation --editable .
	touch $@

install-vllm: $(VLLM_STAMP)

# Torch's processor build lies on an index of its own, which pip may have been told of and uv not.
$(VLLM_STAMP): deploy/vllm/$(VLLM_FOR).lock
	$(PYTHON) -m venv --clear $(VLLM)
	awk '/^[a-z]/ { torch = /^torch==/ } !torch' $< >$(VLLM)/without-torch.lock
	$(call from_lock,$(VLLM)/without-torch.lock,$(VLLM))
	$(VLLM)/bin/$(PIP) --require-hashes -r $<
	touch $@

install-vllm-test: install-vllm
	$(VLLM)/bin/$(PIP) --require-hashes -r deploy/vllm/test.lock

demo: $(RUNTIME)
	$(BIN)/radcal demo --out demo || test $$? -eq 3  # done, with some input set aside

check: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --num-workers auto
	$(BIN)/lint-imports

# What runs whole commands waits for servers now and then: one worker more than there are cores.
WAITING := $$(( $$($(PYTHON) -c 'import os; print(os.cpu_count() or 1)') + 1 ))

FAST := tests/property tests/reference tests/unit tests/golden tests/clinical

test-fast: check
	$(BIN)/pytest -n auto --dist loadfile --no-loadscope-reorder --durations=15 -m 'not slow and not nightly' $(FAST)

# Every test once, in one run (each collects for half a minute): the long files first, so that no
# core is left with one of them at the end.
test: check
	$(BIN)/pytest -n $(WAITING) --dist loadfile --no-loadscope-reorder --durations=30 \
		tests/e2e tests/flow calibration extraction reports pipeline $(FAST)

NUMERICAL := $(wildcard tests/unit/test_calibration_*.py tests/unit/test_profile_*.py) \
	$(wildcard tests/property/test_calibration_*.py tests/property/test_profile_*.py) tests/reference

# With and without AVX2. OpenBLAS does on Zen what it does on Haswell, to the last bit.
KERNELS := Haswell Sandybridge

# Side by side: one process each where there are two cores.
test-kernels: install
	$(MAKE) --jobs=2 --output-sync=target $(addprefix kernel-,$(KERNELS))

kernel-%:
	OPENBLAS_CORETYPE=$* $(BIN)/pytest -m 'not slow and not nightly' $(NUMERICAL)

MODELS := $(patsubst %,tests/flow/test_model_%.py,vllm vllm_commands trained certainty_layers certainty_elicit)

# The longest file first, and the others beside it.
test-vllm: install install-vllm-test
	OMP_NUM_THREADS=1 OMP_WAIT_POLICY=PASSIVE RADCAL_VLLM_PYTHON=$(CURDIR)/$(VLLM)/bin/python \
		$(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder $(MODELS)

docs: $(DOCS)
	NO_MKDOCS_2_WARNING=1 $(DOCS)/bin/python -m mkdocs build --clean  # not --quiet: that passes broken links

$(DOCS): docs/requirements.lock
	$(PYTHON) -m venv --clear $(DOCS)
	$(call from_lock,$<,$(DOCS))
	touch $(DOCS)

bench: install
	set -e; for script in benchmarks/*_*.py; do echo "== $$script"; $(BIN)/python $$script; done

nightly: install
	$(BIN)/pytest -n 0 -m nightly
	$(BIN)/python benchmarks/nightly/faults_kills.py
	$(MAKE) mutation

mutation: $(MUTATION)
	$(MUTATION)/bin/python benchmarks/nightly/mutation.py $(PARTS)

$(MUTATION): requirements.lock benchmarks/nightly/mutation.lock
	$(PYTHON) -m venv --clear $(MUTATION)
	$(MUTATION)/bin/python -m pip install --quiet --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements.lock
	$(MUTATION)/bin/python -m pip install --quiet --quiet --disable-pip-version-check --no-deps --require-hashes -r benchmarks/nightly/mutation.lock
	$(MUTATION)/bin/python -m pip install --quiet --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $(MUTATION)

# Where this moves Prefect: `make install`, then `.venv/bin/python -m tests.fixtures.prefect_records`.
lock:
	uv pip compile pyproject.toml --extra dask --extra s3 --extra presidio --group dev --universal --python-version 3.11 \
		--generate-hashes --no-emit-index-url --no-header -o requirements.lock
	uv pip compile pyproject.toml --extra dask --extra s3 --universal --python-version 3.11 \
		--constraint requirements.lock --generate-hashes --no-emit-index-url --no-header \
		--no-annotate -o deploy/runtime.lock
	printf 'uv\nsetuptools\n' | uv pip compile - --universal --python-version 3.11 \
		--constraint requirements.lock --generate-hashes --no-emit-index-url --no-header \
		--no-annotate -o deploy/installer.lock

clean:
	rm -rf $(VENV) $(VLLM) $(DOCS) $(MUTATION) demo build dist
