"""`alar import --flight-recorder`: makes a history of PyTorch's Flight Recorder dumps.

A dump tells who issued which collective, of what size, when, from where, and how far it came; it holds no
values. The history is judged for order, sizes, dtypes, ranks that are missing and deadlines. Dumps are pickles
or JSON, of versions 2.0 to 2.10; a pickle is read without running anything that it names.
"""
import argparse
import ast
import io
import json
import os
import pickle
import re
import sys

DTYPES = {"Float": "f32", "Double": "f64", "Half": "f16", "BFloat16": "bf16", "Int": "i32", "Long": "i64",
          "Byte": "u8", "Bool": "u8", "Char": "i8", "Short": "i16"}
COLLECTIVES = {"all_reduce": "all_reduce", "allreduce": "all_reduce", "all_reduce_coalesced": "all_reduce",
               "allreduce_coalesced": "all_reduce", "all_gather": "all_gather", "allgather": "all_gather",
               "_all_gather_base": "all_gather", "_allgather_base": "all_gather",
               "all_gather_into_tensor": "all_gather", "all_gather_into_tensor_coalesced": "all_gather",
               "gather": "gather", "reduce": "reduce", "broadcast": "broadcast",
               "reduce_scatter": "reduce_scatter", "_reduce_scatter_base": "reduce_scatter",
               "reduce_scatter_tensor": "reduce_scatter", "reduce_scatter_tensor_coalesced": "reduce_scatter"}
# torch's own frames; a dump has paths only, and a program may live in a folder called torch.
OWN_FRAME = re.compile(r"(site|dist)-packages/torch/|/torch/(distributed|nn|autograd|utils|_|csrc|testing)|^<frozen")

EPILOG = """examples:
  alar import --flight-recorder nccl_trace_rank_* -o h && alar check h
  alar import --flight-recorder dumps/ -o h

A dump's rank is the number at the end of its name. How to get dumps: TORCH_NCCL_TRACE_BUFFER_SIZE=2000 and
TORCH_NCCL_DUMP_ON_TIMEOUT=1 for NCCL; torch._C._distributed_c10d._dump_fr_trace_json() for gloo.
exit codes: 0 a history was made; 3 the input can't be used.
"""


class Unusable(Exception):
    """The input can't be used: what was expected, what was found, what to do."""


class _Plain(pickle.Unpickler):
    """Lists, dicts, texts and numbers; a dump needs nothing else, and whatever a pickle names could run."""

    def find_class(self, module, name):
        raise Unusable("expected a dump of plain lists and texts, found a pickle that names %s.%s; it was "
                       "not run" % (module, name))

    def persistent_load(self, identity):
        raise Unusable("expected a dump of plain lists and texts, found a pickle with outside parts")


def looks(data):
    """What a file that is no dump looks like, and what to do with it."""
    head = data[:4096]
    if not data:
        return "found an empty file: the process ended before it wrote"
    if head[:2] == b"\x1f\x8b":
        return "found gzip: gunzip it first"
    if head[:2] == b"PK":
        return "found a zip archive (torch.save makes such files): dumps are pickles or JSON"
    if b'"traceEvents"' in data[:1 << 20]:
        return "found a Chrome trace (of the profiler or Kineto): it does not say which collectives match"
    if b"NCCL INFO" in data[:1 << 20] or b"NCCL WARN" in data[:1 << 20]:
        return "found an NCCL log: set TORCH_NCCL_TRACE_BUFFER_SIZE and take the dump instead"
    if head.lstrip()[:6] == b'{"ev":':
        return "found a history: alar check reads it as it is"
    if head.lstrip()[:1] == b"<":
        return "found HTML or XML"
    return "found something else"


