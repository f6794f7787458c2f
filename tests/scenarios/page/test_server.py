"""The page's server against those who mean no good, and what it gives to take away."""

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from oltpsim.calibration.fit import apply_calibration, read_calibration, shipped_calibrations
from oltpsim.scenarios.page import server as page_server
from oltpsim.scenarios.page.callbacks import PageCallbacks, positive_number
from oltpsim.scenarios.page.drawing import Exhibit, write_exhibit
from oltpsim.scenarios.page.folder import PageFolder
from oltpsim.scenarios.page.question import PageQuestion, read_question
from oltpsim.simulator.errors import InputError
from tests.scenarios.page.conftest import ServedPage

UPDATE = "/_dash-update-component"


@pytest.fixture
def client(served: ServedPage) -> Any:
    return served.server.app.server.test_client()


def test_every_script_and_style_is_served_from_here(client: Any) -> None:
    page = client.get("/")
    assert page.status_code == 200
    assert "default-src 'self'" in page.headers["Content-Security-Policy"]
    for place in ("/drawing.js", "/report.css", "/assets/page.js", "/assets/page.css"):
        assert client.get(place, buffered=True).status_code == 200, place


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8050", "127.0.0.1.evil.example", "10.0.0.1"])
def test_a_name_that_points_here_is_not_served(client: Any, host: str) -> None:
    assert client.get("/", headers={"Host": host}).status_code == 403


@pytest.mark.parametrize("host", ["localhost", "localhost:8050", "127.0.0.1:1", "[::1]:8050"])
def test_this_computers_names_are_served(client: Any, host: str) -> None:
    assert client.get("/", headers={"Host": host}).status_code == 200


def test_every_name_is_served_where_every_address_is_listened_at(tmp_path: Path) -> None:
    page = page_server.PageServer(tmp_path, ["0.0.0.0"])  # noqa: S104 - nothing listens
    try:
        client = page.app.server.test_client()
        assert client.get("/", headers={"Host": "box.example"}).status_code == 200
        assert client.get("/", headers={"Host": "box.example", "Origin": "http://evil.example"}).status_code == 403
    finally:
        page.close()


def test_a_page_of_another_host_may_post_nothing(client: Any) -> None:
    assert client.post(UPDATE, json={}, headers={"Origin": "https://evil.example"}).status_code == 403
    assert client.post("/upload", data={"files": (io.BytesIO(b"x"), "x")}).status_code == 403


