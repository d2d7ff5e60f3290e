"""The whole job from the command line: init, run, demo; and simulate, a hospital to run it on."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Final

import typer

from pipeline.cli.common import Advance, ConfigArgument, Output, flag, option, taking
from pipeline.errors import ConfigurationError, InputError
from pipeline.run import begin_worker
from pipeline.run.shield import LogFormat, on_terminal, shielded, stoppable
from pipeline.store.files import plain
from reports.numbers import Language

if TYPE_CHECKING:
    from pipeline.run.run import Summary
    from pipeline.simulate import Simulation


DepartmentOption = Annotated[
    str, typer.Option(help="clustered, hard, straight, or a TOML file (docs/simulation.md).")
]

_AGAIN: Final = (
    "what was delivered is not delivered again where it was taken away. Restore the folder; or, "
    "for all of the issue anew, delete delivery/ledger.jsonl and run"
)

_LARGE_PAIRS: Final = 1_500
"""So many pairs come to more than a small run (`pipeline.run.rehearsal.is_small`)."""


def register(app: typer.Typer) -> None:
    """Add this group's commands."""
    app.command("init")(init)
    app.command("run")(taking(run))
    app.command("demo")(taking(demo))
    app.command("open")(taking(pages))
    app.command("simulate")(taking(simulate))


