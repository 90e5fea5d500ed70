"""Services of the host answer over a pair of sockets as their clients expect; nothing listens anywhere."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from desktop_env.errors import TaskError
from desktop_env.setup.services.api import Api
from desktop_env.setup.services.git import Change, Git, repository
from desktop_env.setup.services.kaggle import Kaggle
from desktop_env.setup.services.openml import Dataset, Openml
from desktop_env.setup.services.packages import Packages, wheel_name, wheels_of
from desktop_env.setup.services.site import Site
from desktop_env.setup.services.sql import Sql
from desktop_env.setup.services.web import MAX_LOG, Call, Server, Service
from desktop_env.setup.tables import Table, make_database, read_table
from desktop_env.task_steps import ApiStep, KaggleData, OpenmlData
from desktop_env.values import Request

BIRDS = Table(
    ("id", "kind", "mass"),
    ("INTEGER", "TEXT", "REAL"),
    tuple((n, "ab"[n % 2], None if n == 3 else n / 2) for n in range(7)),
)


@dataclass
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Client:
    """Asks a server over a new pair of sockets each time."""

    def __init__(self, services: dict[str, Service]) -> None:
        self.log: dict[str, list[Request]] = {}
        self.server = Server(self.log)
        for host, service in services.items():
            self.server.add(host, service)

    def ask(
        self,
        path: str,
        method: str = "GET",
        *,
        host: str = "data.local",
        body: bytes = b"",
        headers: Mapping[str, str] = {},  # noqa: B006  # only read
    ) -> Reply:
        ours, theirs = socket.socketpair()
        ours.settimeout(30)
        thread = threading.Thread(target=self.server.accept, args=(theirs,))
        thread.start()
        connection = http.client.HTTPConnection(host)
        connection.sock = ours
        connection.request(method, path, body or None, {**headers, "Connection": "close"})
        response = connection.getresponse()
        reply = Reply(response.status, dict(response.getheaders()), response.read())
        connection.close()
        thread.join(30)
        assert not thread.is_alive()
        return reply


def client(service: Service) -> Client:
    return Client({"data.local": service})


def api(**settings: Any) -> Client:
    step = ApiStep.model_validate({"step": "serve", "kind": "api", "tables": {"birds": "x"}, **settings}, strict=False)
    return client(Api(step, {"birds": BIRDS}))


def test_services_of_one_port_are_told_apart_and_logged(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("A")
    both = Client({"a.local": Site.of(tmp_path, {}), "b.local": api().server._services["data.local"]})
    assert both.ask("/a.txt", host="a.local").body == b"A"
    assert both.ask("/api/birds?page=1", host="b.local:8080").json["total"] == 7
    assert both.ask("/a.txt", host="other.local").status == 404
    assert [(r.method, r.path, r.status) for r in both.log["b.local"]] == [("GET", "/api/birds?page=1", 200)]
    assert len(both.log["a.local"]) == 1


def test_a_log_is_bounded() -> None:
    asked = api()
    asked.log["data.local"] += [Request(0.0, "GET", "/", 200)] * (MAX_LOG - 1)
    for _ in range(3):
        asked.server.answer(Call("GET", "/", headers={"host": "data.local"}))
    assert len(asked.log["data.local"]) == MAX_LOG


def test_a_body_that_is_too_large_is_refused() -> None:
    large, broken = {"Content-Length": str(1 << 40)}, {"Transfer-Encoding": "chunked"}
    assert api().ask("/", "POST", headers=large).status == 413
    assert api().ask("/", "POST", body=b"zz\r\n", headers=broken).status == 400


def test_a_site_serves_its_files_and_data_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("no")
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "index.html").write_text("<h1>Hello</h1>")
    (folder / "link").symlink_to(tmp_path / "secret")
    (tmp_path / "data").write_bytes(b"a,b\n")
    site = client(Site.of(folder, {"files/é.csv": tmp_path / "data"}))
    assert site.ask("/").body == b"<h1>Hello</h1>"
    got = site.ask("/files/%C3%A9.csv")
    assert (got.body, got.headers["Content-Type"]) == (b"a,b\n", "text/csv")
    assert site.ask("/files").headers["Location"] == "/files/"
    assert "é.csv" in site.ask("/files/").body.decode()
    for path in ("/link", "/../secret", "/%2e%2e/secret", "//etc/passwd", "/nothing"):
        assert site.ask(path).status == 404
    assert site.ask("/", "POST").status == 405
    head = site.ask("/files/%C3%A9.csv", "HEAD")
    assert (head.body, head.headers["Content-Length"]) == (b"", "4")


@pytest.mark.parametrize("paging", ["page", "offset"])
def test_pages_lead_to_each_other_until_the_end(paging: str) -> None:
    asked, path, seen = api(paging=paging, size=3), "/api/birds", []
    while path:
        answer = asked.ask(path).json
        assert answer["total"] == 7
        seen += [record["id"] for record in answer["results"]]
        path = (answer["next"] or "").removeprefix("http://data.local")
    assert seen == list(range(7))


def test_columns_are_filters_and_what_makes_no_sense_is_said() -> None:
    asked = api()
    assert [r["mass"] for r in asked.ask("/api/birds?kind=b").json["results"]] == [0.5, None, 2.5]
    assert asked.ask("/api/birds?colour=red").status == 400
    assert asked.ask("/api/birds?page=0").status == 400
    assert asked.ask("/api/birds?page=x").status == 400
    assert asked.ask("/api/fish").status == 404
    assert asked.ask("/api/birds?per_page=99999").json["per_page"] == 100
    assert asked.ask("/api/birds", "DELETE").status == 405


def test_a_page_fails_once_whoever_asks() -> None:
    asked = api(fails=[2], size=3)
    statuses = [asked.ask(f"/api/birds?page={page}").status for page in (1, 2, 2, 3, 2)]
    assert statuses == [200, 500, 200, 200, 200]


def test_too_many_requests_are_told_to_wait() -> None:
    asked = api(rate=2, window=60)
    assert [asked.ask("/api/birds").status for _ in range(2)] == [200, 200]
    late = asked.ask("/api/birds")
    assert late.status == 429
    assert 1 <= int(late.headers["Retry-After"]) <= 60
    assert asked.ask("/").status == 200


def test_a_token_is_asked_for() -> None:
    asked = api(token="t1")
    assert asked.ask("/api/birds").status == 401
    assert asked.ask("/api/birds", headers={"Authorization": "Bearer t1"}).status == 200


def test_sql_answers_and_is_bounded_and_read_only() -> None:
    asked = client(Sql(make_database({"birds": BIRDS}), 5))
    query = asked.ask("/query.json", "POST", body=b"SELECT kind, count(*) n, avg(mass) FROM birds GROUP BY kind")
    assert query.json == {
        "columns": ["kind", "n", "avg(mass)"],
        "rows": [["a", 4, 1.5], ["b", 3, 1.5]],
        "truncated": False,
    }
    cut = asked.ask("/query.csv?sql=SELECT+id+FROM+birds")
    assert (cut.body.split(), cut.headers["X-Truncated"]) == ([b"id", b"0", b"1", b"2", b"3", b"4"], "true")
    for sql in (
        "DELETE FROM birds",
        "ATTACH '/tmp/x' AS x",
        "PRAGMA journal_mode",
        "SELECT zeroblob(100000000)",
        "nonsense",
    ):
        assert asked.ask("/query.json", "POST", body=sql.encode()).status == 400
    assert b"CREATE TABLE" in asked.ask("/").body


def test_a_query_without_end_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("desktop_env.setup.services.sql.DEADLINE", 0.05)
    endless = b"WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
    reply = client(Sql(make_database({"birds": BIRDS}), 5)).ask("/query.json", "POST", body=endless)
    assert (reply.status, reply.json["error"]) == (400, "the query took too long")


def test_an_index_lists_the_wheels_that_it_gives(tmp_path: Path) -> None:
    for version in ("1.0", "1.1"):
        package = tmp_path / f"unit_lib-{version}" / "unit_lib"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text(f"VERSION = '{version}'\n")
    wheels = wheels_of(tmp_path)
    assert wheels == wheels_of(tmp_path)
    for name, content in wheels.items():
        (tmp_path / "named by its digest").write_bytes(content)
        assert wheel_name(tmp_path / "named by its digest") == name
    index = client(Packages(wheels))
    listed = index.ask("/simple/Unit.Lib/", headers={"Accept": "application/vnd.pypi.simple.v1+json"}).json["files"]
    assert [file["filename"] for file in listed] == ["unit_lib-1.0-py3-none-any.whl", "unit_lib-1.1-py3-none-any.whl"]
    page = index.ask("/simple/unit-lib/").body.decode()
    assert f"/files/unit_lib-1.0-py3-none-any.whl#sha256={listed[0]['hashes']['sha256']}" in page
    assert index.ask("/files/unit_lib-1.1-py3-none-any.whl").body == wheels["unit_lib-1.1-py3-none-any.whl"]
    assert index.ask("/simple/other/").status == 404
    with pytest.raises(TaskError, match="no name of a wheel"):
        Packages({"data.csv": b""})


def test_commits_make_the_same_repository_each_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    commits = [Change("One", "main", {"a b/é.txt": b"1"}, tag="v1"), Change("Two", "main", {"c": b"2"}, ["a b/é.txt"])]
    monkeypatch.setenv("DESKGYM_HOME", str(tmp_path / "one"))
    first = repository(commits)
    monkeypatch.setenv("DESKGYM_HOME", str(tmp_path / "two"))
    assert repository(commits) != first

    def ask(path: Path) -> bytes:
        return client(Git({"a": path})).ask("/a.git/info/refs?service=git-upload-pack").body

    assert ask(first) == ask(repository(commits))
    assert b"refs/tags/v1" in ask(first)
    git = client(Git({"a": first}))
    assert git.ask("/a.git/info/refs?service=git-receive-pack").status == 403
    for path in ("/b.git/info/refs", "/a.git/../config", "/a.git/config"):
        assert git.ask(path).status == 404


def test_openml_describes_columns_as_they_are() -> None:
    dataset = Dataset(OpenmlData(id=7, name="birds", data="x", target="kind"), BIRDS)
    openml = client(Openml({7: dataset}))
    assert b"@ATTRIBUTE kind {a,b}" in openml.ask("/data/v1/download/7/birds.arff").body
    assert b"3,b,?" in openml.ask("/data/v1/download/7/birds.arff").body
    assert b"<oml:did>7</oml:did>" in openml.ask("/api/v1/xml/data/list/data_name/birds/limit/10/offset/0").body
    assert openml.ask("/api/v1/xml/data/list/offset/1").status == 412
    assert b"<oml:code>111<" in openml.ask("/api/v1/xml/data/8").body


def test_kaggle_knows_its_data_sets_and_wants_a_key(tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"a,b\n")
    about = KaggleData(ref="ann/birds", title="Birds", files={"b.csv": "x"})
    kaggle = client(Kaggle({"ann/birds": (about, {"b.csv": tmp_path / "f"})}))
    call, asked = "/v1/datasets.DatasetApiService/DownloadDataset", b'{"ownerSlug": "ann", "datasetSlug": "birds"}'
    assert kaggle.ask(call, "POST", body=asked).status == 401
    assert (
        kaggle.ask(call, "POST", body=asked, headers={"Authorization": "x"}).headers["Location"]
        == "/download/ann/birds/birds.zip"
    )
    assert kaggle.ask("/download/ann/birds/b.csv").body == b"a,b\n"
    assert kaggle.ask(call, "POST", body=b"[]", headers={"Authorization": "x"}).status == 404


@pytest.mark.parametrize(
    ("text", "types"),
    [
        ("a,b\n1,x\n2,\n", ("INTEGER", "TEXT")),
        ("a,b\n01,1.5\n2,NA\n", ("TEXT", "REAL")),
        ('[{"a": 1, "b": {"c": 2}}, {"a": 2.5}]', ("REAL", "TEXT")),
    ],
)
def test_tables_have_the_types_that_all_their_values_have(tmp_path: Path, text: str, types: tuple[str, ...]) -> None:
    (tmp_path / "t").write_text(text)
    table = read_table(tmp_path / "t")
    assert (table.columns, table.types, len(table.rows)) == (("a", "b"), types, 2)
    assert table.rows[1][1] is None


@pytest.mark.parametrize("content", [b"", b"a,b\n1\n", b"\xff\xfe\x00", b"[1, 2]"])
def test_what_is_no_table_is_the_tasks_fault(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "t").write_bytes(content)
    with pytest.raises(TaskError, match="no table"):
        read_table(tmp_path / "t")
