#!/usr/bin/env bash
# Installs radcal from this folder, without a network, into PREFIX (default /opt/radcal).
#   install.sh [PREFIX] [PYTHON]
# Installing a newer bundle over an older PREFIX is the upgrade; workspaces are not touched.
set -euo pipefail
umask 022 # who runs radcal need not be who installs it
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
prefix=${1:-/opt/radcal}
python=${2:-python3}

(cd "$here" && sha256sum --check --quiet SHA256SUMS) || {
  echo "This bundle is damaged or was changed; copy it again." >&2
  exit 1
}
read -r _ wanted _ <"$here/PLATFORM"
found=$("$python" -c 'import sys; print(f"{sys.version_info[0]}.{sys.version_info[1]},")')
if [[ $found != "$wanted" ]]; then
  echo "This bundle is for Python ${wanted%,}, and $python is ${found%,}; name another: install.sh PREFIX PYTHON." >&2
  exit 2
fi

"$python" -m venv --clear "$prefix"
install=("$prefix/bin/python" -m pip install --quiet --disable-pip-version-check --no-index --no-deps)
"${install[@]}" --find-links "$here/wheels" --require-hashes --requirement "$here/runtime.lock"
"${install[@]}" "$here"/wheels/radcal-*.whl
mkdir -p "$prefix/share"
cp -r "$here/deploy/." "$prefix/share/"
"$prefix/bin/radcal" --help >/dev/null
echo "Installed into $prefix. Next: $prefix/bin/radcal demo --pairs 300, then $prefix/share/README.md."
