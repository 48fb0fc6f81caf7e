"""Variants of a history that say the same: what each rank recorded, in its order, and nothing else.

A history is a list of (rank, record) in the order of its lines; rank None speaks of all ranks. Numbers
keep the digits they were written with, since a decimal of a report stands for all that print so.
"""

import json
import os
import re


class Number(str):
    """A number as it was written."""


def read_line(text):
    return json.loads(text, parse_float=Number, parse_int=Number)


def write_value(value):
    if isinstance(value, Number):
        return str(value)
    if isinstance(value, dict):
        return "{%s}" % ",".join("%s:%s" % (json.dumps(k), write_value(v)) for k, v in value.items())
    if isinstance(value, list):
        return "[%s]" % ",".join(write_value(v) for v in value)
    return json.dumps(value)


def read_history(path):
    """[(rank or None, record)] of a file, or of a directory of rank files one after the other; None
    when a line was cut off."""
    lines = []
    names = sorted(os.listdir(path)) if os.path.isdir(path) else [""]
    for name in names:
        of_file = []
        with open(os.path.join(path, name) if name else path, encoding="utf-8") as file:
            for text in file:
                try:
                    record = read_line(text)
                except json.JSONDecodeError:
                    return None
                of_file.append([int(record["rank"]) if "rank" in record else None, record])
        if name:  # what a rank's file says of nobody it says of its rank
            rank = next((r for r, record in of_file if record["ev"] == "trace"), None)
            if rank is None:  # an empty file, or one cut in its header: nothing to draw from
                return None
            of_file = [[rank, {**record, "rank": Number(rank)}] for _, record in of_file]
        lines += of_file
    return [tuple(line) for line in lines]


def ranks_of(lines):
    return sorted({rank for rank, _ in lines if rank is not None})


def world_of(lines):
    for _, record in lines:
        if "world" in record:
            return int(record["world"])
    return max(ranks_of(lines)) + 1


def has_frame(lines):
    return any(record["ev"] in ("trace", "end") for _, record in lines)


# ---- order of lines ------------------------------------------------------------------------------

def segments(lines):
    """Runs of lines that each speak of one rank, between lines that speak of all."""
    run = []
    for line in lines:
        if line[0] is None:
            yield run
            yield [line]
            run = []
        else:
            run.append(line)
    yield run


def by_rank(lines):
    queues = {}
    for line in lines:
        queues.setdefault(line[0], []).append(line)
    return queues


def merge(lines, pick):
    """Merges the ranks' lines of each segment; `pick` says which rank goes on."""
    merged = []
    for segment in segments(lines):
        queues = by_rank(segment)
        while queues:
            rank = pick(queues) if len(queues) > 1 else next(iter(queues))
            merged.append(queues[rank].pop(0))
            if not queues[rank]:
                del queues[rank]
    return merged


def drawn_order(lines, rng):
    """Any order that keeps each rank's: evenly mixed, in bursts, or one rank after the other."""
    stay = rng.choice((0.0, 0.5, 0.9, 1.0))
    last = [None]

    def pick(queues):
        if last[0] not in queues or rng.random() >= stay:
            last[0] = rng.choice(list(queues))
        return last[0]

    return merge(lines, pick)


def by_time(lines, rng):
    """Merged by `t`, ties drawn; None unless every line of a rank has one."""
    if not all("t" in record for rank, record in lines if rank is not None):
        return None
    return merge(lines, lambda queues: min(
        queues, key=lambda rank: (int(queues[rank][0][1]["t"]), rng.random())))


# ---- names of ranks ------------------------------------------------------------------------------

def renaming(lines, rng):
    """A drawn renaming of ranks, or None where a rank's number means more than its name."""
    for _, record in lines:
        # A promised tree is over numbered ranks, a holder is the lowest of those that hold a value, and
        # the block of an extreme has a place for each rank by its number.
        if "tree" in record or "holder" in record or record.get("kind") in ("min", "max"):
            return None
    # A bare history's world is its highest rank and one, so names move among those that are there.
    ranks = list(range(world_of(lines))) if has_frame(lines) else ranks_of(lines)
    if len(ranks) < 2:
        return None
    names = ranks[:]
    rng.shuffle(names)
    return dict(zip(ranks, names))


def rename_record(record, names):
    renamed = dict(record)
    for field in ("rank", "of"):
        if field in record:
            renamed[field] = Number(names.get(int(record[field]), int(record[field])))
    for field in ("members", "missing"):
        if field in record:
            ranks = sorted(names.get(int(r), int(r)) for r in record[field])
            renamed[field] = [Number(r) for r in ranks]
    if "point" in record:
        renamed["point"] = re.sub(r"/(\d+)$", lambda m: "/%d" % names[int(m.group(1))], record["point"])
    return renamed


def rename(lines, names):
    return [(None if rank is None else names[rank], rename_record(record, names)) for rank, record in lines]


# ---- files ---------------------------------------------------------------------------------------

def framed(lines):
    """A bare history with the header and the ends that it stands for; None when a rank left it early."""
    if any(record["ev"] in ("exit", "abort") for _, record in lines):
        return None
    world = world_of(lines)
    head = {"ev": "trace", "v": Number(1), "world": Number(world), "clock": "ticks"}
    ends = [(rank, {"ev": "end", "rank": Number(rank)}) for rank in range(world)]
    return [(None, head)] + lines + ends


def is_header(record):
    """Of a rank's file: in a world of one there are none."""
    return record["ev"] == "trace" and int(record.get("world", 0)) > 1


def each_rank(lines):
    """What is said of all ranks, said by each: the lines of every rank. None without a header."""
    world = world_of(lines)
    if not any(record["ev"] == "trace" for _, record in lines):
        return None
    queues = {rank: [] for rank in range(world)}
    for rank, record in lines:
        if rank is None:
            for other in range(world):
                queues[other].append((other, {"ev": record["ev"], "rank": Number(other), **{
                    k: v for k, v in record.items() if k not in ("ev", "i")}}))
        else:
            queues[rank].append((rank, record))
    queues = {rank: queue for rank, queue in queues.items() if queue}
    if not all(is_header(queue[0][1]) for queue in queues.values()):
        return None
    if any(rank is None for rank, _ in lines):  # running numbers would have gaps
        queues = {rank: [(rank, {k: v for k, v in record.items() if k != "i"}) for rank, record in queue]
                  for rank, queue in queues.items()}
    return queues


def spelled(text, rng):
    """The same lines, half of them with an escape in the name of a field."""
    return "".join(line.replace('"ev"', '"\\u0065v"', 1) if rng.random() < 0.5 else line
                   for line in text.splitlines(keepends=True))


def text_of(lines):
    return "".join(write_value(record) + "\n" for _, record in lines)
