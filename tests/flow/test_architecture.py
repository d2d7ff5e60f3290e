"""What docs/architecture.md says: its names exist, its examples work, its walks run one way."""

from __future__ import annotations

import ast
import doctest
import re
import sys
import tomllib
from collections.abc import Callable, Iterator
from graphlib import TopologicalSorter
from importlib import import_module
from importlib.metadata import packages_distributions
from itertools import pairwise
from pathlib import Path
from types import FunctionType
from typing import Any

import grimp
import pandas as pd
import pytest

from calibration.tally import Tally
from extraction import vocabulary
from extraction.finding import Extracted
from extraction.rules.engine import RuleEngine
from pipeline.formats.hl7v2 import FieldMap, Hl7Options, read
from pipeline.pages.review import RunFacts
from pipeline.simulate import simulate_chunks
from pipeline.simulate.generator import write_simulation
from pipeline.site.site import Site
from pipeline.stages import Keyed
from pipeline.stages.pages import FEEDBACK, page_requests
from tests.fixtures.here import Here

HOUSE = ("calibration", "extraction", "reports", "pipeline")
ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
NAMES = sorted(set(re.findall(r"`([\w/]+\.py)::(\w+)`", TEXT)))
BESIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PLACES = sorted(
    set(re.findall(r"`((?:calibration|extraction|reports|pipeline|tests)/[\w/.]*)`", TEXT + BESIDE))
)
EXAMPLES = re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)


def names_in(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign):
            found |= {t.id for t in node.targets if isinstance(t, ast.Name)}
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
        elif isinstance(node, ast.ImportFrom) and path.name == "__init__.py":
            found |= {alias.name for alias in node.names}
    return found


@pytest.mark.parametrize(("path", "name"), NAMES, ids=lambda value: value)
def test_name_stands_where_the_page_says(path: str, name: str) -> None:
    assert name in names_in(ROOT / path)


@pytest.mark.parametrize("path", PLACES)
def test_place_that_a_page_names_exists(path: str) -> None:
    assert (ROOT / path).exists()


BY_HAND = re.findall(r"^\| [^|`]+((?:(?:, )?`[\w/]+\.py`)+) \| (`[^|]+`) \|", TEXT, re.MULTILINE)


@pytest.mark.parametrize(("places", "libraries"), BY_HAND)
def test_what_is_written_by_hand_rests_on_what_the_page_says(places: str, libraries: str) -> None:
    trees = [
        ast.parse((ROOT / p).read_text(encoding="utf-8")) for p in re.findall(r"`(.+?)`", places)
    ]
    imported = {
        name.split(".")[0]
        for node in (node for tree in trees for node in ast.walk(tree))
        for name in imports_of(node)
    }
    assert set(re.findall(r"`(\w+)`", libraries)) <= imported


def imports_of(node: ast.AST) -> list[str]:
    if isinstance(node, ast.ImportFrom):
        return [node.module or ""]
    return [alias.name for alias in node.names] if isinstance(node, ast.Import) else []


def test_every_library_that_a_run_installs_is_imported() -> None:
    """But one: FastAPI is held back for Prefect's server, which imports it."""
    stated = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = {re.match(r"[\w.-]+", each)[0].lower() for each in stated["dependencies"]}  # type: ignore[index]
    trees = [
        ast.parse(path.read_bytes()) for house in HOUSE for path in (ROOT / house).rglob("*.py")
    ]
    imported = {
        name.split(".")[0] for tree in trees for n in ast.walk(tree) for name in imports_of(n)
    }
    homes = packages_distributions()
    used = {home.lower().replace("_", "-") for name in imported for home in homes.get(name, ())}
    assert needed - used == {"fastapi"}


def test_every_room_of_the_pipeline_is_explained() -> None:
    rooms = {p.name for p in (ROOT / "pipeline").iterdir() if (p / "__init__.py").exists()}
    assert {room for room in rooms if f"`pipeline/{room}/`" not in TEXT} <= {"neighbours"}


def test_a_cue_added_as_the_page_shows_is_read(tmp_path: Path) -> None:
    shipped = Path(vocabulary.__file__).with_name("cues.toml").read_text(encoding="utf-8")
    (cue,) = [example for example in EXAMPLES if "[[cue]]" in example]
    (tmp_path / "cues.toml").write_text(shipped + "\n" + cue, encoding="utf-8")
    text = "IMPRESSION: Pneumonia is within the realm of possibility."
    (outcome,) = RuleEngine(vocabulary.load(tmp_path)).extract([text], modality="XR")
    assert isinstance(outcome, Extracted)
    assert [(f.pathology, f.phrase) for f in outcome.findings] == [("pneumonia", "may represent")]