def init(
    folder: Annotated[Path, typer.Argument(help="Folder for the configuration.")],
    language: Annotated[Language, typer.Option(help="Language of the pages.")] = "en",
) -> None:
    """Write a commented radcal.toml and a new vault key into a folder."""
    from pipeline import config

    target = folder / "radcal.toml"
    if (there := folder if folder.is_file() else target).exists():
        raise ConfigurationError(f"{there} exists already; it was left as it is.")
    folder.mkdir(parents=True, exist_ok=True)
    filled = config.template().replace('\nlanguage = "en"\n', f'\nlanguage = "{language}"\n')
    target.write_text(filled, encoding="utf-8")
    key = _new_key(folder)
    typer.echo(
        f"Wrote {target} and {key}.\n"
        "Keep the key apart from the data, and back it up: without it no code can be traced back.\n"
        "Then say in radcal.toml where your exports are and what their columns are called, and\n"
        f"RADCAL_VAULT_KEY_FILE={quote(str(key))} radcal check {quote(str(target))}"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Options of ``radcal run``."""

    config: ConfigArgument
    period: str | None = option(None, "Last month of the issue, as 2026-09; else the newest whole.")
    no_pages: bool = flag("--no-pages", "Stop after the gates: a night between two issues.")
    log_format: LogFormat = option(
        "text", "Progress on standard error: text, or json (a line an event)."
    )
    output: Output


def run(given: Run) -> None:
    """Take report exports to delivered pages."""
    from pipeline.tables.results import month

    if given.period is not None:
        month(given.period)
    output, form = given.output, given.log_format
    told = output.quiet or (output.as_json and form == "text")
    pages = not given.no_pages
    summary = _whole_job(given.config, given.period, pages=pages, quiet=told, log_format=form)
    _end(summary, given.config, output)


def pages(config: ConfigArgument, output: Output) -> None:
    """List the pages of the newest issue, each with the file to open."""
    from pipeline.config import load
    from pipeline.store.workspace import Workspace

    store = Workspace(load(config).workspace)
    root = store.root / "delivery"
    issues = sorted(folder for folder in root.glob("*-*") if folder.is_dir())
    if not issues:
        todo = _AGAIN if (root / "ledger.jsonl").is_file() else "nothing was delivered yet: run"
        raise InputError(
            f"open: no page lies below {root} that this user may read; "
            f"{todo} `radcal run {quote(str(config))}`."
        )
    files = sorted(file for file in issues[-1].glob("*/*") if file.is_file())
    _, whom = store.issued(issues[-1].name)
    own = (file for file in files if whom is None or file.parent.name in whom)
    shown = [(file.parent.name, file.name, str(file)) for file in own]
    older = len(files) - len(shown)
    each = [{"recipient": who, "page": page, "path": path} for who, page, path in shown]
    lines = [f"Issue {issues[-1].name}: {len({who for who, _, _ in shown}):,} recipients."]
    lines += [f"{who:<12} {path}" for who, _, path in shown]
    if older:
        lines.append(f"{older:,} older files of others lie beside them: do not hand them on.")
    output.show({"issue": issues[-1].name, "pages": each, "older_files": older}, lines)


def _next(summary: Summary, config: str) -> str:
    """Say what to open and what to do next."""
    if summary.delivery is None:
        if summary.exit_code:
            return f"next: read {summary.report}, correct the cause, and run again"
        return f"next: `radcal run {config}` makes the pages when the issue is due"
    review = Path(summary.delivery) / "committee" / "review.pdf"
    if not review.is_file():
        return f"next: the pages are no more in {summary.delivery}; {_AGAIN} `radcal run {config}`"
    return f"next: open {review}; `{_called()} open {config}` lists every page to hand on"


def _called() -> str:
    """Name this program as it can be called from here: a demonstration's is on no path."""
    own = sys.argv[0]
    return "radcal" if shutil.which("radcal") or Path(own).name != "radcal" else quote(own)


@dataclass(frozen=True, slots=True, kw_only=True)
class Demo:
    """Options of ``radcal demo``."""

    out: Path = option(Path("demo"), "Folder for the demonstration.")
    pairs: int = option(2662, "X-ray and CT pairs to simulate.", min=1)
    readers: int = option(12, "Readers to simulate.", min=1)
    seed: int = option(0, "Seed of the simulation.", min=0)
    department: DepartmentOption = "clustered"
    language: Language = option("en", "Language of the pages.")
    output: Output


def demo(given: Demo) -> None:
    """Simulate a hospital and run the whole job on it: no GPU, no weights, no network."""
    given.out.mkdir(parents=True, exist_ok=True)
    config = given.out / "radcal.toml"
    written = Path(__file__).with_name("demo.toml").read_text(encoding="utf-8")
    config.write_text(written.format(language=given.language), encoding="utf-8")
    if not {"RADCAL_VAULT_KEY", "RADCAL_VAULT_KEY_FILE"} & set(os.environ):
        os.environ["RADCAL_VAULT_KEY_FILE"] = str(_new_key(given.out))
    large, make = given.pairs >= _LARGE_PAIRS, partial(_hospital, given, given.out / "hospital")
    if not large:
        make()
    summary = _whole_job(config, None, quiet=given.output.silent, beside=make if large else None)
    _end(summary, config, given.output)


def _hospital(given: Demo, out: Path) -> None:
    """Simulate the hospital, and say so first."""
    if not given.output.quiet:
        what = f"{given.pairs:,} pairs by {given.readers} readers (seed {given.seed})"
        typer.echo(f"Simulating {what}.", err=True)
    _simulated(given, out)


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulate:
    """Options of ``radcal simulate``."""

    out: Path = option(..., "Folder to write; made if absent.")
    pairs: int = option(2662, "Eligible X-ray/CT pairs.", min=1)
    readers: int = option(12, "Radiologists.", min=1)
    seed: int = option(0, "The same seed gives the same bytes.", min=0)
    department: DepartmentOption = "clustered"
    output: Output


def simulate(given: Simulate) -> None:
    """Write a simulated hospital: OUT/exams.csv to feed the job, OUT/truth/ to judge it."""
    counts = _simulated(given, given.out)
    given.output.tell({"out": str(given.out), **counts, "seed": given.seed})


def _simulated(given: Demo | Simulate, out: Path) -> dict[str, object]:
    from pipeline.simulate import simulate_chunks
    from pipeline.simulate.generator import write_simulation

    chunks = simulate_chunks(
        pairs=given.pairs, readers=given.readers, seed=given.seed, department=given.department
    )
    with given.output.bar("simulating", given.pairs) as advance:
        return write_simulation(_counted(chunks, advance), out)


def _counted(chunks: Iterable[Simulation], advance: Advance) -> Iterator[Simulation]:
    """Pass pieces of a hospital on, and count their pairs."""
    for chunk in chunks:
        yield chunk
        advance(len(chunk.truth.pairs))


def _whole_job(
    config: Path,
    period: str | None,
    *,
    quiet: bool,
    pages: bool = True,
    log_format: LogFormat = "text",
    beside: Callable[[], None] | None = None,
) -> Summary:
    """Go the whole way; `beside` is done while all that a large run needs starts."""
    from pipeline.config import load
    from pipeline.run.server import is_configured, settle, temporary_server, trim
    from pipeline.store.workspace import Workspace

    path = str(config.resolve())
    try:
        workspace = Workspace.of(load(config))
    except ConfigurationError:  # the run itself refuses it, and tells whom it can
        from pipeline.flows import nightly

        return nightly.fn(path)
    workspace.prepare()
    settle(home := workspace.root / "prefect")
    on_terminal(log_format, quiet=quiet)
    # Held before the server starts: two servers would make one database at the same time.
    with _told_if_stopped(config, workspace.root), stoppable(), workspace.locked():
        if beside is None and not is_configured() and _needs_no_server(path):
            from pipeline.flows import nightly, whole_job

            return whole_job.fn(path, period) if pages else nightly.fn(path)
        trim(home)
        with temporary_server() as wait, _at_work(beside) as ready:
            from pipeline.flows import nightly, whole_job

            ready()
            wait()
            return whole_job(path, period) if pages else nightly(path)


@contextmanager
def _told_if_stopped(config: Path, root: Path) -> Iterator[None]:
    """Report a run that is stopped while what it needs starts, as one under way reports itself."""
    from pipeline.run.books import last_run

    before = last_run(root)
    try:
        yield
    except KeyboardInterrupt as error:
        if last_run(root) == before:
            from pipeline.run.run import tell_unbegun

            tell_unbegun(config, error)
        raise


@contextmanager
def _at_work(beside: Callable[[], None] | None) -> Iterator[Callable[[], None]]:
    """Do something in a process of its own; gives a function that waits until it is done."""
    if beside is None:
        yield lambda: None
        return
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawn, initializer=begin_worker) as process:
        yield process.submit(shielded, beside).result


