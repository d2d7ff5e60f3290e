#!/usr/bin/env bash
# Packs all that a machine without a network needs to install radcal: wheels, locks, checksums.
# Run it in a checkout on a connected machine of the same platform and Python as the target.
#   make-bundle.sh OUT [--python PYTHON] [--model FOLDER]...
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
out=${1:?usage: make-bundle.sh OUT [--python PYTHON] [--model FOLDER]...}
shift
python=python3
models=()
while (($#)); do
  case $1 in
    --python) python=$2; shift 2 ;;
    --model) models+=("$2"); shift 2 ;;
    *) echo "unknown option: $1" >&2; exit 2 ;;
  esac
done
mkdir -p "$out/wheels" # wheels that are there already are not downloaded again
rm -rf "$out"/wheels/radcal-*.whl "$out/deploy" "$out/SHA256SUMS"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# What only some patch releases of Python need (3.11.2 but not 3.11.7) comes along in any case.
sed -E "s/ ; python_full_version [<>=]+ '[0-9]+\.[0-9]+\.[0-9]+'//" "$root/deploy/runtime.lock" >"$work/all.lock"
"$python" -m pip download --quiet --disable-pip-version-check --no-deps --require-hashes \
  --only-binary :all: --dest "$out/wheels" --requirement "$work/all.lock"

# The program's own wheel, built with the locked setuptools, so that nothing else is fetched.
"$python" -m venv "$work/venv"
"$work/venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-index \
  --find-links "$out/wheels" --upgrade setuptools
mkdir "$work/source"
cp -r "$root"/{pyproject.toml,README.md,LICENSE,calibration,extraction,reports,pipeline} "$work/source"
"$work/venv/bin/python" -m pip wheel --quiet --disable-pip-version-check --no-deps --no-index \
  --no-build-isolation --wheel-dir "$out/wheels" "$work/source"

cp "$root/deploy/runtime.lock" "$root/deploy/airgap/install.sh" "$root/LICENSE" "$root/CHANGELOG.md" "$out"
mkdir "$out/deploy"
cp -r "$root"/deploy/{README.md,prefect.yaml,automations.yaml,dead-runs.yaml,prefect-setup.sh,once.sh,systemd} "$out/deploy"
for model in "${models[@]}"; do
  mkdir -p "$out/models"
  cp -rL "$model" "$out/models/"
done
"$python" -c 'import platform, sys; print(f"python {sys.version_info[0]}.{sys.version_info[1]}, {platform.machine()}, {platform.libc_ver()}")' >"$out/PLATFORM"
sums=$(cd "$out" && find . -type f -print0 | sort -z | xargs -0 sha256sum)
printf '%s\n' "$sums" >"$out/SHA256SUMS"
echo "$out: $(find "$out/wheels" -name '*.whl' | wc -l) wheels, $(du -sh "$out" | cut -f1). Carry it over whole, then run install.sh PREFIX in it."
echo "Keep SHA256SUMS apart as well: $(sha256sum "$out/SHA256SUMS" | cut -d' ' -f1)"
