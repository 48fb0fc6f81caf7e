# One Makefile for everything; `make` alone lists what there is. What is built goes to $(BUILD).
#
#   make V=1          show the commands              make CC=clang-14   another compiler
#   make WERROR=1     warnings are errors            make FAULTS=0      without failure points
#   make BUILD=DIR    build somewhere else           make -j2           is safe
#   make ALAR_MPI=DIR recorder and back end for the MPI library in DIR
.DEFAULT_GOAL := help
.SUFFIXES:
.DELETE_ON_ERROR:
.SECONDARY:
MAKEFLAGS += --no-builtin-rules --no-print-directory

VERSION := 0.1.0
BUILD   ?= build
PREFIX  ?= /usr/local
LIBDIR  ?= lib
FAULTS  ?= 1
ifeq ($(origin CC),default)
CC := gcc
endif
ifeq ($(CI),true)
WERROR ?= 1
endif
export BUILD
Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-8s %s\n' $(1) $(2))

# ---- sources -------------------------------------------------------------------------------------

# Rooms, a folder each, lowest first; what each may include stands in ci/rooms, and ci/tidy holds it.
# The core has no I/O, clock, malloc, MPI or failure points.
CORE  := base numbers legal engine embed judge judge/report
SHELL_ROOMS := sys pack history backend backend/sim driver run order check conform record
# What the program has and the library has not.
PROGRAM_ROOMS := timeline cost view cli

