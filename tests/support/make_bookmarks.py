#!/usr/bin/env python3
"""Writes what Chrome exports when somebody has many bookmarks, and says what is in it.

    tests/support/make_bookmarks.py FILE [--bookmarks 20000] [--seed 1] [--icon-bytes 300] [--port 8080]

Folders nest; the same page stands in several folders and in several spellings (a campaign's parameters, another order of
the query, a fragment, capitals, escapes, punycode); titles carry markup, entities and Hangul; some links lead to no page
(javascript:, data:, chrome:). The same arguments write the same file. Prints as JSON what an import must find:

    {"bookmarks": 20000, "links": 19000, "skipped": 1000, "folders": 310, "pages": 12000, "domains": 300}

With --port the pages are those of a `sluice-lab web` on that port.
"""

import argparse
import base64
import html
import json
import random

HEAD = """<!DOCTYPE NETSCAPE-Bookmark-file-1>
<!-- This is an automatically generated file.
     It will be read and overwritten.
     DO NOT EDIT! -->
<META HTTP-EQUIV="Content-Type" CONTENT="text/html; charset=UTF-8">
<TITLE>Bookmarks</TITLE>
<H1>Bookmarks</H1>
"""
WORDS = ["news", "map", "Tom & Jerry's", 'the "best"', "1 < 2 > 0", "위키백과", "부동산 등기", "café", "日本語", "a/b\\c",
         "&amp; twice", "100%", "émoji 😀", "  spaced\tout  ", ""]
NO_PAGES = ["javascript:(function(){var a='<b>\"&amp;</b>';alert(a)})()", "javascript:void(0)",
            "data:text/html,<h1>note</h1>", "chrome://settings/", "chrome-extension://abc/page.html", "about:blank",
            "file:///tmp/a.html", "edge://flags"]
KOREAN_NAME, ITS_PUNYCODE = "한국", "xn--3e0b707e"


def page_url(number: int, domains: int, port: int | None) -> tuple[str, str, list[str]]:
    """Domain, path and parameters of a page, in a form that canonicalization leaves alone."""
    site = number % domains
    label = ITS_PUNYCODE if site == 7 else f"site{site}"
    domain = f"www.{label}.test:{port}" if port else f"www.{label}.example"
    parameters = [f"a={number}", "page=2", "q=%EA%B0%80+b"][: number % 4]
    return domain, f"/articles/{number // domains}/~user{number}/", parameters


def spelling(chance: random.Random, domain: str, path: str, parameters: list[str], port: int | None) -> str:
    """One of the many ways to write that page down."""
    parameters = list(parameters)
    scheme = "http" if port else "https"
    if chance.random() < 0.3:
        parameters += chance.sample(["utm_source=mail", "utm_campaign=x%20y", "fbclid=IwAR0", "gclid=Cj0&", "UTM_MEDIUM=z"], 2)
    if chance.random() < 0.3:
        chance.shuffle(parameters)
    if chance.random() < 0.1:
        path = path.replace("~", "%7e")
    if chance.random() < 0.1:
        path = "/x/.." + path.replace("/articles", "/./articles")
    if chance.random() < 0.1:
        domain, scheme = domain.upper(), scheme.upper()
    if chance.random() < 0.1 and not port:
        domain += ":443"
    if chance.random() < 0.3:
        domain = domain.replace(f".{ITS_PUNYCODE}.", f".{KOREAN_NAME}.")
    query = "?" + "&".join(parameters) if parameters else ""
    return f"{scheme}://{domain}{path}{query}" + ("#part 2" if chance.random() < 0.2 else "")


def escape(text: str) -> str:
    return html.escape(text).replace("&#x27;", "&#39;")


class Export:
    def __init__(self, arguments: argparse.Namespace, out):
        self.chance = random.Random(arguments.seed)
        self.port = arguments.port
        self.icon_bytes = arguments.icon_bytes
        self.left = arguments.bookmarks
        self.pages_in_all = max(1, arguments.bookmarks * 6 // 10)
        self.domains = max(1, arguments.bookmarks // 60)
        self.out = out
        self.pages: set[int] = set()
        self.counts = dict.fromkeys(["bookmarks", "links", "skipped", "folders"], 0)

    def title(self) -> str:
        return " ".join(self.chance.choices(WORDS, k=3))

    def icon(self) -> str:
        if self.icon_bytes == 0 or self.chance.random() < 0.2:
            return ""
        return ' ICON="data:image/png;base64,' + base64.b64encode(self.chance.randbytes(self.icon_bytes)).decode() + '"'

    def link(self) -> str:
        if self.chance.random() < 0.05:
            self.counts["skipped"] += 1
            return self.chance.choice(NO_PAGES)
        self.counts["links"] += 1
        number = self.chance.randrange(self.pages_in_all)
        self.pages.add(number)
        return spelling(self.chance, *page_url(number, self.domains, self.port), self.port)

    def bookmark(self, indent: str):
        self.left -= 1
        self.counts["bookmarks"] += 1
        added = 1_600_000_000 + self.chance.randrange(10**8)
        self.out.write(f'{indent}<DT><A HREF="{escape(self.link())}" ADD_DATE="{added}"{self.icon()}>{escape(self.title())}</A>\n')

    def folder(self, depth: int, name: str, extra: str = ""):
        indent = "    " * depth
        self.counts["folders"] += 1
        self.out.write(f'{indent}<DT><H3 ADD_DATE="1600000000" LAST_MODIFIED="1700000000"{extra}>{escape(name)}</H3>\n')
        self.list(depth, 20 + self.chance.randrange(60))

    def list(self, depth: int, most: int):
        indent = "    " * depth
        self.out.write(f"{indent}<DL><p>\n")
        for _ in range(most):
            if self.left == 0:
                break
            if depth < 12 and self.chance.random() < 0.03:
                self.folder(depth + 1, self.title())
            else:
                self.bookmark(indent + "    ")
        self.out.write(f"{indent}</DL><p>\n")

    def write(self):
        self.out.write(HEAD + "<DL><p>\n")
        self.folder(1, "Bookmarks bar", ' PERSONAL_TOOLBAR_FOLDER="true"')
        self.folder(1, "")
        while self.left > 0:
            self.folder(1, self.title())
        self.out.write("</DL><p>\n")
        domains = {page % self.domains for page in self.pages}
        self.counts |= {"pages": len(self.pages), "domains": len(domains)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--bookmarks", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--icon-bytes", type=int, default=300)
    parser.add_argument("--port", type=int)
    arguments = parser.parse_args()
    with open(arguments.file, "w", encoding="utf-8", newline="\n") as out:
        export = Export(arguments, out)
        export.write()
    print(json.dumps(export.counts))


if __name__ == "__main__":
    main()
