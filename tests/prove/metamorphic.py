#!/usr/bin/env python3
"""Judges variants of every history on file that say the same, and compares the verdicts.

    tests/prove/metamorphic.py [--seed N] [--variants N] [--plant] [--keep DIR] [HISTORY]...

A variant interleaves the lines of the ranks otherwise, merges them by time, renames the ranks, writes a
file for each rank, says of each rank what was said of all, or spells some lines so that the reader of plain
ones leaves them to the JSON library. Verdict, anomaly, operation, step and the
ranks, renamed, have to be those of the history itself.
"""

import argparse
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import variants as v  # noqa: E402

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ALAR = os.path.join(TOP, os.environ.get("BUILD", "build"), "alar")
BATCH = 2000


def bases():
    """Every history on file that can be read; what is refused says so at a line of its own."""
    found = []
    for folder in ("", "judge", "field"):
        top = os.path.join(TOP, "tests/histories", folder)
        for name in sorted(os.listdir(top)):
            path = os.path.join(top, name)
            if name.endswith(".jsonl") and not name.startswith("bad-"):
                found.append(path)
            elif folder and os.path.isdir(path):
                found.append(path)
    return found


# ---- what is compared ----------------------------------------------------------------------------

def essence(verdict, names):
    """What a verdict claims: kind, anomaly, operation, step, and the ranks under their new names."""
    finding = verdict["findings"][0] if verdict["findings"] else {}
    if verdict["verdict"] == "UNKNOWN":
        finding = {}

    def renamed(ranks):
        return sorted(names.get(r, r) for r in ranks) if names else sorted(ranks)

    return (verdict["verdict"], finding.get("anomaly"), finding.get("group"), finding.get("op"),
            finding.get("metric"), finding.get("step"), renamed(finding.get("ranks", [])),
            renamed(finding.get("missing", [])))


def judge(paths):
    """{path: verdict}; what is missing was refused. One process for all, as long as it takes them."""
    told = subprocess.run([ALAR, "check", "--json", *paths], capture_output=True, text=True, timeout=300)
    verdicts = {}
    for line in told.stdout.splitlines() if told.returncode in (0, 1, 2, 3) else ():
        verdict = json.loads(line)
        verdicts[verdict["path"].rstrip("/")] = verdict
    # A path that is no history at all, or a crash, takes its neighbours along.
    if len(paths) > 1 and len(verdicts) < len(paths):
        half = len(paths) // 2
        return {**judge(paths[:half]), **judge(paths[half:])}
    return {path: verdict for path, verdict in verdicts.items() if verdict["verdict"] != "UNUSABLE"}


# ---- variants ------------------------------------------------------------------------------------

def drawn(lines, rng):
    """(how, {file name: text}, names): one variant; some of its lines are spelled otherwise."""
    how, files, names = drawn_plainly(lines, rng)
    if rng.random() < 0.25:
        how.append("spelled")
        files = {name: v.spelled(text, rng) for name, text in files.items()}
    return how, files, names


def drawn_plainly(lines, rng):
    how = []
    names = None
    if rng.random() < 0.5:
        names = v.renaming(lines, rng)
        if names:
            lines = v.rename(lines, names)
            how.append("renamed")
    if not v.has_frame(lines) and rng.random() < 0.3:
        with_frame = v.framed(lines)
        if with_frame:
            lines = with_frame
            how.append("framed")
    if rng.random() < 0.4:
        queues = v.each_rank(lines)
        if queues and rng.random() < 0.5:
            files = list(range(len(queues)))
            rng.shuffle(files)
            return how + ["files"], {"f%d.jsonl" % k: v.text_of(q) for k, q in zip(files, queues.values())}, names
        if queues:
            lines = [line for queue in queues.values() for line in queue]
            how.append("headers")
    ordered = v.by_time(lines, rng) if rng.random() < 0.2 else None
    how.append("by time" if ordered else "interleaved")
    lines = ordered or v.drawn_order(lines, rng)
    # A file that is of one rank alone, and says so, belongs to the rank files beside it.
    alone = lines[0][0] is not None and v.is_header(lines[0][1]) and len({rank for rank, _ in lines}) == 1
    return how, {"f0.jsonl" if alone else "": v.text_of(lines)}, names


