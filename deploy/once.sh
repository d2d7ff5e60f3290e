#!/bin/sh
# One run for a scheduler that knows only "done" and "failed".
#   once.sh radcal run /etc/radcal/radcal.toml [--no-pages]
# 3 (done, some input set aside and counted) is done; 5 (another run holds the workspace) is waited
# for, RADCAL_WAIT_TRIES times RADCAL_WAIT_SECONDS; every other code is passed on as it is.
set -eu
tries=${RADCAL_WAIT_TRIES:-72}
while
  code=0
  "$@" || code=$?
  [ "$code" -eq 5 ] && [ "$tries" -gt 0 ]
do
  tries=$((tries - 1))
  sleep "${RADCAL_WAIT_SECONDS:-300}"
done
if [ "$code" -eq 3 ]; then
  echo "radcal: done, some input was set aside (exit 3); see the run report." >&2
  code=0
fi
exit "$code"
