#!/usr/bin/python3
"""Pages of `alar view` in a headless Chromium: pages.py ALAR SCRATCH. A line "ok CLAIM", or "FAIL CLAIM: why", each."""
import json
import os
import re
import subprocess
import sys
import traceback

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from browser import Page  # noqa: E402 (beside this file)

ALAR, SCRATCH = sys.argv[1:]
GLOO = "tests/data/histories-gloo"


def made(history, name=None):
    path = os.path.join(SCRATCH, (name or re.sub(r"\W", "-", history)) + ".html")
    subprocess.run([ALAR, "view", history, "-o", path], check=True, timeout=60)
    return path


def judged(history):
    run = subprocess.run([ALAR, "check", "--json", history], capture_output=True, timeout=60)
    return json.loads(run.stdout.splitlines()[0])


def written(name, text):
    path = os.path.join(SCRATCH, name + ".jsonl")
    with open(path, "w") as file:
        file.write(text)
    return path


def examples():
    """(anomaly, smallest bad history, nearest good one), as `alar explain` prints them."""
    lines = subprocess.run([ALAR, "explain"], capture_output=True, text=True, check=True).stdout.splitlines()
    for name in (line.split()[0] for line in lines):
        told = subprocess.run([ALAR, "explain", name], capture_output=True, text=True, check=True).stdout
        if "nearest good one" in told:
            bad, good = told.split("The nearest good one:")
            keep = lambda text: "".join(line + "\n" for line in text.splitlines() if line.startswith("{"))
            yield name, keep(bad), keep(good)


def fits(page, history):
    """What holds for every page: it is drawn without an error, and says what the verdict says."""
    verdict = judged(history)
    page.open(made(history, "page"))
    assert page.js("document.documentElement.dataset.ready") == "yes", page.errors
    assert not page.errors, page.errors
    assert verdict["verdict"] in page.text("#verdict"), page.text("#verdict")
    assert page.text("#reason") == verdict["reason"], page.text("#reason")
    assert page.count("[data-finding]") == len(verdict["findings"]) + min(len(verdict["notes"]), page.count(".finding.note"))
    assert page.count("#lanes svg .rank") >= 1
    assert page.js("document.documentElement.scrollWidth <= innerWidth"), "wider than its window"
    return verdict


# Words on the lanes that lie on another word, or under the number of an event.
OVERLAPS = """(() => { const boxes = [...document.querySelectorAll("#lanes svg text, #lanes .witness circle")].map((node) =>
    [node, node.getBoundingClientRect()]), bad = [];
  for (const [a, p] of boxes) for (const [b, q] of boxes)
    if (a !== b && a.parentNode !== b.parentNode && p.left < q.right - 1 && q.left < p.right - 1 && p.top < q.bottom - 1 && q.top < p.bottom - 1)
      bad.push(a.textContent + "|" + b.textContent);
  return bad; })()"""


def each_anomaly(page):
    count = 0
    for name, bad, good in examples():
        verdict = fits(page, written("bad", bad))
        names = [f["anomaly"] for f in verdict["findings"] + verdict["notes"]]
        assert name in names, (name, names)
        page.click('[data-finding="%d"]' % names.index(name))
        finding = (verdict["findings"] + verdict["notes"])[names.index(name)]
        story = page.text("#detail")
        assert name in story and finding["allowed"] in story, (name, story)
        places = [e for e in finding["events"] if e.get("line")]
        assert page.count(".witness") == len(places), (name, page.count(".witness"), places)
        assert page.js(OVERLAPS) == [], (name, page.js(OVERLAPS))
        assert finding["says"] in story, (name, story)
        for event in finding["events"]:
            assert event["says"] in story, (name, event, story)
            assert not event.get("line") or "bad.jsonl:%d" % event["line"] in story, (name, event, story)
            for bits in event.get("bits", []):
                assert "(" + bits + ")" in story, (name, bits, story)
        if finding.get("lowest"):
            assert finding["lowest"] in story and finding["found"] in story, (name, story)
            assert page.count("svg.range") >= 1 or "nan (" in story or "inf (" in story, (name, story)
        if finding["missing"]:
            assert "missing {" + ", ".join(map(str, finding["missing"])) + "}" in story, (name, story)
        fits(page, written("good", good))
        count += 1
    assert count >= 40, count


