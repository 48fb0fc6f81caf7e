"""The rooms of ref/: what each may include and touch, and that no name stands twice.

The table is ci/rooms; its head says what the columns and kinds mean.
"""
import collections
import os
import re

KINDS = ("core", "shell", "plug-in", "recorder", "terminal")
CORE_SYSTEM = set("stddef stdint stdbool stdalign string limits float math".split())
SHELL_SYSTEM = CORE_SYSTEM | set(
    "stdatomic ctype dirent dlfcn elf errno fcntl fenv getopt inttypes libgen locale poll pthread sched signal stdarg stdio "
    "stdlib time unistd sys/file sys/mman sys/prctl sys/resource sys/socket sys/stat sys/time sys/types sys/uio sys/utsname "
    "sys/wait ucontext yajl/yajl_gen yajl/yajl_parse yajl/yajl_tree".split())
MUTANTS = "faults/mutants.def"
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.M)


class Room:
    def __init__(self, name, kind, may, purpose):
        self.name, self.kind, self.may, self.purpose = name, kind, set(may.split()), purpose


def read(text):
    """{name: Room} of the table's text."""
    rooms = {}
    for line in text.splitlines():
        if line.strip() and not line.startswith("#"):
            room = Room(*[cell.strip() for cell in line.split("|")])
            rooms[room.name] = room
    return rooms


def room_of(path):
    """`judge/report` of ref/judge/report/report.h; outside ref/ the first folder."""
    folder = os.path.dirname(path)
    return folder[len("ref/"):] if folder.startswith("ref/") else path.split("/")[0]


def kind_of(path, rooms):
    room = rooms.get(room_of(path)) if path.startswith("ref/") else None
    return room.kind if room else path.split("/")[0]


def check_table(tree):
    """Every file of ref/ lies in a room of the table, and every room says what it is for."""
    for room in tree.rooms.values():
        if room.kind not in KINDS or not room.purpose:
            yield "ci/rooms", 1, "%s: expected a kind (%s) and a purpose" % (room.name, ", ".join(KINDS))
    for source in tree.sources:
        if source.path.startswith("ref/") and source.path.endswith((".c", ".h", ".def")):
            if room_of(source.path) not in tree.rooms:
                yield source.path, 1, "lies in no room of ci/rooms"


def check_includes(tree):
    """A room includes itself, api, base and what its line names; the world as its kind allows."""
    for source in tree.c_files("ref/", "faults/"):
        for match in INCLUDE.finditer(source.code):
            line, name = source.line_at(match.start()), match.group(2)
            if match.group(1) == "<":
                problem = system_include(kind_of(source.path, tree.rooms), name)
            else:
                problem = local_include(source.path, tree.resolve(source.path, name), tree.rooms)
            if problem:
                yield source.path, line, problem


def system_include(kind, name):
    stem = name[:-2] if name.endswith(".h") else name
    if kind == "core" and stem not in CORE_SYSTEM:
        return "the core may not include <%s>" % name
    if name == "mpi.h" and kind not in ("plug-in", "recorder"):
        return "only MPI back ends and recorders may include <mpi.h>"
    if kind in ("shell", "terminal") and stem not in SHELL_SYSTEM:
        return "<%s> is not on the shell's list of headers" % name
    return None


def local_include(path, target, rooms):
    if target.endswith(".inc"):  # made from a text when it is built
        return None
    target_room = room_of(target)
    if target == MUTANTS and not path.startswith("faults/"):
        return "only faults/ may know the mutants"
    if target_room in ("tests", "spec"):
        return "product code may not include %s" % target
    room = rooms.get(room_of(path)) if path.startswith("ref/") else None
    if room is None or target_room == room.name:
        return None
    if target_room == "api" or target_room == "base" and room.name != "api":
        return None
    named = target[len("ref/"):] if target.startswith("ref/") else target
    if target_room in room.may or named in room.may or "*" in room.may and named != target:
        return None
    return "%s may not include %s" % (room.name, target)


def check_names(tree):
    """No two files of product code share a base name: archives and debuggers know files by it."""
    places = collections.defaultdict(list)
    for source in tree.c_files("ref/", "faults/"):
        places[os.path.basename(source.path)].append(source.path)
    for paths in places.values():
        if len(paths) > 1:
            yield from ((path, 1, "the name of several files: " + " ".join(paths)) for path in paths)


def check_circles(tree):
    """No circle between rooms, but for a room and the one inside it."""
    edges = collections.defaultdict(set)
    for source in tree.c_files("ref/"):
        for match in INCLUDE.finditer(source.code):
            if match.group(1) == '"':
                target = room_of(tree.resolve(source.path, match.group(2)))
                if target in tree.rooms and not nested(room_of(source.path), target):
                    edges[room_of(source.path)].add(target)
    for start in sorted(edges):
        seen, waiting = set(), list(edges[start])
        while waiting:
            room = waiting.pop()
            if room not in seen:
                seen.add(room)
                waiting += edges[room]
        if start in seen:
            yield "ci/rooms", 1, "%s stands in a circle of includes" % start


def nested(a, b):
    return a == b or a.startswith(b + "/") or b.startswith(a + "/")
