#!/usr/bin/env bash
# What a user gets: an installed tree, found by pkg-config, is enough to build and run the example.
. "$(dirname "$0")/../lib/tally.sh"
. tests/lib/mpi.sh

prefix=$SCRATCH/usr
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig LD_LIBRARY_PATH=$prefix/lib

# pkg-config's answer is a list of words.
build_example() { cc -std=c11 -Wall -Wextra -Werror tests/example/train.c $(pkg-config --cflags --libs "$@" alar) -o "$SCRATCH/train"; }

check "make install puts the tree under PREFIX" make -s install PREFIX="$prefix"
check "pkg-config finds it" pkg-config --exists alar
check "the man page is there" test -f "$prefix/share/man/man1/alar.1"
check "the example builds against the shared library" build_example
expect_text "the example logs on 4 ranks" 0 "step 19: loss 0.444511 over 40960 tokens" \
    ranks 4 "$SCRATCH/train"
build_embed() { cc -std=c11 -Wall -Wextra -Werror tests/example/embed.c $(pkg-config --cflags --libs alar) -o "$SCRATCH/embed"; }
check "a host with its own communication builds" build_embed
expect_text "and its log lags by a step" 0 "at step 20: loss 0.100316 of steps 10 to 19" "$SCRATCH/embed"
build_host() { c++ -std=c++11 -Wall -Wextra -Werror tests/example/host.cpp $(pkg-config --cflags --libs alar) -o "$SCRATCH/host"; }
check "a C++ host builds against it too" build_host
expect_text "and logs" 0 "loss 1.5 over 8 tokens" ranks 2 "$SCRATCH/host"
build_names() {
    cc -std=c11 -Wall -Wextra -Werror tests/example/names.c $(pkg-config --cflags alar) "$prefix/lib/libalar.a" \
        $(sed -n 's/^Libs.private: //p' "$PKG_CONFIG_PATH/alar.pc") -o "$SCRATCH/names"
}
check "a host may have names of its own beside the static library" build_names
expect_text "and calls its own" 0 "own helpers: 42" "$SCRATCH/names"
expect_text "the installed program finds its back end" 0 "0 leaked" \
    ranks 2 "$prefix/bin/alar" run --backend mpi --async-log-allreduce --quiet
check "a tree can be staged under DESTDIR" \
    make -s install PREFIX=/usr DESTDIR="$SCRATCH/stage"
check "and lies there" test -f "$SCRATCH/stage/usr/lib/libalar.a"
tally
