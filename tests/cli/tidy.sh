#!/usr/bin/env bash
# seconds: 900
# The tree is tidy, and tidy can tell: each of its checks is made to fire on a planted file.
. "$(dirname "$0")/../lib/tally.sh"

check "the tree is tidy" ci/tidy

tree=$SCRATCH/tree

# A small tree in which nothing is wrong.
clean_tree() {
    rm -rf "$tree"
    mkdir -p "$tree"/{ref/{api,base,good,driver,cli,judge,backend/mpi},faults,tests/unit,spec,ci}
    printf '%s\n' 'api | core | | interfaces' 'base | core | | memory' 'good | core | | decisions' \
        'judge | core | good/good.h | verdicts' 'driver | shell | good faults/point.h | effects' \
        'backend/mpi | plug-in | | MPI' 'cli | terminal | * faults/plan.h | words' >"$tree/ci/rooms"
    printf 'int good(int a);\n' >"$tree/ref/good/good.h"
    printf '#include "good/good.h"\n\n#include <string.h>\n\nint good(int a)\n{\n    return a;\n}\n' \
        >"$tree/ref/good/good.c"
    touch "$tree"/ref/{api/backend.h,driver/driver.h} "$tree"/faults/{mutants.def,point.h,plan.h}
    touch "$tree/Makefile"
    # What is planted as f is reached.
    printf 'void f(int a);\nvoid (*const roots[])(int) = {f};\n' >"$tree/ref/cli/roots.c"
    printf '**H-01** A rule.\n' >"$tree/spec/semantics.md"
    printf '/* spec: H-01 */\n' >"$tree/tests/unit/test_good.c"
}

plant() { # plant FILE TEXT (printf format)
    mkdir -p "$(dirname "$tree/$1")"
    printf "$2" >>"$tree/$1"
}

