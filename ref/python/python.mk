# Targets of the Python package.
.PHONY: python-programs python-native wheel torch torch-frameworks bench-torch frameworks

# The hot part of the recorder, a module of CPython's stable interface: where there is none of its headers, the
# recorder does without. A directory with it belongs on PYTHONPATH beside ref/python.
PYTHON_INCLUDE ?= $(patsubst %/Python.h,%,$(lastword $(sort $(wildcard /usr/include/python3.[1-9][0-9]/Python.h))))
NATIVE_SRC := $(sort $(wildcard ref/python/native/*.c))
NATIVE := $(if $(PYTHON_INCLUDE),$(BUILD)/python/_alar_torch.abi3.so)
all: $(NATIVE)
python-native: $(NATIVE)
$(BUILD)/obj/ref/python/native/%.o: CPPFLAGS += -isystem $(PYTHON_INCLUDE)
$(BUILD)/python/_alar_torch.abi3.so: $(call objects,obj,$(NATIVE_SRC))
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -shared $^ -o $@

# What the package packs: without failure points and MPI, and with yajl inside.
python-programs:
	$(Q)$(MAKE) FAULTS=0 YAJL=-l:libyajl_s.a $(BUILD)/alar $(BUILD)/libalar.so

wheel: ## a wheel of the Python package alar, in build/dist
	$(Q)ci/wheel.sh $(BUILD)/dist

torch: deps-matrix ## the torch recorder with torch 1.13 and 2.13, Flight Recorder dumps, the wheel
	$(Q)$(MAKE) $(PARALLEL) all
	$(Q)ci/check.sh torch

torch-frameworks: deps-matrix ## the adapters of alar.Log with transformers' Trainer, torchtitan and Lightning
	$(Q)$(MAKE) $(PARALLEL) all
	$(Q)ci/check.sh --full torch/log_frameworks torch/log_lightning

bench-torch: deps-matrix ## what alar.Log buys in PyTorch, beside what frameworks do: a table of tests/bench/README.md
	$(Q)$(MAKE) $(PARALLEL) all
	$(Q)python3 tests/bench/bench.py torch_log

frameworks: ## what frameworks really log: writes spec/frameworks.md (MEGATRON=, TORCHTITAN=, NANOCHAT=, MINDSPEED=: checkouts)
	$(Q)$(MAKE) $(PARALLEL) $(BUILD)/alar $(BUILD)/libalar.so
	$(Q)ALAR=$(BUILD)/alar python3 tests/frameworks/frameworks.py --out spec/frameworks.md