def load(path):
    """The dump in a file, as dicts and lists."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise Unusable("%s: expected a dump: %s" % (path, error.strerror)) from None
    dump = None
    try:
        if data.lstrip()[:1] == b"{":
            dump = json.loads(data)
        elif data[:1] == b"\x80":
            dump = _Plain(io.BytesIO(data)).load()
    except Unusable as error:
        raise Unusable("%s: %s" % (path, error)) from None
    except Exception as error:
        if isinstance(error, EOFError) or "truncated" in str(error):
            raise Unusable("%s: expected a whole dump, found a pickle that is cut off" % path) from None
    if not isinstance(dump, dict) or not isinstance(dump.get("entries"), list):
        raise Unusable("%s: expected a Flight Recorder dump (a pickle or JSON with `entries`), %s" % (
            path, looks(data)))
    return dump


def find(paths):
    """Dumps by rank, from files and directories."""
    found = {}
    for path in paths:
        if os.path.isdir(path):
            names = [os.path.join(path, name) for name in sorted(os.listdir(path))]
            names = [name for name in names if os.path.isfile(name)]
            if not names:
                raise Unusable("%s: expected dumps in it, found none" % path)
        else:
            names = [path]
        for name in names:
            number = re.search(r"(\d+)(\.\w+)*$", os.path.basename(name))
            if number is None:
                raise Unusable("%s: expected a rank at the end of its name, as in trace_0" % name)
            rank = int(number.group(1))
            if rank in found:
                raise Unusable("%s: expected one dump a rank, found %s for rank %d too" % (
                    name, found[rank], rank))
            found[rank] = name
    return found


def _members(config, world):
    """The ranks of a group; all, where the dump does not say."""
    ranks = config.get("ranks")
    try:
        ranks = ast.literal_eval(ranks) if isinstance(ranks, str) else ranks
        members = sorted(int(rank) for rank in ranks)
    except Exception:
        members = []
    return members or list(range(world))


def _elements(sizes):
    total = 0
    for size in sizes or []:
        count = 1
        for length in size if isinstance(size, (list, tuple)) else [size]:
            count *= int(length)
        total += count
    return total


def _source(entry):
    for frame in entry.get("frames") or []:
        name = frame.get("filename", "")
        if name and not OWN_FRAME.search(name):
            return "%s:%d" % (os.path.basename(name), frame.get("line", 0))
    return None


def _group(entry):
    group = entry.get("process_group") or (str(entry.get("pg_id", 0)), "")
    return str(group[0])


def _name(entry):
    return str(entry.get("profiling_name", "?")).split(":", 1)[-1]


def _sequence(entry):
    return entry.get("collective_seq_id", entry.get("seq_id", 0))


def _collectives(dump):
    return [entry for entry in dump["entries"]
            if not entry.get("is_p2p") and not re.match(r"\w+:(send|recv)", entry.get("profiling_name", ""))]


def _begins(dumps):
    """A dump is the end of a ring: of each group, the first number that every ring still holds."""
    begins = {}
    for dump in dumps.values():
        first = {}
        for entry in _collectives(dump):
            first.setdefault(_group(entry), _sequence(entry))
        lost = bool(dump["entries"]) and dump["entries"][0].get("record_id", 0) > 0
        for group, sequence in first.items():
            if lost:
                begins[group] = max(begins.get(group, 0), sequence)
    return begins


def _issue(entry, rank, op, size, t, has_others):
    """`has_others`: there are collectives that the format has no word for; ranks must agree on those."""
    name = _name(entry)
    kind = COLLECTIVES.get(name)
    dtypes, count = entry.get("input_dtypes") or [], _elements(entry.get("input_sizes"))
    dtype = DTYPES.get(str(dtypes[0]) if dtypes else "", None)
    record = {"ev": "issue", "rank": rank, "t": t, "op": op}
    if kind != "all_reduce" and kind is not None:
        record["coll"] = kind
    record.update(n=count * size if kind in ("all_gather", "gather") else count, dtype=dtype or "u8",
                  sync=False)
    if dtype is None:
        record["refused"] = "dtype"
    if entry.get("timeout_ms"):
        record["deadline"] = int(entry["timeout_ms"]) * 1000000
    source = _source(entry)
    if source is not None:
        record["src"] = source
    if has_others:
        record["key"] = kind or name
    return record


def _end(entry):
    """When it was found complete; None while it was not."""
    created = entry.get("time_created_ns", 0)
    if entry.get("state") == "completed":
        return entry.get("time_discovered_completed_ns") or created
    # gloo has no events: that an entry is retired is all it says of its end.
    if entry.get("retired") and str(entry.get("profiling_name", "")).startswith("gloo:"):
        return created
    return None


class _Rank:
    """One rank's dump: its groups, and its collectives as (operation, entry)."""

    def __init__(self, rank, dump, world, begins):
        self.rank, self.version = rank, dump.get("version", "?")
        self.groups = {str(name): _members(one, world)
                       for name, one in (dump.get("pg_config") or {}).items()}
        self.entries, numbers = [], {}
        for entry in _collectives(dump):
            group = _group(entry)
            self.groups.setdefault(group, list(range(world)))
            if _sequence(entry) >= begins.get(group, 0):
                numbers[group] = numbers.get(group, -1) + 1
                self.entries.append(((group, numbers[group]), entry))

    def records(self, world, base, now, cut, has_others):
        """The records of this rank, in their order, without what is still in flight."""
        head = [{"ev": "trace", "rank": self.rank, "v": 1, "world": world, "tag": "flight recorder",
                 "backend": "flight recorder %s" % self.version, "clock": "monotonic_ns",
                 "wait": "stream", "sees": "ends order sizes dtypes callers"}]
        head += [{"ev": "declare", "rank": self.rank, "group": "pg" + name, "members": members}
                 for name, members in self.groups.items()]
        timed, late = [], []
        for (group, number), entry in self.entries:
            if number >= cut.get(group, number + 1):
                continue
            op, t = "pg%s/%d" % (group, number), _created(entry, base) - base
            timed.append((t, len(timed), _issue(entry, self.rank, op, len(self.groups[group]), t, has_others)))
            end = _end(entry)
            if end is not None:
                t = max(int(end) - base, t)
                timed.append((t, len(timed), {"ev": "complete", "rank": self.rank, "t": t, "op": op}))
            elif _is_late(entry, now):
                late.append({"ev": "fail", "rank": self.rank, "t": now - base, "op": op, "error": "timeout",
                             "text": "%s when the dump was taken" % entry.get("state", "pending")})
        ordered = [record for _, _, record in sorted(timed, key=lambda one: one[:2])]
        return head + ordered + late + [{"ev": "end", "rank": self.rank}]


