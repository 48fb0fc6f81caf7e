#!/usr/bin/env bash
# seconds: 600
# only: full
# Programs that people run, recorded, with every all-reduce judged or named: HPCC and LAMMPS on Open MPI,
# testers of ScaLAPACK on both libraries. `make applications` installs them; whatever is absent is skipped.
# spec: H-30, H-39
. "$(dirname "$0")/../lib/tally.sh"

alar=$BUILD/alar TALLY_SECONDS=240
export UCX_TLS=self,sm HWLOC_PLUGINS_PATH=/nonexistent UCX_LOG_LEVEL=error
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
mpich=(mpiexec.mpich -genv LD_PRELOAD "$PWD/$BUILD/tests/preload/yield.so")
openmpi=(mpiexec.openmpi)
lapack=/usr/lib/x86_64-linux-gnu/scalapack
home=$PWD
cd "$SCRATCH" || exit 4
[ "${alar#/}" != "$alar" ] || alar=$home/$alar

# Verdict, operations, those judged, those whose calls were compared, and the others that are named: the
# all-reduces for whose values there is no word.
look() {
    local counts named
    "$alar" check --json h >verdict.json
    counts=$(jq -r '[.verdict, .operations, .judged, .called] | @tsv' verdict.json)
    named=$(cat h/rank*.jsonl | jq -r 'select(.ev == "issue" and .refused != null and .coll == null) | .op' | sort -u | wc -l)
    printf '%s\t%s\n' "$counts" "$named"
}
told() { # every operation is judged, compared or named, and most are judged
    local verdict operations judged called named
    read -r verdict operations judged called named < <(look)
    echo "$verdict: of $operations operations $judged judged, of $called the calls compared, $named named"
    "$alar" check h | head -n 1
    [ "$verdict" != FAIL ] && [ "$operations" -gt 20 ] && [ "$judged" -gt 0 ] &&
        [ $((judged + called + named)) -eq "$operations" ]
}
application() { # application CLAIM PROGRAM COMMAND...
    local claim=$1 program=$2
    shift 2
    if ! command -v "$program" >/dev/null; then
        skip "$claim" "$program is not installed"
        return
    fi
    expect_code "$claim: recorded" 0 timeout -k 2 240 "$alar" record --replace -o h -- "$@" "$program" "${words[@]}"
    check "$claim: judged or named" told
    sed 's/^/    /' .output | cut -c 1-300
}

words=()
cp /usr/share/scalapack/*.dat . 2>/dev/null
for tester in xdlu xdqr; do
    application "ScaLAPACK $tester, MPICH" "$lapack/mpich-tests/$tester" "${mpich[@]}" -n 4
done
application "ScaLAPACK xdlu, Open MPI" "$lapack/openmpi-tests/xdlu" "${openmpi[@]}" -n 4

sed -e 's/^1000 .*Ns$/200 Ns/' -e 's/^80  *NBs$/32 NBs/' /usr/share/doc/hpcc/examples/_hpccinf.txt >hpccinf.txt 2>/dev/null
application "HPCC" hpcc "${openmpi[@]}" -n 4

cat >in.melt <<'END'
units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 5 0 5 0 5
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 3.0 87287
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify every 20 delay 0 check no
fix 1 all nve
thermo 10
run 100
END
words=(-in in.melt)
application "LAMMPS" lmp "${openmpi[@]}" -n 2
cd "$home" || exit 4
tally
