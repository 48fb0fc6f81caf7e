#!/usr/bin/env python3
"""Small MPI programs in pairs, one right and one wrong: generate.py DIRECTORY [VARIANTS].

Each pair is KIND-VARIANT-right.c and KIND-VARIANT-wrong.c; they differ in the one mistake that the kind
names. Variants differ in types, operations, communicators, ranks, and the way completion is learnt. A
`ranks` comment in the first line says on how many ranks a program runs."""
import os
import sys

TYPES = [("float", "MPI_FLOAT", "MPI_INT"), ("double", "MPI_DOUBLE", "MPI_LONG"), ("int", "MPI_INT", "MPI_FLOAT"),
         ("long", "MPI_LONG", "MPI_DOUBLE"), ("unsigned", "MPI_UNSIGNED", "MPI_FLOAT")]
OPS = [("MPI_SUM", "MPI_MAX"), ("MPI_MAX", "MPI_MIN"), ("MPI_MIN", "MPI_SUM"), ("MPI_SUM", "MPI_PROD"), ("MPI_MAX", "MPI_SUM")]
COMMS = ["MPI_COMM_WORLD", "copy", "MPI_COMM_WORLD", "half", "copy"]
WAITS = ["MPI_Wait(&request, MPI_STATUS_IGNORE);", "MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);",
         "for (int done = 0; !done;) { MPI_Test(&request, &done, MPI_STATUS_IGNORE); }",
         "{ int which; MPI_Waitany(1, &request, &which, MPI_STATUS_IGNORE); }",
         "MPI_Wait(&request, MPI_STATUS_IGNORE);"]
RANKS = [2, 3, 2, 4, 3]

# `last` is the rank that errs, one of every group that is used.
PROGRAM = """/* ranks: %(ranks)d */
#include <mpi.h>
int main(int argc, char **argv)
{
    int rank, size, local, locals;
    MPI_Comm copy, half;
    MPI_Request request;
    static %(c)s in[1024], out[1024], more[1024];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_split(MPI_COMM_WORLD, rank %% 2, rank, &half);
    MPI_Comm_rank(%(comm)s, &local);
    MPI_Comm_size(%(comm)s, &locals);
    int errs = local == locals - 1 && locals > 1;
    for (int k = 0; k < 1024; k++) { in[k] = (%(c)s)(rank + k + 1); }
    for (int step = 0; step < 3; step++) {
        in[0] = (%(c)s)(rank + step + 1);
        %(body)s
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&copy);
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}
"""


def begin(v, blocking=False, count="4", type_=None, op=None, comm=None):
    return "MPI_%sallreduce(in, out, %s, %s, %s, %s%s);" % (
        "" if blocking else "I", count, type_ or TYPES[v][1], op or OPS[v][0], comm or COMMS[v],
        "" if blocking else ", &request") if not blocking else \
        "MPI_Allreduce(in, out, %s, %s, %s, %s);" % (count, type_ or TYPES[v][1], op or OPS[v][0], comm or COMMS[v])


def either(condition, yes, no):
    return "if (%s) { %s } else { %s }" % (condition, yes, no)


def bodies(kind, v):
    """The right body and the wrong one."""
    one, wait = begin(v, blocking=v % 2 == 1), "" if v % 2 == 1 else WAITS[v]
    whole = one + " " + wait
    later = begin(v) + " " + WAITS[v]
    wrongly = "errs && step == 1"
    other = {"missing-call": lambda: either(wrongly, "", whole),
             "other-operation": lambda: either(wrongly, begin(v, v % 2 == 1, op=OPS[v][1]), one) + " " + wait,
             "other-type": lambda: either(wrongly, begin(v, v % 2 == 1, type_=TYPES[v][2]), one) + " " + wait,
             "other-count": lambda: either(wrongly, begin(v, v % 2 == 1, count="5"), one) + " " + wait,
             "other-communicator": lambda: either(wrongly, begin(v, v % 2 == 1, comm="MPI_COMM_WORLD"
                                                                  if COMMS[v] != "MPI_COMM_WORLD" else "copy"), one)
             + " " + wait}
    if kind in other:
        return whole, other[kind]()
    if kind == "crossed-calls":
        calls = ["MPI_Barrier(%s);", "MPI_Bcast(more, 4, MPI_INT, 0, %s);", "MPI_Barrier(%s);",
                 "MPI_Allgather(in, 1, MPI_INT, more, 1, MPI_INT, %s);", "MPI_Bcast(more, 4, MPI_INT, 0, %s);"]
        call = calls[v] % COMMS[v]
        return call + " " + whole, either(wrongly, whole + " " + call, call + " " + whole)
    if kind == "other-root":
        call = ["MPI_Bcast(more, 4, MPI_INT, %%s, %s);", "MPI_Reduce(in, out, 4, MPI_INT, MPI_SUM, %%s, %s);"][v % 2] % COMMS[v]
        return call % "0" + " " + whole, call % "(errs && step == 1)" + " " + whole
    if kind == "no-wait":
        return later, either(wrongly, begin(v), later)
    if kind == "overwritten-buffer":
        write = ["in[0] = (%s)999;", "out[0] = (%s)999;", "in[3] = (%s)999;", "out[3] = (%s)999;", "in[1] = (%s)999;"][v] % TYPES[v][0]
        return (begin(v) + " " + WAITS[v] + " if (%s) { %s }" % (wrongly, write),
                begin(v) + " if (%s) { %s } " % (wrongly, write) + WAITS[v])
    if kind == "blocking-beside":
        return later, either(wrongly, begin(v, blocking=True), later)
    raise ValueError(kind)


KINDS = ["missing-call", "crossed-calls", "other-operation", "other-type", "other-count", "other-root",
         "other-communicator", "no-wait", "overwritten-buffer", "blocking-beside"]


def main():
    directory, variants = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
    os.makedirs(directory, exist_ok=True)
    for kind in KINDS:
        for v in range(variants):
            for name, body in zip(("right", "wrong"), bodies(kind, v)):
                ranks = max(RANKS[v], 4) if COMMS[v] == "half" else RANKS[v]
                with open("%s/%s-%d-%s.c" % (directory, kind, v, name), "w") as file:
                    file.write(PROGRAM % {"ranks": ranks, "c": TYPES[v][0], "comm": COMMS[v], "body": body})


main()