def _created(entry, otherwise):
    return int(entry.get("time_created_ns") or otherwise)


def _is_late(entry, now):
    """Had its own timeout passed at the last moment that any dump knows of?"""
    timeout = entry.get("timeout_ms")
    return bool(timeout) and now - _created(entry, now) >= int(timeout) * 1000000


def _in_flight(ranks, now):
    """Of each group, the first operation that all members had issued and some were still about, in time.
    Nothing can be said of it and what follows: the dumps were taken in its middle."""
    issued, pending, members = {}, set(), {}
    for one in ranks:
        members.update(one.groups)
        for op, entry in one.entries:
            issued[op] = issued.get(op, 0) + 1
            if _end(entry) is None and not _is_late(entry, now):
                pending.add(op)
    cut = {}
    for group, number in sorted(pending):
        if issued[group, number] >= len(members[group]):
            cut[group] = min(cut.get(group, number), number)
    return cut


def convert(paths, directory):
    """Writes the history; returns (ranks, operations, operations in flight). Errors: Unusable."""
    dumps = {rank: load(path) for rank, path in sorted(find(paths).items())}
    world = 1 + max(dumps)
    for dump in dumps.values():
        for one in (dump.get("pg_config") or {}).values():
            world = max([world] + [1 + rank for rank in _members(one, 1)])
    begins = _begins(dumps)
    ranks = [_Rank(rank, dump, world, begins) for rank, dump in dumps.items()]
    entries = [entry for one in ranks for _, entry in one.entries]
    base = min((_created(entry, 0) for entry in entries if entry.get("time_created_ns")), default=0)
    now = max([_end(entry) or 0 for entry in entries] + [_created(entry, 0) for entry in entries], default=0)
    cut, has_others = _in_flight(ranks, now), any(_name(entry) not in COLLECTIVES for entry in entries)
    os.makedirs(directory, exist_ok=True)
    count = left = 0
    for one in ranks:
        records = one.records(world, base, now, cut, has_others)
        issued = sum(record["ev"] == "issue" for record in records)
        count, left = count + issued, left + len(one.entries) - issued
        with open(os.path.join(directory, "rank%d.jsonl" % one.rank), "x", encoding="utf-8") as file:
            file.writelines(json.dumps(record, separators=(",", ":")) + "\n" for record in records)
    return len(ranks), count, left


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        self.exit(3, "alar import: %s; see alar import --help\n" % message)


def main(arguments):
    parser = _Parser(prog="alar import", epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter,
                     description="Makes a history of other people's records.")
    parser.add_argument("--flight-recorder", nargs="+", metavar="DUMP", required=True,
                        help="dumps of PyTorch's Flight Recorder, one a rank, or directories of them")
    parser.add_argument("-o", metavar="DIR", required=True, help="where the history goes")
    options = parser.parse_args(arguments)
    try:
        ranks, count, left = convert(options.flight_recorder, options.o)
    except Unusable as error:
        print("alar import: %s" % error, file=sys.stderr)
        return 3
    except FileExistsError as error:
        print("alar import: %s: expected a directory without a history, found one" % error.filename,
              file=sys.stderr)
        return 3
    except OSError as error:
        print("alar import: %s" % error, file=sys.stderr)
        return 3
    if left:
        print("%d operations were in flight on all ranks, and not overdue, when the dumps were taken: these and "
              "what follows them are left out" % left)
    print("%s: %d ranks, %d operations; now: alar check %s" % (options.o, ranks, count, options.o))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
