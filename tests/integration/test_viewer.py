"""The viewer in a real browser, over real runs; without Chromium or Playwright these tests skip."""

from __future__ import annotations

import contextlib
import gzip
import http.client
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from desktop_env.protocols import Provider
from desktop_env.report import annotation
from desktop_env.runs import Run, RunSettings
from desktop_env.task import load
from desktop_env.tasks.catalogue import folder
from desktop_env.web.server import ViewerServer

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PATIENCE = 60_000
"""Milliseconds that a page may take on a busy machine."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    api = pytest.importorskip("playwright.sync_api")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("there is no chromium (scripts/setup --dev installs it)")
    with api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"], timeout=PATIENCE)
        yield started
        started.close()


@pytest.fixture
def run(made_run: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made_run, tmp_path / "results" / made_run.name))


@pytest.fixture
def server(run: Path) -> Iterator[ViewerServer]:
    with ViewerServer(run.parent) as started:
        yield started


@pytest.fixture
def page(browser: Browser, server: ViewerServer) -> Iterator[Page]:
    """A page at the list of runs; what the browser complains of fails the test."""
    made = browser.new_page(viewport={"width": 1440, "height": 900})
    made.set_default_timeout(PATIENCE)
    problems: list[str] = []
    made.on("pageerror", lambda error: problems.append(str(error)))
    made.on("console", lambda message: problems.append(message.text) if message.type == "error" else None)
    made.goto(server.url())
    yield made
    made.close()
    assert problems == []


def go(page: Page, place: str) -> None:
    page.evaluate("place => { location.hash = place }", f"#{quote(place, safe='/?=&')}")


def shown(page: Page, step: str, pane: int = 0) -> None:
    page.locator(f'.stage >> nth={pane} >> xpath=self::*[@data-shown="{step}"]').wait_for()


def test_from_all_runs_to_an_episode_by_keys(page: Page, run: Path) -> None:
    page.locator("tbody tr.chosen").wait_for()
    assert "33 %" in page.locator("tbody tr").inner_text()
    page.keyboard.press("Enter")
    page.locator("table.episodes tbody tr").nth(2).wait_for()
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    shown(page, "1 before")
    assert page.locator(".verdict .badge").inner_text() == "failed"
    assert page.locator(".score").inner_text() == "0.5"
    assert page.locator(".findings").inner_text().startswith("answer")
    page.keyboard.press("Escape")
    page.locator("table.episodes").wait_for()


def test_a_place_noted_late_does_not_take_back_where_a_key_led(page: Page, run: Path) -> None:
    page.add_init_script("""
        const real = setTimeout;
        setTimeout = (call, delay) => { window.latest = call; return real(call, delay); };
    """)
    page.reload()
    go(page, f"/run/{run.name}/eda/nearly/1")
    shown(page, "1 before")
    page.evaluate("place => { location.hash = place; window.latest(); }", f"#/run/{run.name}")
    page.locator("table.episodes").wait_for()


def test_filters(page: Page, run: Path) -> None:
    go(page, f"/run/{run.name}")
    rows = page.locator("table.episodes tbody tr")
    rows.nth(2).wait_for()
    page.select_option("select[name=result]", "failed")
    assert rows.count() == 2
    page.fill("input[name=text]", "nearly")
    assert rows.count() == 1
    page.select_option("select[name=result]", "passed")
    assert rows.count() == 0


def test_steps_frames_and_the_action_drawn(page: Page, run: Path) -> None:
    steps = run / "eda/nearly/1/traj.jsonl"
    lines = [json.loads(line) for line in steps.read_text().splitlines()]
    lines[0] |= {"actions": [{"type": "Click", "x": 960, "y": 540, "button": "left", "count": 2, "modifiers": []}]}
    lines[1] |= {"actions": [{"type": "Type", "text": "<b>x</b>"}], "response": "I think <i>so</i>"}
    steps.write_text("".join(json.dumps(line) + "\n" for line in lines))
    go(page, f"/run/{run.name}/eda/nearly/1")
    shown(page, "1 before")
    assert page.locator(".marks .ring").count() == 2
    assert page.locator(".marks .dot").get_attribute("cx") == "960"
    page.keyboard.press("ArrowRight")
    shown(page, "2 before")
    assert page.locator(".typed").inner_text() == 'type "<b>x</b>"'
    assert page.locator(".details .said").inner_text() == "I think <i>so</i>"
    page.keyboard.press("a")
    shown(page, "2 after")
    page.keyboard.press("End")
    shown(page, f"{len(lines)} after")
    page.keyboard.press("Home")
    shown(page, "0 after")


def test_the_tree_under_the_mouse(page: Page, run: Path) -> None:
    xml = (
        '<desktop-frame xmlns:cp="https://accessibility.ubuntu.example.org/ns/component"><application name="app">'
        '<frame name="whole" cp:screencoord="(0, 0)" cp:size="(1920, 1080)">'
        '<push-button name="Save &lt;all&gt;" cp:screencoord="(900, 500)" cp:size="(120, 80)"/>'
        "</frame></application></desktop-frame>"
    )
    (run / "eda/nearly/1/accessibility/step_0.xml.gz").write_bytes(gzip.compress(xml.encode()))
    go(page, f"/run/{run.name}/eda/nearly/1")
    shown(page, "1 before")
    page.locator(".stage").hover()
    page.locator(".tip b").wait_for()
    assert "push-button Save <all>" in page.locator(".tip").inner_text()
    assert page.locator(".nodes .hovered").get_attribute("width") == "120"
    page.keyboard.press("t")
    page.locator(".nodes .outline").nth(1).wait_for(state="attached")


def test_a_person_labels_a_failed_episode(page: Page, run: Path) -> None:
    go(page, f"/run/{run.name}/eda/fails/1?step=2")
    shown(page, "2 before")
    page.fill("input[name=annotator]", "al")
    page.keyboard.press("Escape")  # leaves the field
    page.keyboard.press("2")
    page.fill("textarea[name=note]", "went the wrong way")
    page.click("button.save")
    page.locator("button.quiet").wait_for()
    (said,) = annotation.read(run)
    assert (said.annotator, said.label, said.step, said.note) == ("al", "planning", 2, "went the wrong way")
    page.click("button.quiet")
    page.locator("button.quiet").wait_for(state="hidden")
    assert annotation.read(run) == []


def test_two_episodes_side_by_side(page: Page, run: Path) -> None:
    go(page, f"/run/{run.name}")
    page.locator("table.episodes tbody tr").nth(2).wait_for()
    for key in "xjxc":
        page.keyboard.press(key)
    shown(page, "1 before", 0)
    shown(page, "1 before", 1)
    page.keyboard.press("ArrowRight")
    shown(page, "2 before", 0)
    shown(page, "2 before", 1)
    page.keyboard.press("s")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowLeft")
    shown(page, "1 before", 1)
    shown(page, "2 before", 0)


def test_a_live_episode_is_followed(page: Page, run: Path) -> None:
    (run / "journal.sqlite").unlink()
    folder = run / "eda/nearly/1"
    whole = (folder / "traj.jsonl").read_text().splitlines(keepends=True)
    ended = (folder / "episode.json").read_text()
    (folder / "episode.json").unlink()
    (folder / "traj.jsonl").write_text("".join(whole[:2]))
    go(page, f"/run/{run.name}/eda/nearly/1")
    shown(page, "2 before")
    page.locator("#live").wait_for()
    (folder / "traj.jsonl").write_text("".join(whole))
    shown(page, f"{len(whole)} before")
    (folder / "episode.json").write_text(ended)
    page.locator("#live").wait_for(state="hidden")
    assert page.locator(".verdict .badge").inner_text() == "failed"


def ask(
    server: ViewerServer, path: str, method: str = "GET", body: bytes | None = None, **headers: str
) -> tuple[int, bytes]:
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)) as connection:
        connection.request(method, path, body, {"Cookie": f"deskgym-{server.port}={server.token}"} | headers)
        with connection.getresponse() as response:
            return response.status, response.read()


def test_nothing_without_the_token_or_for_another_host(server: ViewerServer) -> None:
    assert ask(server, "/api/runs")[0] == 200
    assert ask(server, "/api/runs", Cookie="")[0] == 403
    assert ask(server, "/?token=guess", Cookie="")[0] == 403
    assert ask(server, "/api/runs", Host="example.org")[0] == 421
    assert ask(server, f"/?token={server.token}", Host="example.org")[0] == 421


@pytest.mark.parametrize(
    "path",
    [
        "/static/../server.py",
        "/static/%2e%2e/server.py",
        "/api/run?run=..",
        "/api/run?run=../..",
        "/api/frame?run={run}&task=eda/fails&attempt=1&step=../../x",
        "/api/frame?run={run}&task=../../etc&attempt=1&step=1",
        "/api/frame?run={run}&task=eda/fails&attempt=1&step=999",
        "/api/steps?run={run}",
    ],
)
def test_only_what_belongs_to_a_run_is_served(server: ViewerServer, run: Path, path: str) -> None:
    assert ask(server, path.format(run=run.name))[0] == 404


def test_links_out_of_a_run_are_refused(server: ViewerServer, run: Path, tmp_path: Path) -> None:
    secret = tmp_path / "secret.png"
    frame = run / "eda/fails/1/frames/step_1.png"
    frame.rename(secret)
    frame.symlink_to(secret)
    assert ask(server, f"/api/frame?run={run.name}&task=eda/fails&attempt=1&step=1")[0] == 404


def test_another_site_cannot_annotate(server: ViewerServer, run: Path) -> None:
    body = json.dumps({"task": "eda/fails", "attempt": 1, "annotator": "al", "label": "code"}).encode()
    own = f"http://127.0.0.1:{server.port}"
    path = f"/api/annotate?run={run.name}"
    assert ask(server, path, "POST", body)[0] == 403
    assert ask(server, path, "POST", body, Origin="http://example.org")[0] == 403
    assert ask(server, path, "POST", b"[]", Origin=own)[0] == 400
    assert ask(server, path, "POST", b"x" * 70_000, Origin=own)[0] == 413
    assert ask(server, path, "POST", body.replace(b"fails", b"passes"), Origin=own)[0] == 400
    assert ask(server, path, "POST", body, Origin=own)[0] == 200
    assert len(annotation.read(run)) == 1


@pytest.mark.guest
def test_a_recorded_run_of_a_real_desktop(browser: Browser, container: Provider, tmp_path: Path) -> None:
    pytest.importorskip("av")
    made = Run(tmp_path, "real", RunSettings("random", {}, seed=1, max_steps=12, record=True))
    task = load(folder("eda/penguin-mass-summary"))
    made.describe({"name": "debian-12"}, [task])
    result = made.episode(task)
    assert result.status == "scored", result
    with ViewerServer(tmp_path) as server:
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.set_default_timeout(PATIENCE)
        page.goto(server.url())
        go(page, f"/run/{made.folder.name}/{task.id}/1?step=3")
        shown(page, "3 before")
        page.locator(".stage").hover()
        page.locator(".tip b").wait_for()
        assert (
            page.evaluate("document.querySelector('canvas').getContext('2d').getImageData(300, 200, 1, 1).data[3]")
            == 255
        )
        seconds, width = page.evaluate(
            """async () => {
              const film = document.querySelector('video');
              film.preload = 'auto';
              const ready = new Promise((done, failed) => {
                film.oncanplay = done;
                film.onerror = () => failed(film.error.message);
              });
              film.load();
              await ready;
              return [film.duration, film.videoWidth];
            }"""
        )
        page.close()
    assert width == 1920
    assert seconds > 0.5 * result.timings["steps"]
