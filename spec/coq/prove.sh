#!/usr/bin/env bash
# Checks the proofs with Coq: spec/coq/prove.sh [DIR], with DIR the sources (default: where this stands).
#
# Each rule's theorem is printed with the axioms that it rests on: those of the real numbers in Coq's own library, and no
# other. The exit code is 0 when every file is proven and nothing was taken for granted.
set -eu
cd "$(dirname "$0")/../.."
sources=${1:-spec/coq}
build=${BUILD:-build}/coq
files="lists any_order every_order"
theorems="N_14 N_14_sharp N_15 granularity monotone"
real='ClassicalDedekindReals.sig_not_dec|ClassicalDedekindReals.sig_forall_dec|FunctionalExtensionality.functional_extensionality_dep|Classical_Prop.classic'

command -v coqc >/dev/null || { echo "prove.sh: expected coqc and Flocq (ci/install-deps.sh proofs), found no coqc" >&2; exit 3; }
rm -rf "$build"
mkdir -p "$build"
for file in $files; do
    cp "$sources/$file.v" "$build/"
    (cd "$build" && coqc -q -R . Alar "$file.v")
done
for theorem in $theorems; do
    printf 'From Alar Require Import lists any_order every_order.\nPrint Assumptions %s.\n' "$theorem" >"$build/axioms.v"
    said=$(cd "$build" && coqc -q -R . Alar axioms.v)
    found=$(sed -nE 's/^([A-Za-z_][A-Za-z_.0-9]*).*/\1/p' <<<"$said" | grep -vxE 'Axioms|Closed' | sort -u)
    foreign=$(grep -vxE "$real" <<<"$found" || true)
    if [ -n "$foreign" ]; then
        echo "$theorem rests on $foreign"
        exit 1
    fi
    echo "$theorem: proven"
done