def test_a_field_mapped_as_the_page_shows_is_read(tmp_path: Path) -> None:
    (mapping,) = [tomllib.loads(example) for example in EXAMPLES if "[input.hl7]" in example]
    message = (
        "MSH|^~\\&|RIS|N|||20260301120000||ORU^R01|1|P|2.5.1\rPID|1||M1\r"
        "OBR|1|O1|ACC1|X1^XR CHEST||20260301100000||||||||||||||||20260301113000|||F\r"
        "OBX|1|TX|X1&IMP||Likely pneumonia.||||||F\rZRD|1|||R77^Doe^Jo\r"
    )
    (tmp_path / "feed.hl7").write_text(message, encoding="utf-8")
    (batch,) = read(tmp_path / "feed.hl7", Hl7Options(fields=FieldMap.of(mapping["input"]["hl7"])))
    assert batch.exams["reader_id"].tolist() == ["R77"]


def test_the_measure_on_the_page_gives_the_number_beside_it() -> None:
    example = doctest.DocTestParser().get_doctest(TEXT, {}, "architecture", None, 0)
    assert len(example.examples) == 4
    assert doctest.DocTestRunner(verbose=False).run(example).failed == 0


@pytest.mark.parametrize("title", ["A report's text", "A tally"])
def test_a_walk_never_returns_to_a_room_it_has_left(title: str) -> None:
    walk = TEXT.split(f"**{title}**")[1].split("\n\n")[1]
    stops = [path.split("/") for path in re.findall(r"`([\w/]+)\.py::", walk)]
    rooms = ["/".join(stop[:2]) if stop[0] == "pipeline" else stop[0] for stop in stops]
    left = [room for room, following in pairwise([*rooms, ""]) if room != following]
    assert len(stops) > 5
    assert len(left) == len(set(left)) <= 8


def test_no_module_imports_itself_by_any_way_round() -> None:
    graph = grimp.build_graph("calibration", "extraction", "reports", "pipeline", cache_dir=None)
    imports = {m: graph.find_modules_directly_imported_by(m) for m in graph.modules}
    assert len(imports) > 100
    TopologicalSorter(imports).prepare()  # a circle raises


def stops(title: str) -> list[tuple[str, str]]:
    walk = TEXT.split(f"**{title}**")[1].split("\n\n")[1]
    return re.findall(r"`([\w/]+\.py)::(\w+)`", walk)


def workings(found: object) -> list[tuple[type, str]]:
    """Where a stop that is no function works: a stage makes, a record is made, others do."""
    if isinstance(found, Keyed):
        return [(type(found), "make")]
    assert isinstance(found, type)
    public = [n for n, f in vars(found).items() if isinstance(f, FunctionType) and n[0] != "_"]
    return [(found, name) for name in public] if found is not Tally else [(found, "__init__")]


def add_addenda(path: Path) -> None:
    """Give every X-ray an addendum signed soon after it: one read before the CT is joined."""
    exams = pd.read_csv(path, dtype="str", keep_default_na=False)
    later = exams[(exams["modality"] == "XR") & (exams["status"] == "final")]
    signed = pd.to_datetime(later["signed_at"]) + pd.Timedelta(seconds=1)
    later = later.assign(
        signed_at=signed.map(pd.Timestamp.isoformat),
        exam_id="A" + later["exam_id"],
        status="addendum",
        version="9",
        text="Called to the ward.",
    )
    pd.concat([exams, later]).to_csv(path, index=False)


@pytest.fixture(scope="module")
def reached(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    """Take a small export to a reader's page in this process; give the stops as they were met."""
    folder, met = tmp_path_factory.mktemp("walk"), []
    write_simulation(simulate_chunks(pairs=60, readers=2, seed=4), folder / "hospital")
    add_addenda(folder / "hospital" / "exams.csv")
    (folder / "radcal.toml").write_text('[input]\npaths = ["hospital/exams.csv"]\n')
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RADCAL_VAULT_KEY", "dGhpcyBpcyBhIHRlc3Qga2V5IG9mIDMyIGJ5dGVzISE")

        def noting(work: Callable[..., Any], stop: str, *, done: bool) -> Callable[..., Any]:
            def noted(*given: Any, **named: Any) -> Any:
                if not done:
                    met.append(stop)
                result = work(*given, **named)
                if done:
                    met.append(stop)
                return result

            return noted

        for path, name in stops("A report's text") + stops("A tally"):
            home = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
            found = getattr(import_module(home), name)
            if isinstance(found, FunctionType):
                for module in [m for k, m in sys.modules.items() if k.split(".")[0] in HOUSE]:
                    if vars(module).get(name) is found:
                        patch.setattr(module, name, noting(found, name, done=False))
                continue
            for owner, method in workings(found):
                work = getattr(owner, method)
                patch.setattr(owner, method, noting(work, name, done=isinstance(found, Keyed)))
        Site.forget()
        here = Here(Site.open(str(folder / "radcal.toml")))
        issue = here.choose(here.gather())
        readers, _ = page_requests(issue, RunFacts((), (), (), ()))
        here.map(FEEDBACK, readers[:1])
        yield list(dict.fromkeys(met))


@pytest.mark.parametrize("title", ["A report's text", "A tally"])
def test_a_job_meets_the_stops_of_a_walk_in_the_order_of_the_page(
    title: str, reached: list[str]
) -> None:
    told = [name for _, name in stops(title)]
    assert [name for name in reached if name in told] == told
