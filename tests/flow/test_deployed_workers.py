"""A shard has a time limit that really ends its worker, and a task that knows the model server."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from pipeline.errors import ShardTimeoutError
from pipeline.run.run import Run
from pipeline.run.runners import runners
from pipeline.run.workers import in_worker, workers
from pipeline.site.site import Site
from pipeline.stages.extract import EXTRACT
from pipeline.stages.ingest import INGEST


def test_stuck_shard_is_given_up_and_the_next_finds_a_whole_pool() -> None:
    with workers(2, seconds=3.0):
        started = time.monotonic()
        with pytest.raises(ShardTimeoutError, match=r"longer than 3 s .*\.shard_timeout_minutes"):
            in_worker(time.sleep, 600.0)
        assert time.monotonic() - started < 300
    with workers(2):
        assert in_worker(dict, {"key": "made"})["key"] == "made"


@pytest.mark.parametrize(("engine", "tags"), [("rules", set()), ("server", {"gpu"})])
def test_what_asks_the_model_server_carries_the_tag_of_its_limit(
    tmp_path: Path, engine: str, tags: set[str]
) -> None:
    config = tmp_path / "radcal.toml"
    config.write_text(
        f'[input]\npaths = ["a.csv"]\n[extraction]\nengine = "{engine}"\n'
        'server_url = "http://127.0.0.1:8000"\nmodel = "m"\n'
    )
    run = Run(str(config))
    with runners(run.site.config) as run.runners:
        assert run.runners.task(EXTRACT).tags == tags
        assert run.runners.task(INGEST).tags == set()


def test_configuration_that_changed_is_read_again_by_a_process_that_lives_on(
    tmp_path: Path,
) -> None:
    config = tmp_path / "radcal.toml"
    config.write_text('[input]\npaths = ["a.csv"]\n')
    before = Site.open(str(config))
    assert Site.open(str(config)) is before
    config.write_text('[input]\npaths = ["a.csv"]\n[pairing]\nwindow_hours = 6\n')
    assert Site.open(str(config)).config.pairing.window_hours == 6