def each_history(page):
    """Whatever can be judged can be drawn."""
    drawn = 0
    for name in sorted(os.listdir("tests/histories")):
        path = "tests/histories/" + name
        if name.endswith(".jsonl") and judged(path)["verdict"] != "UNUSABLE":
            try:
                fits(page, path)
            except AssertionError as why:
                raise AssertionError(path, *why.args) from None
            drawn += 1
    assert drawn > 250, drawn


def finding_to_place(page):
    page.open(made(GLOO + "/early-read"))
    assert page.js("picture.finding.anomaly") == "early-read", "the worst finding is open at once"
    page.key("0")
    all_of_it = page.js("picture.to - picture.from")
    page.click('[data-finding="0"]')
    assert page.js("picture.to - picture.from") < all_of_it / 2, "one click zooms to the place"
    assert page.count(".witness") == 2 and page.count(".thread") == 1
    assert page.js("[...document.querySelectorAll('.witness text')].map((t) => t.textContent)") == ["1", "2"]
    story = page.text("#detail")
    assert "877.5969 (445b6634)" in story and "rank2.jsonl:43" in story and "rank2.jsonl:44" in story, story
    assert "Let" in story and "However," in story and "world/8 was judged good" in story, story
    for rank, value in enumerate(("2812.0732 (452fc12c)", "2815.697 (452ffb27)", "877.5969 (445b6634)", "2265.4229 (450d96c4)")):
        assert "rank %ddone%s" % (rank, value) in story, (rank, story)


def clicks_and_keys(page):
    page.open(made(GLOO + "/early-read"))
    chosen = lambda: page.js("picture.chosen && [opName(picture.chosen), picture.chosen.rank, picture.chosen.what || '']")
    index = page.js("spans.findIndex((s) => opName(s) === 'world/9' && s.rank === 2)")
    page.click('[data-span="%d"] rect' % index)
    assert chosen() == ["world/9", 2, ""], chosen()
    page.key("0")
    assert page.text("#detail h2") == "world/9 on rank 2" and page.count("#lanes .span.same") == 3
    assert "blocked" in page.text("#detail") and "sum of 2 f32, non-blocking" in page.text("#detail")
    page.key("ArrowRight")
    assert chosen() == ["world/10", 2, ""], chosen()
    page.key("ArrowLeft")
    page.key("ArrowUp")
    assert chosen() == ["world/9", 1, ""], chosen()
    page.key("ArrowDown")
    assert chosen() == ["world/9", 2, ""], chosen()
    page.js("lanes.scrollTop = 0")
    page.click("[data-mark]")
    assert chosen()[2] == "read", chosen()
    size = "picture.to - picture.from"
    before = page.js(size)
    page.key("+")
    assert abs(page.js(size) / before - 0.5) < 0.01
    page.key("-")
    assert abs(page.js(size) / before - 1) < 0.01
    page.key("0")
    assert page.js(size) == page.js("extent()[1] - extent()[0]")
    page.click("#in")
    assert page.js(size) < page.js("extent()[1] - extent()[0]")
    page.key("a")
    assert page.js("picture.axis") == "order" and page.count("#lanes .span") > 0
    page.key("n")
    assert page.js("picture.finding.anomaly") == "early-read"
    page.key("?")
    assert page.count("#keys:not([hidden])") == 1 and page.count("#keys kbd") >= 10
    assert not page.errors, page.errors


def searching(page):
    page.open(made(GLOO + "/early-read"))
    for text, found in (("world/9", 4), ("rank 2", 20), ("no such thing", 0)):
        page.js("document.getElementById('search').value = ''; document.getElementById('search').focus()")
        page.type(text)
        assert page.text("#found").startswith("%d found" % found), (text, page.text("#found"))
        assert page.js("picture.matched.size") == found
    page.js("document.getElementById('search').value = ''; document.getElementById('search').focus()")
    page.type("world/3")
    page.key("Enter")
    assert page.text("#detail h2").startswith("world/3 on rank")
    steps = os.path.join(SCRATCH, "steps")
    subprocess.run([ALAR, "run", "--async-log-allreduce", "--steps", "32:40", "--quiet", "--history", steps],
                   check=True, stdout=subprocess.DEVNULL, timeout=60)
    page.open(made(steps))
    page.js("document.getElementById('search').focus()")
    page.type("step 34")
    assert page.js("[...picture.matched].every((s) => s.step === 34)") and page.js("picture.matched.size") > 0