def _needs_no_server(path: str) -> bool:
    """Whether a run is small, or would be refused before it reads anything."""
    from pipeline.run.rehearsal import is_fit, is_small
    from pipeline.site.site import Site

    site = Site.open(path)
    return is_small(site) or not is_fit(site)


def _end(summary: Summary, config: Path, output: Output) -> None:
    """Say what a run came to, without what does not apply to it, and end as it did."""
    from reports.pages.run_report import remedy

    told = {name: value for name, value in plain(summary).items() if value is not None}
    if not output.as_json:
        told["left_out"] = {f"{why}{remedy(why)}": n for why, n in summary.left_out.items()}
    output.tell(told if output.as_json else _in_short(told))
    if not output.silent:
        typer.echo(_next(summary, quote(str(config))))
    if summary.exit_code:
        raise typer.Exit(summary.exit_code)


_ASIDE: Final = {
    "quarantined": "rows",
    "withheld": "reports withheld",
    "contradictory": "exams whose versions contradict each other",
}


def _in_short(told: dict[str, object]) -> dict[str, object]:
    """Put all that was set aside in one line, and leave out what seldom happens and did not."""
    lines: dict[str, object] = {}
    for name, value in told.items():
        if name == "quarantined":
            aside = {what: told[each] for each, what in _ASIDE.items() if told[each]}
            lines["set_aside"] = aside or "nothing"
        elif name == "readers_to_check" and value:
            lines[name] = f"{value}: words rise too little with CT; the review says what to check"
        elif name not in _ASIDE and (value or name in ("pairs", "observations", "pages_delivered")):
            lines[name] = value
    return lines


def _new_key(folder: Path) -> Path:
    from pipeline.vault.key import new_key

    path = folder / "vault.key"
    if not path.exists():
        path.touch(mode=0o600)
        path.write_text(new_key() + "\n", encoding="utf-8")
    return path.resolve()
