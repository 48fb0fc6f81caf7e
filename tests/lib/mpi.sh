# Runs on MPICH ranks, to be sourced after tally.sh. MPICH spins while it waits, and a test has more
# ranks than cores. The back end yields by itself; MPICH's blocking calls do not, so a script whose
# claims are not about waiting sets YIELD=1 and takes a tenth of the time.
#
#   ranks  N [HYDRA-OPTION]... PROGRAM...   a bounded run; the exit code is mpiexec's
#   claims N PROGRAM...                     ... of a program that prints "ok CLAIM": each is counted

# Ranks of one machine need shared memory only. hwloc's plug-ins leak, which is not our fault to
# find; UCX warns of operations that a test left pending on purpose.
export UCX_TLS=self,sm HWLOC_PLUGINS_PATH=/nonexistent UCX_LOG_LEVEL=error

ranks() {
    local n=$1
    shift
    timeout -k 2 "${TALLY_SECONDS:-60}" mpiexec.mpich \
        ${YIELD:+-genv LD_PRELOAD "$PWD/$BUILD/tests/preload/yield.so"} -n "$n" "$@"
}

claims() {
    local code=0 claim
    ranks "$@" >"$SCRATCH/.output" 2>&1 </dev/null || code=$?
    if [ "$code" -ne 0 ] || ! grep -q '^ok ' "$SCRATCH/.output"; then
        tally_fail "$*" "expected claims and exit code 0, found $code"
        return
    fi
    while read -r claim; do
        tally_pass "$claim"
    done < <(sed -n 's/^ok //p' "$SCRATCH/.output")
}
