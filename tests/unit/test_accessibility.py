from __future__ import annotations

import re

import numpy as np
import pytest

from desktop_env import accessibility as a11y
from desktop_env.errors import GuestError

NAMESPACES = "".join(
    f' xmlns:{prefix}="https://accessibility.ubuntu.example.org/ns/{name}"'
    for prefix, name in (("st", "state"), ("cp", "component"))
)
USABLE = 'st:enabled="true" st:showing="true" st:visible="true"'


def document(body: str) -> str:
    return f"<desktop-frame{NAMESPACES}>{body}</desktop-frame>"


def button(name: str, x: int, y: int, text: str = "", extra: str = "") -> str:
    place = f'cp:screencoord="({x}, {y})" cp:size="(20, 10)"'
    return f'<push-button name="{name}" {USABLE} {place}{extra}>{text}</push-button>'


TREE = document(
    '<application name="mousepad"><frame name="Untitled" st:active="true" st:showing="true" st:visible="true" '
    f'cp:screencoord="(0, 0)" cp:size="(640, 480)">first<label name=""/>not the frame\'s{button("Save", 10, 20)}'
    f"{button('Quote', 40, 20, 'say &quot;hi&quot;')}{button('Off screen', -5, 20)}</frame></application>"
    f'<application name="thunar">{button("", 50, 60, extra=" image=&quot;true&quot;".replace("&quot;", chr(34)))}'
    "</application>"
)


def test_nodes_in_document_order_with_their_application() -> None:
    nodes = a11y.parse(TREE)
    assert [(node.role, node.depth, node.application) for node in nodes[:4]] == [
        ("application", 0, "mousepad"),
        ("frame", 1, "mousepad"),
        ("label", 2, "mousepad"),
        ("push-button", 2, "mousepad"),
    ]
    frame = nodes[1]
    assert frame.text == "first"
    assert frame.states == {"active", "showing", "visible"}
    assert frame.extents == (0, 0, 640, 480)
    assert nodes[2].extents is None
    assert nodes[-1].application == "thunar"


def test_find_by_role_name_and_states() -> None:
    nodes = a11y.parse(TREE)
    assert a11y.find(nodes, role="push-button", name="Save")[0].centre == (20, 25)
    assert [node.name for node in a11y.find(nodes, name=re.compile("^Off"))] == ["Off screen"]
    assert a11y.find(nodes, states=["active", "focused"]) == []
    assert len(a11y.find(nodes, application="thunar")) == 2


def test_table_has_what_an_agent_can_use() -> None:
    assert a11y.linearize(a11y.parse(TREE)).split("\n") == [
        "tag\tname\ttext\tclass\tdescription\tposition (top-left x&y)\tsize (w&h)",
        'push-button\tSave\t""\t\t\t(10, 20)\t(20, 10)',
        'push-button\tQuote\t"say ""hi"""\t\t\t(40, 20)\t(20, 10)',
    ]


def test_marks_number_what_has_something_to_see() -> None:
    pixels = np.zeros((100, 100, 3), np.uint8)
    pixels[65, 55] = 255
    pixels[25, 45] = 255
    found = a11y.marks(a11y.parse(TREE), pixels)
    assert [(mark.index, mark.node.name, mark.centre) for mark in found] == [(1, "Quote", (50, 25)), (2, "", (60, 65))]
    assert a11y.marks_table(found).split("\n")[1:] == ['1\tpush-button\tQuote\t"say ""hi"""', '2\tpush-button\t\t""']
    drawn = a11y.draw_marks(pixels, found)
    assert drawn[20, 60].tolist() == [255, 0, 0]
    assert not pixels[20, 60].any()


def test_a_very_deep_tree_is_read() -> None:
    depth = 20_000
    nodes = a11y.parse(document("<panel>" * depth + "</panel>" * depth))
    assert nodes[-1].depth == depth - 1


@pytest.mark.parametrize(
    "xml",
    [
        "",
        "<desktop-frame>",
        '<!DOCTYPE d [<!ENTITY e "x">]><d>&e;</d>',
        "<?xml version='1.0'?><d/>",
        document("&undefined;"),
        document("<a><b></a></b>"),
        document("\ud800"),
        document("<panel/>" * (a11y.MAX_NODES + 1)),
    ],
    ids=["empty", "open", "entities", "declaration", "reference", "crossed", "surrogate", "many"],
)
def test_what_is_no_tree_is_refused(xml: str) -> None:
    with pytest.raises(GuestError):
        a11y.parse(xml)


def test_nonsense_in_coordinates_is_no_place() -> None:
    xml = document('<a cp:screencoord="__import__(1)" cp:size="(1, 2)"/><b cp:screencoord="(1, 2)"/>')
    assert [node.extents for node in a11y.parse(xml)] == [None, None]
