# make install   the environment, from the lock       make demo    a simulated hospital, start to PDFs
# make test      every check and test                 make check   linters and types alone
# make bench     speed and scale, with figures        make lock    resolve the lock anew (needs uv)

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: install demo test check bench lock clean

install: $(STAMP)

$(STAMP): requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed.") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $(STAMP)

demo: install
	$(BIN)/radcal demo --out demo

check: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: check
	$(BIN)/pytest -n auto --dist loadfile

bench: install
	set -e; for script in benchmarks/*_*.py; do echo "== $$script"; $(BIN)/python $$script; done

lock:
	uv pip compile pyproject.toml --extra dask --extra s3 --group dev --universal --python-version 3.11 \
		--generate-hashes --no-emit-index-url --no-header -o requirements.lock
	uv pip compile pyproject.toml --extra dask --extra s3 --universal --python-version 3.11 \
		--constraint requirements.lock --generate-hashes --no-emit-index-url --no-header \
		--no-annotate -o deploy/runtime.lock

clean:
	rm -rf $(VENV) demo build dist
