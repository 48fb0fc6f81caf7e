#!/usr/bin/env bash
# ci/examples: the lines of the CI files, run as shell, on a healthy program and on one that reads early.
. "$(dirname "$0")/../lib/tally.sh"
. tests/lib/mpi.sh

# script_of FILE: the lines that a runner would give to a shell.
script_of() {
    /usr/bin/python3 - "$1" <<'PYTHON'
import sys, yaml
data = yaml.safe_load(open(sys.argv[1]))
if "jobs" in data:
    for step in data["jobs"]["judge"]["steps"]:
        print(step.get("run", "").rstrip("\n") or ": " + str(step.get("uses")))
else:
    print("\n".join(data["judge all-reduces"]["script"]))
PYTHON
}
for name in healthy wrong; do
    mkdir "$SCRATCH/$name"
done
cat >"$SCRATCH/train.c" <<'C'
#include <mpi.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    float in = 1.5F, out = 0;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    for (int step = 0; step < 3; step++) {
        MPI_Iallreduce(&in, &out, 1, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD, &request);
        if (argc > 1) in = 2.5F; /* the buffer belongs to the library now */
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    return MPI_Finalize();
}
C
check "a program to record" mpicc.mpich "$SCRATCH/train.c" -o "$SCRATCH/train"
bin=$SCRATCH/bin
mkdir "$bin" && ln -s "$(realpath "$BUILD")"/alar* "$bin/"
run_example() { # run_example FILE DIRECTORY PROGRAM: as a runner does, it stops at the first failure
    script_of "$1" >"$SCRATCH/script"
    grep -q 'alar record' "$SCRATCH/script" || return 99
    (cd "$2" && PATH=$bin:$PATH PROGRAM=$3 timeout -k 2 60 bash -e "$SCRATCH/script")
}
for file in github gitlab; do
    rm -rf "$SCRATCH"/{healthy,wrong}/*
    check "$file: a healthy program passes" run_example ci/examples/$file.yml "$SCRATCH/healthy" "$SCRATCH/train"
    check "$file: the report is there" grep -q 'failures="0" errors="0"' "$SCRATCH/healthy/alar.xml"
    expect_code "$file: a program without all-reduces stops the job" 3 \
        run_example ci/examples/$file.yml "$SCRATCH/wrong" true
done
# What the job would show of a program that is wrong; on the simulator, so that nothing is left to luck.
cp -r tests/data/histories-gloo/early-read "$SCRATCH/wrong/history"
judge_lines() { script_of "$1" | grep -v 'alar record'; }
for file in github gitlab; do
    judge_lines ci/examples/$file.yml >"$SCRATCH/script"
    judged() { (cd "$SCRATCH/wrong" && PATH=$bin:$PATH bash -e "$SCRATCH/script"); }
    expect_code "$file: a history that is wrong fails the job" 1 judged
    check "$file: its report says so" grep -q 'failures="1"' "$SCRATCH/wrong/alar.xml"
done
tally
