"""Which functions no command reaches: a rule that only dead code carries out protects nobody. And which
files call each other in a circle, so that none can be read first.

Roots are main, what <alar.h> and <backend.h> declare, the symbols a preloaded recorder replaces, what alar-rank.so and Python's module offer, what
tables and macros name, and what the models drive. A function is reached when the body of a reached one
names it. Names stand for functions: two of one name count as reached together.
"""
import re

WORD = re.compile(r"[A-Za-z_]\w*")
CALL = re.compile(r"(?<![\w.>])([A-Za-z_]\w*)\(")
DEFINE = re.compile(r"^[ \t]*#[ \t]*define(?:[^\n\\]|\\.|\\\n)*", re.M)
PROTOTYPE = re.compile(r"^[A-Za-z_][^;{}=]*\([^;{}]*\)\s*;", re.M)
ENTRY = re.compile(r"main$|alar_backend$|alar_conform_(?:serve|ended)$|_?_?[eE]xit$|exec[lvpe]+$|abort$|P?MPIX?_\w+$|p?mpix?_\w+$|__wrap_\w+$|PyInit_\w+$")
MODELS = ("spec/embed.h", "spec/embed_ranks.h")


def words(text):
    return set(WORD.findall(text))


class Function:
    def __init__(self, source, name, first, last, body):
        self.source, self.name, self.first, self.last = source, name, first, last
        self.uses = words(body) - {name}
        self.calls = set(CALL.findall(body))


def split(source):
    """(functions, what stands outside them) of one C file."""
    lines = source.code.split("\n")
    found, outside = [], list(lines)
    for name, first, last in source.functions:
        found.append(Function(source, name, first, last, "\n".join(lines[first - 1:last])))
        outside[first - 1:last] = [""] * (last - first + 1)
    return found, "\n".join(outside)


def survey(tree):
    """({name: functions}, names that are reached from the start)."""
    functions, named = {}, set()
    for source in tree.c_files("ref/", "faults/"):
        found, outside = split(source)
        for function in found:
            functions.setdefault(function.name, []).append(function)
        if source.path.startswith("ref/api/"):
            named |= words(outside)
        for define in DEFINE.findall(source.code):
            named |= words(define)
        if source.path.endswith(".c"):
            named |= words(PROTOTYPE.sub("", outside))
    for source in tree.sources:
        is_table = source.path.endswith((".def", ".awk")) and source.path.startswith(("ref/", "faults/"))
        if is_table or source.path in MODELS:
            named |= words(source.text)
    return functions, named | {name for name in functions if ENTRY.match(name)}


def reached(functions, named):
    seen, waiting = set(), [name for name in named if name in functions]
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            for function in functions[name]:
                waiting += [other for other in function.uses if other in functions]
    return seen


def check_dead(tree):
    """Every function of the product is reached from a command, a public header or a table."""
    functions, named = survey(tree)
    alive = reached(functions, named)
    for name, found in functions.items():
        if name not in alive:
            for function in found:
                yield function.source.path, function.first, "no command reaches %s" % name


def calls(tree):
    """{file: files whose functions it calls}, within ref/. Static functions are their own file's."""
    found = {source.path: split(source)[0] for source in tree.c_files("ref/") if source.path.endswith(".c")}
    lines = {source.path: source.code.split("\n") for source in tree.c_files("ref/")}
    home, own = {}, {}
    for path, functions in found.items():
        own[path] = {function.name for function in functions}
        for function in functions:
            if not lines[path][function.first - 1].startswith("static"):
                home[function.name] = path
    return {path: {home[name] for function in functions for name in function.calls
                   if name in home and name not in own[path]} for path, functions in found.items()}


def check_call_circles(tree):
    """No circle of files that call each other; what a table names is not called."""
    edges = calls(tree)
    for start in sorted(edges):
        came, waiting = {}, [(other, start) for other in edges[start]]
        while waiting and start not in came:
            path, before = waiting.pop(0)
            if path not in came:
                came[path] = before
                waiting += [(other, path) for other in edges[path]]
        if start in came:
            way = [start]
            while way[-1] != start or len(way) == 1:
                way.append(came[way[-1]])
            yield start, 1, "calls itself through " + " ".join(reversed(way[1:-1]))
