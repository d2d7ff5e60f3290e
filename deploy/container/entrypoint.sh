#!/bin/sh
# Files for the owner alone; the database's password comes from a file, not from the environment.
set -eu
umask 077
if [ -n "${RADCAL_DATABASE_PASSWORD_FILE:-}" ]; then
  PREFECT_SERVER_DATABASE_PASSWORD=$(cat "$RADCAL_DATABASE_PASSWORD_FILE")
  export PREFECT_SERVER_DATABASE_PASSWORD
fi
exec "$@"
