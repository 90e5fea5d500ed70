"""Recordings of the fake screen, with the real encoder."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from desktop_env.display.recording import Film
from desktop_env.providers.fake import FakeScreen
from desktop_env.values import Frame, ScreenSize
from desktop_env.waiting import wait_until

av = pytest.importorskip("av")


class WatchedScreen(FakeScreen):
    """A fake screen that tells how often it was looked at."""

    def __init__(self) -> None:
        super().__init__(ScreenSize(320, 201))
        self.looks = 0

    def frame(self) -> Frame:
        self.looks += 1
        return super().frame()


def looked(screen: WatchedScreen, times: int) -> None:
    wanted = screen.looks + times
    wait_until(lambda: screen.looks >= wanted, 30, "look at the screen")


def times_of(path: Path) -> list[float]:
    with av.open(str(path)) as container:
        return [frame.time for frame in container.decode(video=0)]


def test_changed_pictures_with_their_times(tmp_path: Path) -> None:
    screen, path = WatchedScreen(), tmp_path / "recording.mp4"
    with Film(path, lambda: screen, rate=50):
        looked(screen, 20)
        assert not path.exists()
        screen.pointer(10, 10, 0)
        looked(screen, 5)
    times = times_of(path)
    assert len(times) == 3  # the first, the changed, and the changed one once more at the end
    assert times[0] == 0.0
    assert times[1] >= 19 / 50 * 0.9
    assert not list(tmp_path.glob("*.part"))


def test_a_film_starts_when_there_is_a_screen_and_ends_when_it_breaks(tmp_path: Path) -> None:
    screen, path = WatchedScreen(), tmp_path / "recording.mp4"
    there = threading.Event()
    with Film(path, lambda: screen if there.is_set() else None, rate=50):
        there.set()
        looked(screen, 3)
        screen.close()
    assert times_of(path)


def test_no_screen_no_file(tmp_path: Path) -> None:
    with Film(tmp_path / "recording.mp4", lambda: None, rate=50):
        pass
    assert list(tmp_path.iterdir()) == []


def test_an_encoder_that_fails_warns_and_harms_nobody(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    screen = WatchedScreen()
    with Film(tmp_path / "not there" / "recording.mp4", lambda: screen, rate=50):
        looked(screen, 1)
    assert "the recording broke off" in caplog.text


def test_without_the_encoder_the_error_names_the_extra() -> None:
    code = (
        "import sys; sys.modules['av'] = None\n"
        "from pathlib import Path; from desktop_env.display.recording import Film\n"
        "Film(Path('x.mp4'), lambda: None)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert "pip install 'deskgym[video]'" in run.stderr