class Run:
    def __init__(self, options):
        self.options = options
        self.waiting = []  # (base name, path, how, names, files) not judged yet
        self.expected = {}
        self.wrong = {}
        self.counts = {}
        self.left_out = []  # refused, or with a line that was cut and has no place elsewhere
        # In memory where there is such a place: thousands of small files are made and removed.
        self.scratch = tempfile.mkdtemp(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)

    def add(self, base, number, how, files, names):
        path = os.path.join(self.scratch, "%s--%d" % (base.replace("/", "+"), number))
        if "" in files:
            path += ".jsonl"
            with open(path, "w", encoding="utf-8") as file:
                file.write(files[""])
        else:
            os.mkdir(path)
            for name, text in files.items():
                with open(os.path.join(path, name), "w", encoding="utf-8") as file:
                    file.write(text)
        self.waiting.append((base, path, how, names))
        if len(self.waiting) >= BATCH:
            self.flush()

    def flush(self):
        verdicts = judge([path for _, path, _, _ in self.waiting]) if self.waiting else {}
        for base, path, how, names in self.waiting:
            for step in how:
                self.counts[step] = self.counts.get(step, 0) + 1
            wanted = essence(self.expected[base], names)
            found = essence(verdicts[path], None) if path in verdicts else ("REFUSED",)
            if wanted != found:
                self.differs(base, path, how, wanted, found)
            if os.path.isdir(path):
                shutil.rmtree(path)
            else:
                os.remove(path)
        self.waiting = []

    def differs(self, base, path, how, wanted, found):
        self.wrong.setdefault(base, []).append("%s: expected %s, found %s" % (
            ", ".join(how), told(wanted), told(found)))
        if self.options.keep and len(self.wrong[base]) == 1:
            os.makedirs(self.options.keep, exist_ok=True)
            kept = os.path.join(self.options.keep, os.path.basename(path))
            (shutil.copytree if os.path.isdir(path) else shutil.copy)(path, kept)


def told(claim):
    return " ".join("{%s}" % ",".join(map(str, part)) if isinstance(part, list) else str(part)
                    for part in claim if part is not None)


def draw_all(run, paths, rng):
    """Draws in turn from all histories until there are as many different variants as asked for."""
    names = {path: os.path.relpath(path, os.path.join(TOP, "tests/histories")).removesuffix(".jsonl")
             for path in paths}
    verdicts = judge(paths)
    histories = []
    for path in paths:
        lines = v.read_history(path) if path in verdicts else None
        if lines is None:
            run.left_out.append(names[path])
            continue
        run.expected[names[path]] = verdicts[path]
        histories.append((names[path], lines, set(), [0]))
    drawn_count, number = 0, 0
    while drawn_count < run.options.variants and histories:
        for history in histories[:]:
            base, lines, seen, misses = history
            how, files, renamed = drawn(lines[:-1] if run.options.plant else lines, rng)
            mark = hashlib.blake2b(repr(sorted(files.items())).encode(), digest_size=12).digest()
            if mark in seen:
                misses[0] += 1
                if misses[0] > 40:  # all of its variants were seen
                    histories.remove(history)
                continue
            seen.add(mark)
            number += 1
            run.add(base, number, how, files, renamed)
            drawn_count += 1
            if drawn_count == run.options.variants:
                break
    run.flush()
    return drawn_count


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--variants", type=int, default=50000)
    parser.add_argument("--plant", action="store_true", help="variants that do say something else: each last line is dropped")
    parser.add_argument("--keep", default=None, help="a folder for the first variant that differs of each history")
    parser.add_argument("history", nargs="*")
    options = parser.parse_args()
    run = Run(options)
    try:
        count = draw_all(run, [os.path.abspath(p) for p in options.history] or bases(),
                         random.Random(options.seed))
    finally:
        shutil.rmtree(run.scratch)
    for base, all_told in sorted(run.wrong.items()):
        print("%s: %d variants differ; %s" % (base, len(all_told), all_told[0]))
    print("left out, refused or cut: %s" % ", ".join(run.left_out))
    print("seed %d: %d variants of %d histories (%s)" % (
        options.seed, count, len(run.expected), ", ".join("%d %s" % (n, h) for h, n in sorted(run.counts.items()))))
    print("%d histories change with their variant" % len(run.wrong))
    return 1 if run.wrong or not count else 0


if __name__ == "__main__":
    sys.exit(main())