# refuses CLAIM FILE TEXT MESSAGE [FILE TEXT]...: all is planted; the first FILE is named with MESSAGE.
refuses() {
    local claim=$1 file=$2 message=$4 at
    clean_tree
    plant "$file" "$3"
    for ((at = 5; at < $#; at += 2)); do plant "${@:at:2}"; done
    expect_text "refuses $claim" 1 "$message" ci/tidy "$tree"
    grep -qF -e "$file:" "$SCRATCH/.output" || tally_fail "refuses $claim" "no word of $file"
}

# allows CLAIM FILE TEXT
allows() {
    clean_tree
    plant "$2" "$3"
    expect_text "allows $1" 0 " 0 problems" ci/tidy "$tree"
}

# function LINES: the text of one function of so many lines.
function_of() {
    printf 'void f(int *a)\\n{\\n'
    for ((line = 3; line < $1; line++)); do printf '    *a = %d;\\n' "$line"; done
    printf '}\\n'
}
in_function() { # in_function STATEMENTS
    printf 'void f(int a)\\n{\\n%s}\\n' "$1"
}

clean_tree
expect_text "a clean tree has no problems" 0 " 0 problems" ci/tidy "$tree"
rm "$tree/ci/rooms"
expect_text "a tree without the table of rooms" 1 "expected the table of rooms" ci/tidy "$tree"

refuses "a system header in the core" ref/good/good.c '#include <stdio.h>\n' "may not include <stdio.h>"
refuses "a shell header in the core" ref/good/good.c '#include "driver/driver.h"\n' \
    "good may not include ref/driver/driver.h"
refuses "a system header in the core's header" ref/good/good.h '#include <time.h>\n' "include <time.h>"
refuses "a fault header in the core" ref/good/good.h '#include "faults/point.h"\n' "faults/point.h"
refuses "MPI in the shell" ref/driver/driver.c '#include <mpi.h>\n' "only MPI back ends"
refuses "libfiu in the shell" ref/driver/driver.c '#include <fiu.h>\n' "<fiu.h> is not on the shell's list"
refuses "a plan in the shell" ref/driver/driver.c '#include "faults/plan.h"\n' "may not include faults/plan.h"
refuses "the mutants in the oracle" ref/judge/a.c '#include "faults/mutants.def"\n' "know the mutants"
refuses "a header that a room's line does not name" ref/judge/a.c '#include "driver/driver.h"\n' \
    "judge may not include ref/driver/driver.h"
refuses "anything in what others include" ref/api/a.h '#include "good/good.h"\n' "api may not include"
refuses "a test header in ref" ref/driver/driver.c '#include "tests/unit/test_good.c"\n' "may not include tests"
refuses "a file outside the rooms" ref/attic/a.c 'int a;\n' "lies in no room"
refuses "a function that no command reaches" ref/driver/driver.c 'int lost(int a)\n{\n    return a;\n}\n' \
    "no command reaches lost"
allows "one that a table names" ref/driver/driver.c \
    'int found(int a)\n{\n    return a;\n}\n\nint (*const table[])(int) = {found};\n'
refuses "a name that stands twice" ref/driver/good.c 'int a;\n' "the name of several files"
refuses "a circle of rooms" ci/rooms 'one | core | two | first\ntwo | core | one | second\n' \
    "stands in a circle" ref/one/one.h '#include "two/two.h"\n' ref/two/two.h '#include "one/one.h"\n'
refuses "files that call each other in a circle" ref/good/good.c 'int back(int a)\n{\n    return there(a);\n}\n' \
    "calls itself through ref/good/other.c" \
    ref/good/other.c 'int there(int a)\n{\n    return back(a);\n}\n' ref/cli/b.c 'int (*const b[])(int) = {back};\n'
allows "a call and a static function of one name" ref/good/other.c \
    'static int good(int a)\n{\n    return a;\n}\n\nint there(int a)\n{\n    return good(a);\n}\n\nint (*const c[])(int) = {there};\n'
refuses "a comment that names a file which is not there" ref/good/good.c '/* See lost.c. */\n' "there is no lost.c"
allows "a comment that names one that is" ref/good/good.c '/* See good.h and <stdio.h>. */\n'
refuses "a room without a purpose" ci/rooms 'one | core | | \n' "expected a kind"
allows "a shell header in the shell" ref/driver/driver.c '#include "driver/driver.h"\n\n#include <stdio.h>\n'
allows "a header that a room's line names" ref/judge/a.c '#include "good/good.h"\n'
allows "a plan in the command line" ref/cli/cli_run.c '#include "faults/plan.h"\n'
allows "MPI in its back end" ref/backend/mpi/mpi.c '#include <mpi.h>\n'
allows "a quoted include" ref/driver/driver.c '/* #include <fiu.h> */\nconst char *a = "#include <fiu.h>";\n'

refuses "a function of 61 lines" ref/driver/driver.c "$(function_of 61)" "f has 61 lines, limit 60"
allows "a function of 60 lines" ref/driver/driver.c "$(function_of 60)"
refuses "a file of 401 lines" ref/driver/driver.h "$(printf 'int a;\\n%.0s' {1..401})" "401 lines, limit 400"
allows "a file of 400 lines" ref/driver/driver.h "$(printf 'int a;\\n%.0s' {1..400})"

for name in strcpy sprintf strcat gets atoi atof rand strtok alloca; do
    refuses "$name" tests/unit/test_a.c "$(in_function "    $name(a);\n")" "$name is banned here"
done
for name in malloc printf time exit logf; do
    refuses "$name in the core" ref/good/good.c "$(in_function "    $name(a);\n")" "$name is banned here"
done
refuses "printing outside the command line" ref/driver/driver.c \
    "$(in_function '    printf("a");\n')" "printf is banned here"
allows "printing in the command line" ref/cli/cli_run.c "$(in_function '    printf("a");\n')"
allows "a banned name in a comment" ref/good/good.c '/* strcpy(a, b) */\n'
allows "a banned name in a string" ref/driver/driver.c 'const char *a = "strcpy(a)";\n'
allows "nextafter in the core" ref/good/good.c "$(in_function '    nextafter(a, a);\n')"

refuses "an if without braces" ref/driver/driver.c "$(in_function '    if (a)\n        a = 1;\n')" "if without"
refuses "an else without braces" ref/driver/driver.c \
    "$(in_function '    if (a) {\n    } else\n        a = 1;\n')" "else without braces"
allows "do, while and else if" ref/driver/driver.c \
    "$(in_function '    do {\n        if (a) {\n        } else if (a) {\n        }\n    } while (a);\n')"
refuses "a // comment" ref/driver/driver.c '// why\n' "comments are /* */"
allows "two slashes in a string" ref/driver/driver.c 'const char *a = "//";\n'
refuses "a typedef of a struct" ref/driver/driver.h 'typedef struct a a;\n' "typedef of a struct"
refuses "recursion" ref/driver/driver.c "$(in_function '    f(a);\n')" "f calls itself"
refuses "#if inside a function" ref/driver/driver.c "$(in_function '#ifdef A\n#endif\n')" "#if inside f"
refuses "a line of 101 columns" ref/driver/driver.c "$(printf 'const char *a = "%82s";' ' ')\n" "101 columns"
refuses "bad format" ref/driver/driver.c 'int  a ;\n' "not formatted"

refuses "a TODO" README.md 'TODO: more\n' "a note to oneself"
refuses "a FIXME" ref/driver/driver.c '/* FIXME */\n' "a note to oneself"
refuses "a bare launcher in a script" tests/mpi/a.sh 'mpiexec -n 4 a\n' "mpiexec names no MPI library"
refuses "a bare compiler in a Makefile" Makefile '\tmpicc a.c\n' "mpicc names no MPI library"
refuses "a bare launcher in the manual" README.md '    mpirun -n 4 a\n' "mpirun names no MPI library"
allows "a named launcher" tests/mpi/a.sh 'mpiexec.mpich -n 4 a\n'
allows "the word mpiexec in prose" README.md 'Started outside mpiexec, alar says how.\n'
refuses "a path of one machine" tests/mpi/a.sh 'cd /home/me/alar\n' "path or host of one machine"
refuses "a registry" ci/a.sh 'curl https://pypi.org/simple\n' "path or host of one machine"
refuses "a space at the end of a line" Makefile 'a: \n' "space at the end"

refuses "a README of 901 words" README.md "$(printf 'word %.0s' {1..901})\n" "901 words of prose"
allows "commands beside 900 words" README.md "$(printf 'word\\n%.0s' {1..900})    \$ build/alar check\n"
refuses "a README for wide windows" README.md "$(printf 'a%.0s' {1..161})\n" "161 columns"

refuses "a rule without a test" spec/semantics.md '**W-07** Another.\n' "no test cites rule W-07"
refuses "a rule defined twice" spec/semantics.md '**H-01** Again.\n' "H-01 is defined twice"
refuses "a citation without its rule" ref/good/good.c '/* spec: H-01, N-09 */\n' "there is no rule N-09"
clean_tree
rm "$tree/spec/semantics.md"
expect_text "says so while there are no rules" 0 "rule citations not checked" ci/tidy "$tree"

tally
