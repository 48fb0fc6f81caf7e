#!/usr/bin/python3
"""Makes the pictures of the page that README.md and spec/look.md show, light and dark, with few colours: picture.py ALAR"""
import collections
import os
import struct
import subprocess
import sys
import tempfile
import zlib

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from browser import Page  # noqa: E402 (beside this file)

COLOURS = 48


def small(rows):
    """A PNG of 8-bit indices into the commonest colours; what is not among them takes the nearest."""
    counts = collections.Counter(rgb for row in rows for rgb in row)
    palette = [rgb for rgb, _ in counts.most_common(COLOURS)]
    nearest = {rgb: min(range(len(palette)), key=lambda k: sum((a - b) ** 2 for a, b in zip(rgb, palette[k]))) for rgb in counts}
    raw = b"".join(b"\0" + bytes(nearest[rgb] for rgb in row) for row in rows)
    chunk = lambda kind, body: struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 3, 0, 0, 0)) +
            chunk(b"PLTE", b"".join(map(bytes, palette))) + chunk(b"IDAT", zlib.compress(raw, 9)) + chunk(b"IEND", b""))


page = Page(1160, 724)
try:
    with tempfile.NamedTemporaryFile(suffix=".html") as file:
        subprocess.run([sys.argv[1], "view", "tests/data/histories-gloo/early-read", "-o", file.name], check=True)
        for scheme, name in (("light", "view.png"), ("dark", "view-dark.png")):
            page.media(scheme=scheme)
            page.open(file.name)
            page.js("document.documentElement.style.overflow = 'hidden'; dispatchEvent(new Event('resize'))")
            with open("spec/" + name, "wb") as picture:
                picture.write(small(page.screenshot()))
finally:
    page.close()