def test_an_upload_is_kept_and_an_oversized_one_refused(
    client: Any, served: ServedPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    header = {"X-Oltpsim": "upload"}
    answer = client.post("/upload", data={"files": (io.BytesIO(b"x"), "../x.log")}, headers=header)
    assert answer.status_code == 200
    assert served.server.folder.upload(answer.json["name"]).is_dir()
    flask = served.server.app.server
    monkeypatch.setitem(flask.config, "MAX_CONTENT_LENGTH", 1000)
    large = client.post("/upload", data={"files": (io.BytesIO(bytes(5000)), "x.log")}, headers=header)
    assert large.status_code == 413
    assert "MiB" in large.json["problem"]
    assert client.get("/").status_code == 200


NAMES = ["..%2f..%2fetc%2fpasswd", "../../etc/passwd", "%00", "x" * 2000, "0" * 16, "<script>", "....//"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("place", ["/plan/{}.html", "/calibration/{}.json", "/take/{}", "/assets/{}"])
def test_no_name_reads_another_file(client: Any, place: str, name: str) -> None:
    answer = client.get(place.format(name), buffered=True)
    assert answer.status_code in {404, 308} or "_dash-config" in answer.text  # which is the page itself
    assert "root:" not in answer.text


def test_what_is_taken_away_of_a_question(client: Any) -> None:
    address = "?a=postgresql-15&a.machine.memory_gib=12"
    scenario = client.get(f"/take/scenario.yaml{address}")
    assert "attachment" in scenario.headers["Content-Disposition"]
    assert yaml.safe_load(scenario.text)["machine"]["memory_gib"] == 12.0
    rows = list(csv.reader(io.StringIO(client.get(f"/take/answer.csv{address}").text)))
    assert len(rows) > 1
    report = client.get(f"/take/report.html{address}").text
    assert report.startswith("<!doctype html>") or report.lower().startswith("<!doctype html>")
    assert "--set machine.memory_gib=12" in report


@pytest.mark.parametrize(
    "address", ["", "?a=", "?a=nonsense", "?a=%2fetc%2fpasswd", "?a=v20z&a.x=1", "?a=" + "9" * 9000]
)
def test_what_cant_be_taken_away_is_said_in_words(client: Any, address: str) -> None:
    answer = client.get(f"/take/scenario.yaml{address}")
    assert answer.status_code == 400
    assert answer.text
    assert "Traceback" not in answer.text


HOSTILE_VALUES: list[Any] = [
    None,
    True,
    -1,
    0,
    1e308,
    "",
    "\x00",
    "9" * 5000,
    "<script>alert(1)</script>",
    "../../etc/passwd",
    "/dev/zero",
    "{{7*7}}",
    "${7*7}",
    "'; DROP TABLE runs; --",
    "&a [*a,*a]",
    "!!python/object/apply:os.system ['true']",
    "8 cores, 1e308 GB, SSD",
    "0 cores, 0 GB",
    "999999999999 cores, 32 GB, SSD",
    "8 cores, 32 GB, 99999999999 SSD",
    "NaN cores, inf GB",
    "-5 cores, 32 GB",
    [],
    [[[]]],
    {},
    {"a": {"b": "c"}},
    {"machine": "v20z", "values": {"machine.memory_gib": "1e400"}},
    {"machine": ["v20z"]},
]


def hostile_calls(page: Any) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """Each function of the page with each value at each of its places, and each pair at the first two."""
    good = {"question": {"machine": "postgresql-15", "values": {}}, "rate_per_min": 1.0}
    slider = {"machine": "v20z", "values": {}, "stops": {"machine.disks.count": [1, 2]}, "own": {}}
    for value in HOSTILE_VALUES:
        yield page.ask, (value, {})
        yield page.ask, ("v20z", value)
        yield page.ask, ("v20z", {}, value)
        yield page.moved, ({**slider, "model": value}, {"machine.disks.count": "x"})
        yield page.moved, (value, {})
        yield page.question_from_browser, (value,)
        yield page.question_from_browser, ({"question": value, "at": value},)
        yield page.question_from_browser, ({"question": value, "at": [[value, value]]},)
        yield page.moved, ({**slider, "stops": value}, {"machine.disks.count": 0})
        yield page.moved, ({**slider, "own": value}, {"machine.disks.count": 0})
        yield page.moved, (slider, {"machine.disks.count": value})
        yield page.moved, ({**slider, "stops": {"machine.disks.count": [value]}}, {"machine.disks.count": 0})
        yield page.recognised, (value,)
        yield page.recognised, ({"name": value},)
        yield page.calibrate, (value, "v20z")
        yield page.calibrate, ({"name": value}, value)
        yield page.calibration, (value,)
        yield page.job, (value,)
        yield page.cancel, (value,)
        for other in HOSTILE_VALUES:
            yield page.plan, (value, other, other, other)
            yield page.plan, ({**good, "question": value}, other, "", "")
            yield page.ask, (value, other)


def test_more_than_a_thousand_hostile_inputs_leave_it_up(client: Any, served: ServedPage) -> None:
    page = served.server.callbacks
    before = {each for each in served.folder.rglob("*") if each.is_file()}
    count, refusals = 0, []
    for function, arguments in hostile_calls(page):
        count += 1
        try:
            function(*arguments)
        except InputError as error:
            refusals.append(str(error))
    assert count > 1000
    assert len(refusals) > 1000
    assert all(refusals)
    assert not any("root:" in text for text in refusals)
    assert {each for each in served.folder.rglob("*") if each.is_file()} == before
    assert client.get("/").status_code == 200
    assert page.ask("v20z", {})["question"]["machine"] == "v20z"


@pytest.mark.parametrize("body", [b"", b"{", b"null", b"[]", b'{"output": 5}', b"\xff" * 100, b'{"a":' * 5000])
def test_a_body_that_is_no_event_leaves_it_up(client: Any, body: bytes) -> None:
    flask = client.application
    flask.config["PROPAGATE_EXCEPTIONS"] = False
    assert client.post(UPDATE, data=body, content_type="application/json").status_code >= 400
    assert client.get("/").status_code == 200


@pytest.mark.parametrize("text", ["", "x", "0", "-1", "inf", "nan", "1e99", "0x10"])
def test_a_number_of_a_field_is_above_0(text: str) -> None:
    with pytest.raises(InputError):
        positive_number(text, "here")
    assert positive_number("30000", "here") == 30_000.0


def test_a_finished_calibration_is_listed_and_a_broken_one_is_not(served: ServedPage, tmp_path: Path) -> None:
    folder = PageFolder(tmp_path)
    page = PageCallbacks(served.server.calculator, served.server.jobs, folder)
    good, broken = "a" * 16, "b" * 16
    path = folder.calibration_path(good)
    write_exhibit(path, Exhibit("ours", "text"))
    path.with_suffix(".model.json").write_text("{}", encoding="utf-8")
    other = folder.calibration_path(broken)
    other.write_text(json.dumps({"format": "oltpsim-exhibit-1", "title": 5}), encoding="utf-8")
    other.with_suffix(".model.json").write_text("{}", encoding="utf-8")
    assert page.calibrations() == [(good, "ours")]


def test_a_model_is_one_of_the_programs_or_a_finished_calibration_of_the_page(tmp_path: Path) -> None:
    folder = PageFolder(tmp_path)
    asked = read_question({"machine": "v20z", "model": "published"})
    shipped = folder.model(asked)
    assert shipped is not None
    assert shipped.path == shipped_calibrations()["published"]
    assert folder.model(read_question({"machine": "v20z"})) is None
    own = read_question({"machine": "v20z", "model": "a" * 16})
    with pytest.raises(InputError, match="neither one of the program's nor a finished calibration"):
        folder.model(own)
    path = folder.calibration_path("a" * 16).with_suffix(".model.json")
    path.parent.mkdir()
    path.write_bytes(shipped.path.read_bytes())
    found = folder.model(own)
    assert found is not None
    assert found.digest == shipped.digest
    before = folder.run_path(own)
    path.write_text("{}", encoding="utf-8")  # another model under the same name: no run of the former is shown for it
    assert folder.run_path(own) != before


def test_what_is_taken_away_has_the_models_values(client: Any) -> None:
    address = "?a=postgresql-15&a.model=postgresql"
    with_model, without = (client.get(f"/take/scenario.yaml{each}").text for each in (address, "?a=postgresql-15"))
    paths = [yaml.safe_load(each)["database"]["path"]["row_operation_us"] for each in (with_model, without)]
    scenario = PageQuestion("postgresql-15").scenario("kernel").scenario
    fitted = apply_calibration(read_calibration(shipped_calibrations()["postgresql"]), scenario)
    assert paths[0] == fitted.database.path.row_operation_us
    assert paths[1] != paths[0]
    report = client.get(f"/take/report.html{address}").text
    assert "--model postgresql" in report
    assert "--model" not in client.get("/take/report.html?a=postgresql-15").text.partition("</style>")[2]


def test_a_port_in_use_is_said(served: ServedPage, tmp_path: Any) -> None:
    port = int(served.url.rstrip("/").rpartition(":")[2])
    with pytest.raises(InputError, match="give another"):
        page_server.serve(tmp_path, "127.0.0.1", port, lambda _address: None)
