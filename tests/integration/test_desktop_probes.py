"""Probes of what is open and what runs, on a real desktop."""

import pytest

from desktop_env.evaluators.checks.table import Table
from desktop_env.evaluators.probes import browser, desktop, packages, program, service
from desktop_env.protocols import Guest, Machine
from desktop_env.waiting import wait_until

pytestmark = pytest.mark.guest
P = "/home/user/project"
SERVICE = """
import http.server, json
class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        rows = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answer = json.dumps({"predictions": [2 * row["x"] for row in rows]}).encode()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(answer)
http.server.HTTPServer(("127.0.0.1", 8000), Handler).serve_forever()
"""
PREDICT = b"""
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
out = open(sys.argv[2], "w") if len(sys.argv) > 2 else sys.stdout
print("x,prediction", *(f"{row['x']},{2 * float(row['x'])}" for row in rows), sep="\\n", file=out)
"""
ROWS = Table(("x", "y"), ((1, "a"), (2, "b, c")))


@pytest.fixture(scope="module")
def guest(machine: Machine) -> Guest:
    """A guest with a terminal, two tabs in the browser, and a service."""
    guest = machine.guest
    for name in "ab":
        guest.write(f"{P}/{name}.html", f"<html><title>Page {name}</title><body>{name}</body></html>".encode())
    guest.write(f"{P}/predict.py", PREDICT)
    guest.write(f"{P}/serve.py", SERVICE.encode())
    guest.launch(["python", f"{P}/serve.py"])
    guest.launch(["xfce4-terminal", "-x", "bash", "-c", "echo one; echo two; exec bash"])
    guest.launch(["google-chrome", f"file://{P}/a.html", f"file://{P}/b.html"])
    wait_until(lambda: desktop.window(guest, "Page a").ok, 60, "the browser's window")
    wait_until(lambda: "two" in (desktop.terminal_text(guest).value or ""), 60, "the terminal's text")
    return guest


def test_windows_tabs_and_history(guest: Guest) -> None:
    wait_until(lambda: len(getattr(desktop.browser_tabs(guest).value, "titles", ())) == 2, 30, "two tabs")
    tabs = desktop.browser_tabs(guest).value
    assert tabs is not None
    assert tabs.titles == ("Page a", "Page b")
    assert tabs.addresses == (f"{P}/a.html",)
    wait_until(lambda: len(browser.history(guest).value or ()) == 2, 60, "the history on disk")
    visited = browser.history(guest).value
    assert visited is not None
    assert {page.title for page in visited} == {"Page a", "Page b"}


def test_terminal(guest: Guest) -> None:
    lines = (desktop.terminal_text(guest).value or "").splitlines()
    assert lines[:2] == ["one", "two"]


def test_a_service_and_its_process(guest: Guest) -> None:
    url = "http://127.0.0.1:8000/predict"
    wait_until(lambda: service.request(guest, url).ok, 30, "the service")
    body = [{"x": 3}, {"x": 4}]
    assert service.json_answer(guest, url, method="POST", body=body).value == {"predictions": [6, 8]}
    assert service.json_answer(guest, url).code == "wrong_status"
    assert service.request(guest, "http://127.0.0.1:8001/").code == "no_service"
    running = program.processes(guest).value
    assert running is not None
    assert [process.user for process in running if process.command.endswith("serve.py")] == ["user"]


@pytest.mark.parametrize("command", ["predict.py {input} {output}", "predict.py {input}"])
def test_a_prediction_program_gets_rows(guest: Guest, command: str) -> None:
    found = program.predictions(guest, f"python {P}/{command}", ROWS)
    assert found.value == Table(("x", "prediction"), (("1", "2.0"), ("2", "4.0")))
    assert program.predictions(guest, f"python {P}/none.py {{input}}", ROWS).code == "run_failed"
    assert program.predictions(guest, "sleep 30 # {output}", ROWS, timeout=2).code == "run_timed_out"


def test_packages(guest: Guest) -> None:
    found = packages.packages(guest).value
    assert found is not None
    assert found["scikit-learn"].startswith("1.")
    assert not packages.packages(guest, python=f"{P}/.venv/bin/python").ok
