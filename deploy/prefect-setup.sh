#!/usr/bin/env bash
# Tells a Prefect server what radcal needs of it; may be repeated after an upgrade.
# Needs: PREFECT_API_URL, RADCAL_CONFIG (path of radcal.toml on the workers), and prefect on PATH.
# May have: RADCAL_TIME_ZONE (UTC), RADCAL_GPU_SLOTS (1: shards asking the model server at once),
#           RADCAL_NOTIFICATION_BLOCK (id of a notification block, for messages on failures).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
: "${PREFECT_API_URL:?is not set, for example http://127.0.0.1:4200/api}"
: "${RADCAL_CONFIG:?is not set: the path of radcal.toml on the workers}"
export RADCAL_CONFIG RADCAL_TIME_ZONE="${RADCAL_TIME_ZONE:-UTC}"
export DO_NOT_TRACK=1

prefect --no-prompt work-pool create radcal --type process --overwrite
prefect --no-prompt work-pool clear-concurrency-limit radcal # that of 0.9.0 and before
# Made anew: places that a server without lasting leases lost track of are taken for ever.
prefect --no-prompt concurrency-limit delete gpu >/dev/null 2>&1 || true
prefect --no-prompt concurrency-limit create gpu "${RADCAL_GPU_SLOTS:-1}"
prefect --no-prompt deploy --all --prefect-file prefect.yaml

automate() { # `create` knows no names: without this a second time doubles every automation
  while read -r name; do
    if prefect --no-prompt automation inspect "$name" >/dev/null 2>&1; then
      prefect --no-prompt automation delete "$name"
    fi
  done < <(sed -n 's/^  - name: //p' "$1")
  prefect --no-prompt automation create --from-file "$1"
}

automate dead-runs.yaml
if [[ -n "${RADCAL_NOTIFICATION_BLOCK:-}" ]]; then
  filled=$(mktemp --suffix=.yaml)
  trap 'rm -f "$filled"' EXIT
  sed "s/00000000-0000-0000-0000-000000000000/${RADCAL_NOTIFICATION_BLOCK}/" automations.yaml >"$filled"
  automate "$filled"
else
  echo "No RADCAL_NOTIFICATION_BLOCK: failures are told by [notify] of radcal.toml alone."
fi
