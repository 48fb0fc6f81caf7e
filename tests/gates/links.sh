#!/usr/bin/env bash
# What the built files need and offer, read from the files themselves: the core needs nothing but a few
# functions of libc, the program needs no MPI, the libraries offer what the headers declare.
. "$(dirname "$0")/../lib/tally.sh"

# Copies and compares of memory and strings, and what <math.h> does exactly.
allowed='mem(cpy|move|set|cmp|chr)|str(len|nlen|n?cmp|n?cpy|r?chr|str|c?spn|pbrk)
(nextafter|ldexp|frexp|scalbn|fabs|copysign|floor|ceil|trunc|rint|fma|sqrt|fmin|fmax|modf|ilogb|logb)[fl]?
alar_.*|_GLOBAL_OFFSET_TABLE_|__stack_chk_fail|__mem(cpy|set|move)_chk'

# foreign OBJECT...: prints what they need beyond that; 1 when there is anything.
foreign() {
    ! nm -u "$@" | awk '$1 == "U" { print $2 }' | grep -vxE "${allowed//$'\n'/|}"
}

core=$(make -s --eval='print: ; @echo $(CORE_SRC:%.c=$(BUILD)/obj/%.o)' print)
# Linked together, so that what one part of the core needs of another is no matter.
check "the core links by itself" ld -r $core -o "$SCRATCH/core.o"
check "the core needs nothing of the world" foreign "$SCRATCH/core.o"

printf 'char *getenv(const char *); char *f(void) { return getenv("A"); }\n' >"$SCRATCH/impure.c"
check "an impure object can be built" "${CC:-gcc}" -c "$SCRATCH/impure.c" -o "$SCRATCH/impure.o"
expect_text "a planted getenv is seen" 1 getenv foreign "$SCRATCH/impure.o"

# Names that the installed headers mark as offered; alar_backend is a plug-in's.
declared() {
    cat ref/api/*.h | tr '\n' ' ' | grep -oE 'ALAR_API [^(;]*[ *]alar_[a-z0-9_]*[[(]' |
        sed -E 's/.*[ *](alar_[a-z0-9_]*)[[(]$/\1/' | grep -vx alar_backend | sort -u
}
offered() { # offered LIBRARY...: what it offers, as nm lists it with the options before it
    nm --defined-only "$@" | awk 'NF == 3 && $2 ~ /[A-TV-Z]/ { print $3 }' | sort -u
}
offers_what_is_declared() { diff <(declared) <(offered "$@"); }
check "the shared library offers what the headers declare, and nothing else" \
    offers_what_is_declared -D "$BUILD/libalar.so"
check "so does the static one" offers_what_is_declared -g "$BUILD/libalar.a"
printf 'int helper;\n' | "${CC:-gcc}" -x c -c - -o "$SCRATCH/helper.o"
cp "$BUILD/libalar.a" "$SCRATCH/more.a" && ar q "$SCRATCH/more.a" "$SCRATCH/helper.o"
expect_text "another name is seen" 1 "> helper" offers_what_is_declared -g "$SCRATCH/more.a"
expect_text "a plug-in offers its entry alone" 0 "alar_backend" offered -D "$BUILD/alar-mpich.so"

needs_mpi() {
    ldd "$1" | grep -i mpi
}
if [ -e "$BUILD/alar" ]; then
    expect_code "the program needs no MPI" 1 needs_mpi "$BUILD/alar"
else
    skip "the program needs no MPI" "$BUILD/alar is not built"
fi
if [ -e "$BUILD/alar-mpich.so" ]; then
    check "the MPICH back end does" needs_mpi "$BUILD/alar-mpich.so"
else
    skip "the MPICH back end does" "$BUILD/alar-mpich.so is not built"
fi

tally
