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

prefect=$(command -v prefect) || { echo "prefect is not on PATH: install radcal, or name its bin folder there" >&2; exit 127; }

# All in one process of the command's own interpreter: beginning takes it longer than its work.
"$(dirname "$(realpath "$prefect")")/python" - <<'END'
import os
import sys
from contextlib import suppress
from pathlib import Path

import yaml
from prefect.cli import app
from prefect.client.orchestration import get_client
from prefect.events.schemas.automations import AutomationCore
from prefect.exceptions import ObjectNotFound


def prefect(*words):
    sys.argv = ["prefect", "--no-prompt", *words]
    try:
        app()
    except SystemExit as ended:
        if ended.code:
            raise


prefect("work-pool", "create", "radcal", "--type", "process", "--overwrite")
prefect("work-pool", "clear-concurrency-limit", "radcal")  # that of 0.9.0 and before
prefect("deploy", "--all", "--prefect-file", "prefect.yaml")
block, files = os.environ.get("RADCAL_NOTIFICATION_BLOCK", ""), ["dead-runs.yaml"]
if block:
    files.append("automations.yaml")
else:
    print("No RADCAL_NOTIFICATION_BLOCK: failures are told by [notify] of radcal.toml alone.")
with get_client(sync_client=True) as server:
    # Made anew: places that a server without lasting leases lost track of are taken for ever.
    with suppress(ObjectNotFound):
        server.delete_concurrency_limit_by_tag("gpu")
    server.create_concurrency_limit("gpu", int(os.environ.get("RADCAL_GPU_SLOTS") or 1))
    for file in files:
        filled = Path(file).read_text().replace("00000000-0000-0000-0000-000000000000", block)
        for automation in map(AutomationCore.model_validate, yaml.safe_load(filled)["automations"]):
            # To create knows no names: without this a second time doubles every automation.
            for former in server.read_automations_by_name(automation.name):
                server.delete_automation(former.id)
            server.create_automation(automation)
            print(f"Automation {automation.name} is set.")
END