rooms     = $(sort $(wildcard $(1:%=ref/%/*.c)))
CORE_SRC  := $(call rooms,$(CORE))
MPI_SRC   := $(call rooms,backend/mpi)
# Without failure points only their names are left, for `alar faults` to list.
POINTS    := faults/point.c faults/plan.c faults/fiu.c faults/inject.c faults/alloc.c
RECORD_SRC := $(call rooms,record/mpi)
FAULT_SRC := $(filter-out $(if $(filter 0,$(FAULTS)),$(POINTS)),$(sort $(wildcard faults/*.c)))
# What a library of its own offers, and libalar does not.
RANK_SRC  := ref/conform/conform_serve.c
SHELL_SRC := $(filter-out $(RANK_SRC),$(call rooms,$(SHELL_ROOMS))) $(FAULT_SRC)
MAIN_SRC  := $(wildcard ref/cli/cli.c)
CLI_SRC   := $(call rooms,$(PROGRAM_ROOMS))
LIB_SRC   := $(CORE_SRC) $(SHELL_SRC)
DEEP_SRC  := $(filter-out $(MAIN_SRC),$(LIB_SRC) $(CLI_SRC))
UNIT_SRC  := $(filter-out $(if $(filter 0,$(FAULTS)),tests/unit/faults/test_fault% tests/lib/broken.c),\
	$(sort $(shell find tests/unit -name "*.c") $(wildcard tests/lib/*.c)))
HEADERS   := $(wildcard ref/api/*)

# ---- flags ---------------------------------------------------------------------------------------

OPT      ?= -O2 -g
WARNINGS := -Wall -Wextra -Wpedantic -Wconversion -Wshadow $(if $(filter 1,$(WERROR)),-Werror)
CPPFLAGS := -I. -Iref -I$(BUILD)/text -D_XOPEN_SOURCE=700 -DALAR_VERSION=\"$(VERSION)\"
# What keeps roundings: no fused operations; and gcc 12 loses (double)(float)x from -O2 on where it
# packs two of them.
ROUNDING := -ffp-contract=off -fno-tree-slp-vectorize
# Only what <alar.h> and <backend.h> mark with ALAR_API leaves a library; a preloaded one shows the
# names that it replaces.
VISIBILITY := hidden
CFLAGS   := -std=c11 $(OPT) $(WARNINGS) $(ROUNDING) -fPIC -fno-semantic-interposition
LDFLAGS  := -Wl,--as-needed
YAJL     ?= -lyajl
LDLIBS   := $(YAJL) -lm -ldl
ifeq ($(FAULTS),1)
CPPFLAGS += -DALAR_FAULTS=1
LDLIBS   += -lfiu
LDFLAGS  += -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
endif
ifdef SANITIZE
CFLAGS   += -fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer
LDFLAGS  += -fsanitize=$(SANITIZE)
endif
ifdef COVER
CFLAGS   += --coverage
LDFLAGS  += --coverage
endif
COMPILE   = $(CPPFLAGS) $(CFLAGS) -fvisibility=$(VISIBILITY) -MMD -MP -c $< -o $@

# ---- products ------------------------------------------------------------------------------------

objects = $(patsubst %.c,$(BUILD)/$(1)/%.o,$(2))

PROGRAM  := $(if $(MAIN_SRC),$(BUILD)/alar)
LIBRARY  := $(BUILD)/libalar.a $(BUILD)/libalar.so
# MPICH is what the gate needs; Open MPI is served where it is installed. ALAR_MPI=DIR: the one library
# that is installed there. PARTS: those of another build, which know nothing of MPI.
ifneq ($(findstring /,$(ALAR_MPI)),)
MPIS := $(shell ci/mpi.sh '$(ALAR_MPI)' $(BUILD)/bin)
$(if $(MPIS),,$(error ALAR_MPI: there is no MPI library in $(ALAR_MPI)))
export PATH := $(abspath $(BUILD)/bin):$(PATH)
else
MPIS := mpich $(if $(shell command -v mpicc.openmpi),openmpi)
endif
PARTS    ?= $(BUILD)/libparts.a
RECORDER := $(if $(RECORD_SRC),$(MPIS:%=$(BUILD)/alar-record-%.so))
PLUGIN   := $(if $(MPI_SRC),$(MPIS:%=$(BUILD)/alar-%.so)) $(BUILD)/alar-rank.so
UNIT     := $(if $(UNIT_SRC),$(BUILD)/unit)
MUTANTS  := $(BUILD)/mutants $(BUILD)/alar-shm.so
MUTANT_SRC := $(sort $(wildcard tests/mutants/*.c)) tests/lib/history_more.c
SWARM    := $(BUILD)/swarm
SWARM_SRC := $(sort $(wildcard tests/sim/*.c))
MPI_TEST := $(patsubst %.c,$(BUILD)/%,$(sort $(wildcard tests/mpi/*.c)))
MPI_TEST += $(patsubst %.c,$(BUILD)/%.so,$(wildcard tests/preload/*.c)) $(BUILD)/tests/network/router
BENCH    := $(patsubst %.c,$(BUILD)/%,$(sort $(wildcard tests/bench/*.c)))

# ---- targets for people --------------------------------------------------------------------------

.PHONY: help deps all run tests check check-full unit mpi asan valgrind-unit faults tidy fix cover install uninstall deb proofs
.PHONY: deps-matrix matrix matrix-programs clean mutants strangers mutants-judge sim spec spec-full patches fuzz bench benchmarks view-test audit-values
# A recursive build uses both cores unless the caller has said how many.
PARALLEL = $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j2)

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(filter %file %.mk,$(MAKEFILE_LIST))

deps: ## install what is missing (Debian packages; needs root or sudo)
	$(Q)ci/install-deps.sh

all: $(PROGRAM) $(LIBRARY) $(PLUGIN) $(RECORDER) ## the program, the library and the MPI back ends

RANKS    ?= 4
RUN_ARGS ?= --backend mpi --async-log-allreduce
run: ## log real GPT losses asynchronously on 4 MPICH ranks (RANKS=, RUN_ARGS=)
	$(Q)ci/install-deps.sh run
	$(Q)$(MAKE) $(PARALLEL) all
	$(Q)timeout -k 2 300 mpiexec.mpich -n $(RANKS) $(BUILD)/alar run $(RUN_ARGS)

tests: all $(UNIT) $(MPI_TEST) $(MUTANTS) $(SWARM) $(BUILD)/tests/bench/diagnosis $(BUILD)/tests/bench/instructions ## build every test program, run none

check: ## everything a change must pass; ends with "N passed, N failed"
	$(Q)ci/install-deps.sh
	$(Q)$(MAKE) $(PARALLEL) tests
	$(Q)ci/check.sh

MATRIX := $(MPIS:%=$(BUILD)/tests/matrix/probe-%) $(BUILD)/tests/openmpi/mixed $(BUILD)/tests/openmpi/stray $(patsubst %,$(BUILD)/tests/openmpi/%,odd everyday collect)
deps-matrix: ## install what `make matrix` needs besides: Open MPI, torch
	$(Q)ci/install-deps.sh matrix

matrix: deps-matrix ## real libraries: every algorithm of MPICH and Open MPI, gloo, both recorders
	$(Q)$(MAKE) $(PARALLEL) tests matrix-programs
	$(Q)ci/check.sh matrix

matrix-programs: $(MATRIX)

.PHONY: applications
applications: ## HPCC, ScaLAPACK and LAMMPS recorded, every all-reduce judged or named (installs them)
	$(Q)ci/install-deps.sh applications
	$(Q)$(MAKE) $(PARALLEL) all $(BUILD)/tests/preload/yield.so
	$(Q)ci/check.sh --full matrix/applications

view-test: ## the pages of `alar view` in a headless Chromium, which it installs
	$(Q)ci/install-deps.sh view
	$(Q)$(MAKE) $(PARALLEL) all
	$(Q)ci/check.sh view

unit: tests ## the Criterion suites alone
	$(Q)ci/check.sh unit

mpi: tests ## the runs on MPICH ranks alone
	$(Q)ci/check.sh mpi

.PHONY: mutate
mutate: tests ## 300 drawn changes of the core, each of which a check must notice (COUNT=300, SEED=1, ONLY=path)
	$(Q)BUILD='$(BUILD)' tests/mutate/mutate.py --count $(or $(COUNT),300) --seed $(or $(SEED),1) --only '$(ONLY)'

.PHONY: stops
stops: tests ## 60 SIGSTOPs and 60 SIGKILLs over the whole life of a run (STOPS=60)
	$(Q)STOPS=$(or $(STOPS),60) STOPS_SECONDS=900 bash tests/mpi/stops.sh

asan: ## the Criterion suites under AddressSanitizer and UBSan, with planted defects
	$(Q)ci/check.sh gates/asan

spec: ## search the models with Spin, over the production objects
	$(Q)spec/verify.sh

proofs: ## the bounds of sums proven with Coq and Flocq (installs them)
	$(Q)ci/install-deps.sh proofs
	$(Q)BUILD='$(BUILD)' spec/coq/prove.sh

spec-full: ## the same at sizes that take minutes
	$(Q)spec/verify.sh --full

patches: tests ## break the core on purpose; each time the named check must object
	$(Q)ci/check.sh gates/patches

valgrind-unit: ## the Criterion suites under valgrind, with planted defects
	$(Q)ci/check.sh gates/valgrind

check-full: ## check, and what takes longer
	$(Q)ci/install-deps.sh
	$(Q)$(MAKE) $(PARALLEL) tests
	$(Q)ci/check.sh --full

faults: all $(BUILD)/tests/preload/yield.so ## every fault plan on both back ends, schedules and encodings: prints the matrix
	$(Q)faults/matrix.sh

tidy: ## layering, sizes, banned calls, format, rule citations
	$(Q)ci/tidy

mutants: all $(MUTANTS) ## the score, on users' paths: what conform, and run and check, say of back ends wrong on purpose
	$(Q)BUILD='$(BUILD)' faults/score.py --page

strangers: all ## a stranger's back end: 200 runs of healthy variants, and every wrong one
	$(Q)BUILD='$(BUILD)' faults/strangers.py healthy 200
	$(Q)BUILD='$(BUILD)' faults/strangers.py wrong

mutants-judge: all $(MUTANTS) ## the judge alone: drawn histories of mutants and of healthy back ends
	$(Q)ci/install-deps.sh run
	$(Q)BUILD='$(BUILD)' faults/mutants.sh

audit-values: all ## 100,000 values through `alar check`, against an independent enumeration in Python
	$(Q)timeout -k 2 3000 python3 tests/values/audit.py --alar $(BUILD)/alar --values 100000 --floor 99000

SEEDS ?= 2000
FIRST ?= 1
sim: $(SWARM) ## a swarm of simulated runs with drawn faults (SEEDS=2000, FIRST=1)
	$(Q)timeout -k 2 600 $(SWARM) $(BUILD)/sim $(FIRST) $(SEEDS) >$(BUILD)/sim.log || { \
		grep -v '^seed ' $(BUILD)/sim.log; exit 1; }
	$(Q)tail -n 2 $(BUILD)/sim.log

.PHONY: metamorphic prove-judge
VARIANTS ?= 50000
SEED     ?= 1
metamorphic: $(PROGRAM) ## verdicts of histories in other words that say the same (VARIANTS=50000, SEED=1)
	$(Q)timeout -k 2 1800 tests/prove/metamorphic.py --seed $(SEED) --variants $(VARIANTS)

prove-judge: $(PROGRAM) ## the judge against all small histories, healthy ones and their faults
	$(Q)timeout -k 2 3600 tests/prove/prove_judge.py --full --floor 2466911

FUZZ := $(patsubst tests/fuzz/%.c,$(BUILD)/fuzz/%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
fuzz: $(FUZZ) ## libFuzzer on reader and judge, FUZZ_SECONDS (60) each
	$(Q)tests/fuzz/run.sh

# Each benchmark is tests/bench/NAME.py; the plain build is the same without failure points.
bench: benchmarks ## all benchmarks: tables, and $(BUILD)/bench/*.json (bench-NAME: one; BENCH_FULL=1: longer)
	$(Q)python3 tests/bench/bench.py
bench-%: tests/bench/%.py benchmarks
	$(Q)python3 tests/bench/bench.py $*
bench-network: benchmarks ## between two sites of two hosts: network namespaces, so as root; Open MPI as well
	$(Q)ci/install-deps.sh network
	$(Q)$(MAKE) $(PARALLEL) $(MPI_TEST) $(BUILD)/tests/openmpi/raw_log
	$(Q)python3 tests/bench/bench.py network
benchmarks:
	$(Q)ci/install-deps.sh bench
	$(Q)$(MAKE) $(PARALLEL) all $(BENCH)
	$(Q)$(MAKE) $(PARALLEL) FAULTS=0 BUILD=$(BUILD)/plain all $(BENCH:$(BUILD)/%=$(BUILD)/plain/%)

fix: ## format every C file in place
	$(Q)find $(wildcard ref spec faults tests) -name '*.[ch]' -exec \
		clang-format -i --style=file:ci/clang-format {} +

cover: ## coverage of the core and of the judge by the unit suites: 95 % of lines, 90 % of branches each
	$(Q)ci/cover.sh $(CORE_SRC)

INSTALL = BUILD='$(BUILD)' PREFIX='$(PREFIX)' LIBDIR='$(LIBDIR)' DESTDIR='$(DESTDIR)' VERSION='$(VERSION)' LIBS='$(LDLIBS)'
install: all ## install under PREFIX (default /usr/local), staged under DESTDIR
	$(Q)$(INSTALL) ci/install.sh $(HEADERS)

uninstall: ## remove what make install put under PREFIX
	$(Q)$(INSTALL) ci/install.sh --uninstall

deb: all ## Debian packages in $(BUILD)/deb
	$(Q)$(INSTALL) ci/deb.sh $(HEADERS)

clean: ## remove everything that was built
	$(Q)rm -rf $(BUILD)

# ---- rules ---------------------------------------------------------------------------------------

# Written only when the text changes, so that what depends on it is rebuilt exactly then.
.PHONY: always
define stamp
@mkdir -p $(@D)
@printf '%s\n' '$(1)' | cmp -s - $@ || printf '%s\n' '$(1)' > $@
endef
$(BUILD)/flags: always
	$(call stamp,$(CC) $(CPPFLAGS) $(CFLAGS) -fvisibility=$(VISIBILITY) $(LDFLAGS) $(LDLIBS)$(if $(findstring /,$(ALAR_MPI)), $(ALAR_MPI)))
$(BUILD)/sources: always
	$(call stamp,$(LIB_SRC) $(CLI_SRC) $(UNIT_SRC))

$(BUILD)/obj/%.o: %.c $(BUILD)/flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(COMPILE)

# Text that the program prints, as strings of C.
$(BUILD)/text/%.inc: ref/conform/%.txt
	@mkdir -p $(@D)
	$(Q)sed 's/\\/\\\\/g; s/"/\\"/g; s/.*/"&",/' $< >$@
$(BUILD)/obj/ref/conform/conform_skeleton.o $(BUILD)/deep/ref/conform/conform_skeleton.o: $(BUILD)/text/skeleton.inc

# The same sources with the costly clauses of the invariants switched on.
$(BUILD)/deep/%.o: %.c $(BUILD)/flags
	$(call say,CC,"$< (deep)")
	@mkdir -p $(@D)
	$(Q)$(CC) -DALAR_DEEP $(COMPILE)

# The page of `alar view`: its parts put together, as an array of bytes.
PAGE := $(wildcard ref/view/page/*)
$(BUILD)/gen/view_page.c: $(PAGE)
	$(call say,GEN,$@)
	@mkdir -p $(@D)
	$(Q)LC_ALL=C awk -f ref/view/page/embed.awk ref/view/page/page.html > $@
$(BUILD)/obj/view_page.o $(BUILD)/deep/view_page.o: $(BUILD)/gen/view_page.c $(BUILD)/flags
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(COMPILE)

$(BUILD)/alar: $(call objects,obj,$(CLI_SRC)) $(BUILD)/obj/view_page.o $(BUILD)/libparts.a
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS) $^ $(LDLIBS) -o $@

# All parts under their own names, for the program, the plug-ins and the tests; never installed.
$(BUILD)/libparts.a: $(call objects,obj,$(LIB_SRC)) $(BUILD)/sources
# An archive, so that a suite can bring its own alar_check_failed; without the file that holds main.
$(BUILD)/libdeep.a: $(call objects,deep,$(DEEP_SRC)) $(BUILD)/deep/view_page.o $(BUILD)/sources
$(BUILD)/libparts.a $(BUILD)/libdeep.a:
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $(filter %.o,$^)

# One object, in which what is hidden is local: a host's names can't clash with ours.
$(BUILD)/libalar.a: $(call objects,obj,$(LIB_SRC)) $(BUILD)/sources
	$(call say,AR,$@)
	$(Q)ld -r $(filter %.o,$^) -o $(BUILD)/alar.o
	$(Q)objcopy --localize-hidden $(BUILD)/alar.o
	$(Q)rm -f $@ && ar rcs $@ $(BUILD)/alar.o

$(BUILD)/libalar.so: $(call objects,obj,$(LIB_SRC)) $(BUILD)/sources
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS) -shared -Wl,-soname,libalar.so.0,-z,defs $(filter %.o,$^) $(LDLIBS) -o $@

$(BUILD)/unit: $(call objects,deep,$(UNIT_SRC)) $(BUILD)/libdeep.a
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS) $^ -lcriterion -lmpfr -lgmp $(LDLIBS) -o $@

$(SWARM): $(call objects,obj,$(SWARM_SRC)) $(BUILD)/libparts.a
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS) $^ $(LDLIBS) -o $@

$(BUILD)/mutants: $(call objects,obj,$(MUTANT_SRC)) $(BUILD)/libparts.a
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS) $^ $(LDLIBS) -o $@

# One rank of a conformance run, for a process of another language.
$(BUILD)/alar-rank.so: $(call objects,obj,$(RANK_SRC)) $(BUILD)/libparts.a
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS) -shared -Wl,-z,defs,--exclude-libs,ALL $^ $(LDLIBS) -o $@

# A back end of its own, healthy or wrong as it is told: for the score.
$(BUILD)/alar-shm.so: $(call objects,obj,$(sort $(wildcard faults/shm/*.c))) $(BUILD)/libparts.a
	$(call say,LD,$@)
	$(Q)$(CC) $(LDFLAGS) -shared -Wl,-z,defs,--exclude-libs,ALL $^ $(LDLIBS) -lrt -o $@

$(BUILD)/tests/gates/%: $(BUILD)/obj/tests/gates/%.o $(BUILD)/libdeep.a
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) $^ -lcriterion $(LDLIBS) -o $@

# libFuzzer needs clang; the sources are built once more, with sanitizers and the costly clauses.
FUZZ_FLAGS := -std=c11 -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -DALAR_DEEP
$(BUILD)/fuzz/%: tests/fuzz/%.c $(LIB_SRC) $(BUILD)/flags
	$(call say,FUZZ,$<)
	@mkdir -p $(@D)
	$(Q)clang-14 $(CPPFLAGS) $(FUZZ_FLAGS) $(ROUNDING) $(filter %.c,$^) $(LDLIBS) -o $@

# One source, one plug-in per MPI library. A plug-in keeps its own private copy of what it calls.
define mpi_rules
$(BUILD)/$(1)/%.o: %.c $(BUILD)/flags
	$$(call say,MPICC,"$$< ($(1))")
	@mkdir -p $$(@D)
	$$(Q)MPICH_CC=$(CC) OMPI_CC=$(CC) mpicc.$(1) $$(COMPILE)

$(BUILD)/alar-$(1).so: $(call objects,$(1),$(MPI_SRC)) $(PARTS)
	$$(call say,LD,$$@)
	$$(Q)MPICH_CC=$(CC) OMPI_CC=$(CC) mpicc.$(1) $(LDFLAGS) -shared -Wl,-z,defs,--exclude-libs,ALL \
		$$^ $(LDLIBS) -o $$@
endef
$(foreach library,mpich openmpi,$(eval $(call mpi_rules,$(library))))

$(call objects,obj,$(wildcard tests/preload/*.c)) $(foreach library,mpich openmpi,$(call objects,$(library),$(RECORD_SRC))): VISIBILITY := default

# The recorders: preloaded into programs that know nothing of us, so they show MPI's names alone.
# What every MPI function does beside is generated from the library's own header.
define recorder_rules
$(BUILD)/$(1)/wrap.c: ref/record/mpi/wrap.awk
	@mkdir -p $$(@D)
	$$(Q)echo '#include <mpi.h>' | mpicc.$(1) -E -P -x c - | awk -f $$< >$$@.tmp && mv $$@.tmp $$@

$(BUILD)/$(1)/wrap.o: $(BUILD)/$(1)/wrap.c ref/record/mpi/record_mpi.h $(BUILD)/flags
	$$(call say,CC,$$@)
	$$(Q)MPICH_CC=$(CC) OMPI_CC=$(CC) mpicc.$(1) $$(COMPILE) -Wno-deprecated-declarations

$(BUILD)/alar-record-$(1).so: $(call objects,$(1),$(RECORD_SRC)) $(BUILD)/$(1)/wrap.o $(PARTS)
	$$(call say,LD,$$@)
	$$(Q)MPICH_CC=$(CC) OMPI_CC=$(CC) mpicc.$(1) $(LDFLAGS) -shared -Wl,-z,defs,--exclude-libs,ALL \
		$$^ $(LDLIBS) -lpthread -o $$@
endef
$(foreach library,mpich openmpi,$(eval $(call recorder_rules,$(library))))

define mpich_program_rule
$(BUILD)/tests/$(1)/%: $(BUILD)/mpich/tests/$(1)/%.o $(PARTS)
	$$(call say,LD,$$@)
	@mkdir -p $$(@D)
	$$(Q)MPICH_CC=$(CC) mpicc.mpich $(LDFLAGS) $$^ $(LDLIBS) $(if $(filter bench,$(1)),-lmpfr -lgmp) -o $$@
endef
$(foreach part,mpi bench,$(eval $(call mpich_program_rule,$(part))))

# Preloaded into ranks for speed where there are more of them than cores; never into what is timed.
$(BUILD)/tests/preload/%.so: $(BUILD)/obj/tests/preload/%.o
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -shared $< -ldl -o $@

$(BUILD)/tests/network/router: $(BUILD)/obj/tests/network/router.o
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) $< -o $@

# One probe for each library, which knows nothing of us.
define probe_rule
$(BUILD)/tests/matrix/probe-$(1): $(BUILD)/$(1)/tests/matrix/probe.o
	$$(call say,LD,$$@)
	@mkdir -p $$(@D)
	$$(Q)MPICH_CC=$(CC) OMPI_CC=$(CC) mpicc.$(1) $$< -lm -o $$@
endef
$(foreach library,mpich openmpi,$(eval $(call probe_rule,$(library))))

# Programs that know nothing of us, as Open MPI builds them.
$(BUILD)/tests/openmpi/%: $(BUILD)/openmpi/tests/mpi/%.o
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)OMPI_CC=$(CC) mpicc.openmpi $< -o $@

include ref/python/python.mk

-include $(shell find $(BUILD) -name '*.d' -type f 2>/dev/null)
