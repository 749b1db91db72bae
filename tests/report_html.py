"""Reads a report as a browser does: its elements, sections and figures."""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any, Final

UNLIKE: Final = ("Made on ", "Type this command ")
EMPTY: Final = frozenset({"meta", "br", "img", "link", "input", "hr", "base", "source"})


@dataclass
class Node:
    """One element. text: what stands directly in it and in what it holds, in order."""

    tag: str
    attributes: dict[str, str]
    parts: list[Node | str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(part if isinstance(part, str) else part.text for part in self.parts)

    def walk(self) -> Iterator[Node]:
        yield self
        for part in self.parts:
            if isinstance(part, Node):
                yield from part.walk()

    def all(self, tag: str, class_: str | None = None) -> list[Node]:
        """Every element of this kind inside, in order; class_: one of its classes."""
        found = [node for node in self.walk() if node.tag == tag and node is not self]
        return [n for n in found if class_ is None or class_ in n.attributes.get("class", "").split()]

    def one(self, id_: str) -> Node:
        return next(node for node in self.walk() if node.attributes.get("id") == id_)

    @property
    def tiles(self) -> dict[str, str]:
        """Label → value of every tile inside."""
        return {
            tile.all("dt")[0].text: tile.all("dd", "value")[0].text
            for row in self.all("dl", "tiles")
            for tile in row.all("div")
        }

    @property
    def rows(self) -> list[list[str]]:
        """The cells of every row of every table's body inside."""
        return [[cell.text for cell in row.all("td")] for body in self.all("tbody") for row in body.all("tr")]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Node("document", {})
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        node = Node(tag, {name: value or "" for name, value in attrs})
        self.open[-1].parts.append(node)
        if tag not in EMPTY:
            self.open.append(node)

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].tag == tag, f"</{tag}> ends <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].parts.append(data)


def read(html: str) -> Node:
    """The document's elements; fails where they do not close as they opened."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    assert [node.tag for node in reader.open] == ["document"]
    return reader.root


def unpack_script(document: Node, id_: str) -> str:
    """What is packed in the block of this id."""
    return gzip.decompress(base64.b64decode(document.one(id_).text)).decode("utf-8")


def figures(document: Node) -> list[dict[str, Any]]:
    """Every figure, light and dark; fails where there is a number that JSON does not have."""

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    packed = json.loads(unpack_script(document, "figures"), parse_constant=refuse)
    return [{"light": each["light"], "dark": apply_changes(each["light"], each["dark"])} for each in packed]


def apply_changes(part: Any, changes: Any) -> Any:
    """As document.js makes the dark form of a figure."""
    if isinstance(changes, list):
        return changes[0] if changes else part
    own = list(part) if isinstance(part, list) else dict(part)
    for key, change in changes.items():
        at = int(key) if isinstance(part, list) else key
        own[at] = apply_changes(part[at], change)
    return own


def section(document: Node, page: str) -> list[Node]:
    """The blocks of one page."""
    return document.one(page).all("article")


def text_of(document: Node) -> str:
    """All text but the time and the command, with white space folded."""
    lines = [
        node.text
        for node in document.walk()
        if node.tag in ("h1", "h2", "h3", "p", "dt", "dd", "th", "td", "caption", "li", "code")
    ]
    kept = [" ".join(line.split()) for line in lines if not line.startswith(UNLIKE)]
    return re.sub(r"\n+", "\n", "\n".join(kept))