def reports(page):
    page.open(made(os.path.join(SCRATCH, "steps")))
    assert not page.errors, page.errors
    page.js("choose(reports[0])")
    story = page.text("#detail")
    assert "lm loss of step" in story and "token-weighted over steps" in story, story
    assert "rank 0: " in story and "denominator" in story and "tokens by the log line" in story and "pooled, in double" in story, story
    shown = page.js("reports[0].bits")
    assert "(" + shown + ")" in story, story


def a_legal_value(page):
    page.open(made(GLOO + "/fault-free"))
    page.js("choose(spans[0])")
    story = page.text("#detail")
    assert "element 0 is legal: named, tree left-fold" in story and "any order gives" in story, story


def linear(rgb):
    return [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in (c / 255 for c in rgb)]


def contrast(a, b):
    """As WCAG 2 defines it: 1 to 21."""
    low, high = sorted(0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05 for r, g, b in (linear(a), linear(b)))
    return high / low


# Machado, Oliveira and Fernandes 2009, severity 1: what people without one kind of cones see, in linear RGB.
VISIONS = {
    "all cones": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}


def lab(rgb, vision):
    r, g, b = linear(rgb)
    r, g, b = (min(1, max(0, row[0] * r + row[1] * g + row[2] * b)) for row in vision)
    xyz = ((0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.9505, 0.2126 * r + 0.7152 * g + 0.0722 * b,
           (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.089)
    x, y, z = (v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116 for v in xyz)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def colours_hold(page, scheme):
    """Words have a contrast of 4.5, shapes of 3, and what lies side by side differs in any colour vision."""
    named = lambda name: [int(page.js("getComputedStyle(document.documentElement).getPropertyValue('--%s')" % name).strip()[k:k + 2], 16)
                          for k in (1, 3, 5)]
    for ground in ("paper", "soft"):
        for name in ("ink", "dim", "good", "alarm", "unsure"):
            assert contrast(named(name), named(ground)) >= 4.5, (scheme, name, ground, contrast(named(name), named(ground)))
    for words, ground in (("ink", "mark"), ("ink", "pending"), ("paper", "blocked")):
        assert contrast(named(words), named(ground)) >= 4.5, (scheme, words, ground)
    for name in ("blocked", "wrong", "excused"):
        assert contrast(named(name), named("paper")) >= 3, (scheme, name, contrast(named(name), named("paper")))
    for kind, vision in VISIONS.items():
        seen = {name: lab(named(name), vision) for name in ("paper", "compute", "pending", "blocked", "wrong", "good")}
        for a, b in (("pending", "blocked"), ("pending", "wrong"), ("blocked", "wrong"), ("good", "wrong"), ("pending", "paper"),
                     ("compute", "blocked"), ("compute", "paper")):
            distance = sum((p - q) ** 2 for p, q in zip(seen[a], seen[b])) ** 0.5
            assert distance > 15, (scheme, kind, a, b, distance)


def themes(page):
    """Screenshots in both themes: paper and ink change places, what was found keeps its colour and shape."""
    path = made(GLOO + "/early-read")
    light = lambda rgb: sum(rgb) > 3 * 200
    dark = lambda rgb: sum(rgb) < 3 * 60
    warm = lambda rgb: rgb[0] > 190 and 60 < rgb[1] < 170 and rgb[2] < 110
    for scheme, is_paper in (("light", light), ("dark", dark)):
        page.media(scheme=scheme)
        page.open(path)
        rows = page.screenshot(os.path.join(SCRATCH, scheme + ".png"))
        every = [rgb for row in rows[::4] for rgb in row[::4]]
        share = sum(map(is_paper, every)) / len(every)
        assert share > 0.6, (scheme, share)
        box = page.js("""(() => { const b = document.querySelector("#lanes .span.wrong .blocked").getBoundingClientRect();
            return [b.left, b.top, b.right, b.bottom].map(Math.round); })()""")
        piece = [rgb for row in rows[box[1]:box[3]] for rgb in row[box[0]:box[2]]]
        hot = sum(map(warm, piece)) / len(piece)
        assert 0.4 < hot < 0.95, (scheme, hot, "a hatch: both colours are there")
        colours_hold(page, scheme)
    page.click("#theme")
    assert page.text("#theme") == "theme: light"
    page.click("#theme")
    assert page.js("document.documentElement.dataset.theme") == "dark"
    page.media()


def printing(page):
    page.media(scheme="dark")
    page.open(made(GLOO + "/early-read"))
    page.media("print", "dark")
    style = lambda selector, name: page.js("getComputedStyle(document.querySelector('%s')).%s" % (selector, name))
    assert style(".tools", "display") == "none" and style("body", "backgroundColor") == "rgb(255, 255, 255)"
    assert style("#lanes", "maxHeight") == "none" and style("#detail", "display") == "block"
    assert len(page.call("Page.printToPDF")["data"]) > 5000
    page.media()


def alone(page):
    path = made(GLOO + "/early-read")
    page.open(path)
    asked = [url for url in page.requests if not url.startswith("data:") and url != "about:blank"]
    assert asked == ["file://" + os.path.abspath(path)], asked
    with open(path) as file:
        text = file.read()
    bare = re.sub(r'<script type="application/json".*?</script>', "", text, flags=re.S)
    assert len(bare) < 1 << 20 and "http://" not in re.sub(r"http://www.w3.org/\S+", "", bare), len(bare)


def hostile_names(page):
    name = "</script><img src=x onerror=alert(1)><b>&\\u0022"
    path = written("odd", "".join(
        '{"ev":"%s","rank":0,"op":"%s/0","key":"%s","src":"%s",%s}\n' % (ev, name, name, name, rest)
        for ev, rest in (("issue", '"in":[1]'), ("done", '"out":[2]'))))
    page.open(made(path))
    assert not page.errors and page.count("img") == 0 and page.count("#detail b") == 0, page.errors
    assert "<img src=x onerror=alert(1)><b>" in page.text("#reason"), page.text("#reason")


def many_ranks(page):
    path = written("ranks", "".join('{"ev":"issue","rank":%d,"op":0,"in":[1]}\n' % r for r in range(300)) +
                   "".join('{"ev":"done","rank":%d,"op":0,"out":[300]}\n' % r for r in range(300)))
    page.open(made(path))
    assert page.count("#lanes svg .rank") == 300 and page.count("#lanes .span") == 300
    assert page.js("lanes.scrollHeight > lanes.clientHeight")


CLAIMS = [
    ("every anomaly's page names it, with its witnesses, values and place", each_anomaly),
    ("every history that can be judged can be drawn", each_history),
    ("from a FAIL to its place in one click, with values in decimal and bits", finding_to_place),
    ("clicks and keys go from all-reduce to all-reduce, zoom, and change the axis", clicks_and_keys),
    ("search by operation, rank, step and name", searching),
    ("a log line shows its contributions, denominator and result", reports),
    ("a legal value shows its tree and its legal range", a_legal_value),
    ("light and dark: paper and ink change, what was found stays hatched", themes),
    ("it prints: light, without controls, in full", printing),
    ("one file, nothing else is asked for, under 1 MB without its data", alone),
    ("names can't leave their strings", hostile_names),
    ("300 ranks are 300 lanes", many_ranks),
]


def main():
    page, bad = Page(), 0
    try:
        for claim, test in CLAIMS:
            try:
                test(page)
                print("ok   " + claim, flush=True)
            except Exception as why:
                bad += 1
                where = traceback.extract_tb(why.__traceback__)[-1]
                print("FAIL %s: %s:%d: %s %.1500s" % (claim, os.path.basename(where.filename), where.lineno, type(why).__name__, why),
                      flush=True)
    finally:
        page.close()
    sys.exit(bad > 0)


main()
