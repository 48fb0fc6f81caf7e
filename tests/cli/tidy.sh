#!/usr/bin/env bash
# The tree is tidy, and tidy can tell: each of its checks is made to fire on a planted file.
# seconds: 300
# cores: 1
. "$(dirname "$0")/../lib/tally.sh"

check "the tree is tidy" ci/tidy

tree=$SCRATCH/tree

# A small tree in which nothing is wrong.
clean_tree() {
    rm -rf "$tree"
    mkdir -p "$tree"/{ref,faults,tests/unit,spec}
    printf 'CORE := \\\n\tgood \\\n\nCC := gcc\n' >"$tree/Makefile"
    printf 'int good(int a);\n' >"$tree/ref/good.h"
    printf '#include "good.h"\n\n#include <string.h>\n\nint good(int a)\n{\n    return a;\n}\n' \
        >"$tree/ref/good.c"
    touch "$tree"/ref/{backend.h,driver.h} "$tree"/faults/{mutants.def,point.h,plan.h}
    printf '**H-01** A rule.\n' >"$tree/spec/semantics.md"
    printf '/* spec: H-01 */\n' >"$tree/tests/unit/test_good.c"
}

# refuses CLAIM FILE TEXT MESSAGE: planted in FILE, the text (printf format) is named with MESSAGE.
refuses() {
    clean_tree
    mkdir -p "$(dirname "$tree/$2")"
    printf "$3" >>"$tree/$2"
    expect_text "refuses $1" 1 "$4" ci/tidy "$tree"
    grep -qF -e "$2:" "$SCRATCH/.output" || tally_fail "refuses $1" "no word of $2"
}

# allows CLAIM FILE TEXT
allows() {
    clean_tree
    mkdir -p "$(dirname "$tree/$2")"
    printf "$3" >>"$tree/$2"
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
rm "$tree/Makefile"
expect_text "a tree without the list of core modules" 1 "expected the list" ci/tidy "$tree"

refuses "a system header in the core" ref/good.c '#include <stdio.h>\n' "may not include <stdio.h>"
refuses "a shell header in the core" ref/good.c '#include "driver.h"\n' "may not include ref/driver.h"
refuses "a system header in the core's header" ref/good.h '#include <time.h>\n' "include <time.h>"
refuses "a fault header in the core" ref/good.h '#include "faults/point.h"\n' "faults/point.h"
refuses "MPI in the shell" ref/driver.c '#include <mpi.h>\n' "only MPI back ends"
refuses "libfiu in the shell" ref/driver.c '#include <fiu.h>\n' "<fiu.h> is not on the shell's list"
refuses "a plan in the shell" ref/driver.c '#include "faults/plan.h"\n' "faults/point.h only"
refuses "the mutants in the oracle" ref/oracle.c '#include "faults/mutants.def"\n' "know the mutants"
refuses "a back end in the oracle" ref/oracle.c '#include "backend.h"\n' "may not know a back end"
refuses "a test header in ref" ref/driver.c '#include "tests/unit/test_good.c"\n' "may not include tests"
allows "a shell header in the shell" ref/driver.c '#include "driver.h"\n\n#include <stdio.h>\n'
allows "a plan in the command line" ref/cli_run.c '#include "faults/plan.h"\n'
allows "MPI in its back end" ref/backend_mpi.c '#include <mpi.h>\n'
allows "a quoted include" ref/driver.c '/* #include <fiu.h> */\nconst char *a = "#include <fiu.h>";\n'


refuses "a function of 61 lines" ref/driver.c "$(function_of 61)" "f has 61 lines, limit 60"
allows "a function of 60 lines" ref/driver.c "$(function_of 60)"
refuses "a file of 401 lines" ref/driver.h "$(printf 'int a;\\n%.0s' {1..401})" "401 lines, limit 400"
allows "a file of 400 lines" ref/driver.h "$(printf 'int a;\\n%.0s' {1..400})"

for name in strcpy sprintf strcat gets atoi atof rand strtok alloca; do
    refuses "$name" tests/unit/test_a.c "$(in_function "    $name(a);\n")" "$name is banned here"
done
for name in malloc printf time exit logf; do
    refuses "$name in the core" ref/good.c "$(in_function "    $name(a);\n")" "$name is banned here"
done
refuses "printing outside the command line" ref/driver.c \
    "$(in_function '    printf("a");\n')" "printf is banned here"
allows "printing in the command line" ref/cli_run.c "$(in_function '    printf("a");\n')"
allows "a banned name in a comment" ref/good.c '/* strcpy(a, b) */\n'
allows "a banned name in a string" ref/driver.c 'const char *a = "strcpy(a)";\n'
allows "nextafter in the core" ref/good.c "$(in_function '    nextafter(a, a);\n')"

refuses "an if without braces" ref/driver.c "$(in_function '    if (a)\n        a = 1;\n')" "if without"
refuses "an else without braces" ref/driver.c \
    "$(in_function '    if (a) {\n    } else\n        a = 1;\n')" "else without braces"
allows "do, while and else if" ref/driver.c \
    "$(in_function '    do {\n        if (a) {\n        } else if (a) {\n        }\n    } while (a);\n')"
refuses "a // comment" ref/driver.c '// why\n' "comments are /* */"
allows "two slashes in a string" ref/driver.c 'const char *a = "//";\n'
refuses "a typedef of a struct" ref/driver.h 'typedef struct a a;\n' "typedef of a struct"
refuses "recursion" ref/driver.c "$(in_function '    f(a);\n')" "f calls itself"
refuses "#if inside a function" ref/driver.c "$(in_function '#ifdef A\n#endif\n')" "#if inside f"
refuses "a line of 101 columns" ref/driver.c "$(printf 'const char *a = "%82s";' ' ')\n" "101 columns"
refuses "bad format" ref/driver.c 'int  a ;\n' "not formatted"

refuses "a TODO" README.md 'TODO: more\n' "a note to oneself"
refuses "a FIXME" ref/driver.c '/* FIXME */\n' "a note to oneself"
refuses "a bare launcher in a script" tests/mpi/a.sh 'mpiexec -n 4 a\n' "mpiexec names no MPI library"
refuses "a bare compiler in a Makefile" Makefile '\tmpicc a.c\n' "mpicc names no MPI library"
refuses "a bare launcher in the manual" README.md '    mpirun -n 4 a\n' "mpirun names no MPI library"
allows "a named launcher" tests/mpi/a.sh 'mpiexec.mpich -n 4 a\n'
allows "the word mpiexec in prose" README.md 'Started outside mpiexec, alar says how.\n'
refuses "a path of one machine" tests/mpi/a.sh 'cd /home/me/alar\n' "path or host of one machine"
refuses "a registry" ci/a.sh 'curl https://pypi.org/simple\n' "path or host of one machine"
refuses "a space at the end of a line" Makefile 'a: \n' "space at the end"

refuses "a rule without a test" spec/semantics.md '**W-07** Another.\n' "no test cites rule W-07"
refuses "a rule defined twice" spec/semantics.md '**H-01** Again.\n' "H-01 is defined twice"
refuses "a citation without its rule" ref/good.c '/* spec: H-01, N-09 */\n' "there is no rule N-09"
clean_tree
rm "$tree/spec/semantics.md"
expect_text "says so while there are no rules" 0 "rule citations not checked" ci/tidy "$tree"

tally
