"""What an evaluator read is kept, and answers again without a machine."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import pytest

from desktop_env.errors import EvaluationError, FileRefused, GuestError
from desktop_env.evaluators.artifacts import KeptGuest, RecordingGuest, for_evaluator
from desktop_env.protocols import EvaluatorGuest, Guest
from desktop_env.providers.fake import FakeGuest
from desktop_env.values import CommandResult, Window


def respond(guest: FakeGuest, command: str) -> CommandResult:
    return CommandResult(command, 3, "out", "err")


@pytest.fixture
def guest() -> FakeGuest:
    guest = FakeGuest(respond)
    guest.files = {"/a/one.csv": b"1\n", "/a/../../two": b"2", "/large": b"x" * 10}
    return guest


def test_answers_are_the_same_from_what_was_kept(guest: FakeGuest, tmp_path: Path) -> None:
    recording = RecordingGuest(guest, tmp_path / "artifacts")
    kept_questions: tuple[Callable[[Guest], object], ...] = (
        lambda asked: asked.read("/a/one.csv"),
        lambda asked: asked.stat("/a/one.csv"),
        lambda asked: asked.stat("/none"),
        lambda asked: asked.list_dir("/a"),
        lambda asked: asked.digest("/a/one.csv"),
        lambda asked: asked.run(["python", "x y.py"], stdin=b"in"),
        lambda asked: asked.read("/a/../../two"),
        lambda asked: asked.pull("/a/one.csv", tmp_path / "pulled").sha256,
    )
    answers = [ask(recording) for ask in kept_questions]
    kept = KeptGuest(tmp_path / "artifacts")
    assert [ask(kept) for ask in kept_questions] == answers


def test_no_name_of_the_guest_becomes_a_path_of_the_host(guest: FakeGuest, tmp_path: Path) -> None:
    RecordingGuest(guest, tmp_path / "artifacts").read("/a/../../two")
    names = {path.name for path in (tmp_path / "artifacts" / "files").iterdir()}
    assert names == {"d4735e3a265e16eee03f59718b9b5d03019c07d8b6c51f90da3a666eec13ab35"}


def test_refusals_are_kept_too(guest: FakeGuest, tmp_path: Path) -> None:
    recording = RecordingGuest(guest, tmp_path)
    for path, error in (("/none", FileNotFoundError), ("/a", IsADirectoryError), ("/large", FileRefused)):
        with pytest.raises(error):
            recording.read(path, max_bytes=5)
        with pytest.raises(error):
            KeptGuest(tmp_path).read(path, max_bytes=5)


def test_what_was_not_kept_needs_a_machine(guest: FakeGuest, tmp_path: Path) -> None:
    RecordingGuest(guest, tmp_path)
    kept = KeptGuest(tmp_path)
    for ask in (
        lambda: kept.read("/a/one.csv"),
        lambda: kept.tree(),
        lambda: kept.run("ls"),
        lambda: kept.write("/x", b""),
    ):
        with pytest.raises(EvaluationError, match="needs a machine"):
            ask()


def test_damaged_content_is_noticed(guest: FakeGuest, tmp_path: Path) -> None:
    RecordingGuest(guest, tmp_path).read("/a/one.csv")
    for path in (tmp_path / "files").iterdir():
        path.write_bytes(b"9\n")
    with pytest.raises(EvaluationError, match="damaged"):
        KeptGuest(tmp_path).read("/a/one.csv")


def test_a_folder_without_artifacts_says_so(tmp_path: Path) -> None:
    with pytest.raises(EvaluationError, match="holds no kept artifacts"):
        KeptGuest(tmp_path)


def test_a_broken_guest_stays_broken(guest: FakeGuest, tmp_path: Path) -> None:
    guest.dead = True
    with pytest.raises(GuestError):
        RecordingGuest(guest, tmp_path).read("/a/one.csv")


def fresh(guest: FakeGuest) -> Callable[[], AbstractContextManager[Guest]]:
    """Starts machines in which commands write their length."""

    def work(clean: FakeGuest, command: str) -> CommandResult:
        clean.files["/out"] = str(len(command)).encode()
        return CommandResult(command, 0, "", "")

    return lambda: nullcontext(FakeGuest(work))


def test_each_fresh_machine_is_kept_by_its_name(guest: FakeGuest, tmp_path: Path) -> None:
    def ask(asked: EvaluatorGuest) -> list[bytes]:
        found = []
        for name in ("a", "bbb"):
            with asked.clean(name) as clean:
                clean.write("/in", name.encode())
                clean.run(name)
                found.append(clean.read("/out"))
        return [*found, asked.read("/a/one.csv")]

    answers = ask(for_evaluator(guest, fresh(guest), tmp_path))
    assert answers == [b"1", b"3", b"1\n"]
    kept = KeptGuest(tmp_path)
    assert ask(kept) == answers
    with kept.clean("a") as clean, pytest.raises(EvaluationError, match="needs a machine"):
        clean.write("/in", b"other")
    with pytest.raises(EvaluationError, match="needs a machine"):
        kept.clean("c")
    with pytest.raises(EvaluationError, match="needs a provider"):
        for_evaluator(guest, None).clean("a")


def test_what_is_seen_of_the_desktop_is_kept(guest: FakeGuest, tmp_path: Path) -> None:
    guest.open_windows = [Window(1, "Notes", "a.A", 7, 0, 0, 10, 10, True)]
    recording = RecordingGuest(guest, tmp_path)
    answers = recording.windows(), recording.tree()
    kept = KeptGuest(tmp_path)
    assert (kept.windows(), kept.tree()) == answers
