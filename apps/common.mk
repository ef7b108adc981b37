# Builds and runs one application. An application's Makefile sets
#   APP         name of its folder
#   GENERATOR   name of its generator (default: APP)
#   TEST_SIZES  output sizes to test besides the estimated one
#   PHOTO       set to 1 if the filter works on a photograph
# and includes this file.
#
# Targets: build (default), test, schedule (show the automatic one), explain (why it is what it is,
# as text and as OUT/<APP>.html), bench, autotune (try random schedules and keep the best), clean.
#
# What to vary, on the command line or in the environment:
#   HL_TARGET            default: host-cuda-... if a CUDA device is usable, else host-opencl
#   HL_WEIGHTS_DIR       weights of the cost model; default: weights/<APP>.weights if there is
#                        one, else those built into the plugin
#   HL_DEBUG_AUTOSCHEDULE  log level of the search
#   PARALLELISM, BEAM_SIZE, SEED, RANDOM_DROPOUT, RANDOMIZE_TILINGS, SEARCH_SPACE_OPTIONS,
#   NUM_PASSES           options of the autoscheduler; AUTOSCHEDULER_ARGS for any others
#   GENERATOR_PARAMS     parameters of the generator, e.g. "width=640 height=480"
#   SCHEDULE_HEADER      replay this emitted schedule instead of searching
#   COMPARE              record of another run (OUT/<APP>.json) to `explain` the difference to
#   RUNS                 repetitions of `bench`
#   SAMPLES              number of schedules that `autotune` tries
#   MEASURE              how often `autotune` times each; 0: go by the predicted time (default:
#                        RUNS with CUDA, else 0)
#   TUNE_ARGS            further options of the loop, e.g. "--batch_size 16 --retrain each"; see
#                        scripts/autotune_loop.sh --help
#   TUNE_FOLDER          where `autotune` keeps its log and samples (default: OUT/autotune)
#   PLUGIN, VENV, OUT    where things are

ROOT := $(abspath $(dir $(lastword $(MAKEFILE_LIST)))/..)
SUPPORT := $(ROOT)/apps/support
GENERATOR ?= $(APP)
RUNS ?= 20
SAMPLES ?= 32

VENV ?= $(ROOT)/.venv
PYTHON := $(VENV)/bin/python
ifeq ($(wildcard $(PYTHON)),)
$(error there is no $(PYTHON): run `make plugin` in $(ROOT) first)
endif
HALIDE := $(shell $(PYTHON) -c 'import halide, os; print(os.path.dirname(halide.__file__))')
PLUGIN ?= $(ROOT)/build/release/libautoschedule_anderson2021.so

ifndef HL_TARGET
HL_TARGET := $(shell $(PYTHON) $(SUPPORT)/gpu.py target)
endif
ifndef PARALLELISM
PARALLELISM := $(shell $(PYTHON) $(SUPPORT)/gpu.py parallelism)
endif
ifndef HL_WEIGHTS_DIR
HL_WEIGHTS_DIR := $(wildcard $(ROOT)/weights/$(APP).weights)
endif
ifneq ($(HL_WEIGHTS_DIR),)
export HL_WEIGHTS_DIR
endif

# option NAME,VALUE: the argument, unless VALUE is empty
option = $(if $(2),autoscheduler.$(1)=$(2))
AUTOSCHEDULER := autoscheduler=Anderson2021 \
    $(call option,parallelism,$(PARALLELISM)) \
    $(call option,beam_size,$(BEAM_SIZE)) \
    $(call option,random_dropout_seed,$(SEED)) \
    $(call option,random_dropout,$(RANDOM_DROPOUT)) \
    $(call option,randomize_tilings,$(RANDOMIZE_TILINGS)) \
    $(call option,search_space_options,$(SEARCH_SPACE_OPTIONS)) \
    $(call option,num_passes,$(NUM_PASSES)) \
    $(AUTOSCHEDULER_ARGS)

CXX ?= g++
CXXFLAGS ?= -O2
APP_CXXFLAGS := -std=c++17 -Wall -Wextra -I$(ROOT)/apps -isystem $(HALIDE)/include $(CXXFLAGS)

OUT ?= build/$(HL_TARGET)
FILTER := $(OUT)/filter
EMIT := static_library,c_header
PHOTO_FILE := $(SUPPORT)/build/photo.ppm

# With a replayed schedule the generator needs neither plugin nor options.
PLAIN_GENERATOR := $(OUT)/$(APP).generator
ifdef SCHEDULE_HEADER
AUTO_GENERATOR := $(OUT)/$(APP).replay_generator
AUTO_ARGUMENTS := target=$(HL_TARGET)-no_runtime $(GENERATOR_PARAMS)
else
AUTO_GENERATOR := $(PLAIN_GENERATOR)
AUTO_ARGUMENTS := -p $(PLUGIN) target=$(HL_TARGET)-no_runtime $(AUTOSCHEDULER) $(GENERATOR_PARAMS)
AUTO_EMIT := ,schedule,featurization
AUTO_DEPENDS := $(PLUGIN) $(wildcard $(HL_WEIGHTS_DIR))
endif

.DEFAULT_GOAL := build
.PHONY: build test schedule explain bench autotune clean FORCE
.DELETE_ON_ERROR:
.SUFFIXES:

build: $(FILTER)

# On the CPU a kernel keeps the arrays of all threads of a block on its stack. The size asked for
# here is also that of the threads of PoCL.
RUN_FILTER := $(if $(findstring opencl,$(HL_TARGET)),ulimit -S -s 262144 || true;) $(FILTER)

test: $(FILTER) $(if $(PHOTO),$(PHOTO_FILE))
	$(RUN_FILTER) $(if $(PHOTO),--input $(PHOTO_FILE) --output $(OUT))
	$(foreach size,$(TEST_SIZES),$(RUN_FILTER) --size $(size) &&) true

bench: $(FILTER)
	$(RUN_FILTER) --runs $(RUNS)

schedule: $(OUT)/$(GENERATOR)_auto.a
	@cat $(OUT)/$(GENERATOR)_auto.schedule.h

# Always a search: a schedule that is replayed has no alternatives.
RECORD := $(OUT)/$(APP).json
$(RECORD): $(PLAIN_GENERATOR) $(OUT)/arguments $(PLUGIN) $(wildcard $(HL_WEIGHTS_DIR))
	$(call run_generator,$<,explain,schedule,-p $(PLUGIN) target=$(HL_TARGET)-no_runtime \
	    $(AUTOSCHEDULER) autoscheduler.record_path=$@ $(GENERATOR_PARAMS))

explain: $(RECORD)
	@$(PYTHON) $(ROOT)/scripts/anderson2021-explain $< --html $(OUT)/$(APP).html \
	    $(if $(COMPARE),--compare $(COMPARE))

TUNE_FOLDER ?= $(OUT)/autotune
ifndef MEASURE
MEASURE := $(if $(findstring cuda,$(HL_TARGET)),$(RUNS),0)
endif

# Samples are linked like the filter program, with another automatic variant.
autotune: $(PLAIN_GENERATOR) $(PLUGIN) $(if $(filter-out 0,$(MEASURE)),$(FILTER))
	$(PYTHON) $(SUPPORT)/autotune.py --folder $(TUNE_FOLDER) --generator $(abspath $<) \
	    --name $(GENERATOR) --samples $(SAMPLES) --measure $(MEASURE) \
	    --link '$(call link_filter,@LIBRARY@)' $(TUNE_ARGS) \
	    -- -p $(PLUGIN) target=$(HL_TARGET)-no_runtime $(AUTOSCHEDULER) $(GENERATOR_PARAMS)

clean:
	rm -rf build

$(PLUGIN):
	@echo "$@ is missing: run \`make plugin\` in $(ROOT), or set PLUGIN" >&2; exit 1

$(PHOTO_FILE): $(SUPPORT)/photo.py
	$(PYTHON) $< $@

# compile_generator FLAGS
compile_generator = $(CXX) $(APP_CXXFLAGS) $(1) $< -o $@ $(HALIDE)/lib64/libHalide_GenGen.a \
    -L$(HALIDE)/lib64 -lHalide -Wl,-rpath,$(HALIDE)/lib64 -ldl -lpthread

$(PLAIN_GENERATOR): $(APP)_generator.cpp $(SUPPORT)/replay_schedule.h
	@mkdir -p $(OUT)
	$(call compile_generator)

$(OUT)/$(APP).replay_generator: $(APP)_generator.cpp $(SUPPORT)/replay_schedule.h $(SCHEDULE_HEADER)
	@mkdir -p $(OUT)
	$(call compile_generator,-DAPP_SCHEDULE_HEADER='"$(abspath $(SCHEDULE_HEADER))"')

# Holds what the last run was asked for; changes only if that does.
ARGUMENTS := $(HL_WEIGHTS_DIR) $(abspath $(SCHEDULE_HEADER)) $(AUTO_ARGUMENTS)
$(OUT)/arguments: FORCE
	@mkdir -p $(OUT)
	@printf '%s\n' "$(ARGUMENTS)" | cmp -s - $@ || printf '%s\n' "$(ARGUMENTS)" > $@

# run_generator PROGRAM,VARIANT,OUTPUTS,ARGUMENTS
run_generator = $(abspath $(1)) -g $(GENERATOR) -n $(GENERATOR)_$(2) \
    -f $(GENERATOR)_$(2) -o $(OUT) -e $(3) $(4)

$(OUT)/$(GENERATOR)_cpu.a: $(PLAIN_GENERATOR) $(OUT)/arguments
	$(call run_generator,$<,cpu,$(EMIT),target=host-no_runtime $(GENERATOR_PARAMS))

$(OUT)/$(GENERATOR)_manual.a: $(PLAIN_GENERATOR) $(OUT)/arguments
	$(call run_generator,$<,manual,$(EMIT),target=$(HL_TARGET)-no_runtime $(GENERATOR_PARAMS))

$(OUT)/$(GENERATOR)_auto.a: $(AUTO_GENERATOR) $(OUT)/arguments $(AUTO_DEPENDS)
	$(call run_generator,$<,auto,$(EMIT)$(AUTO_EMIT),$(AUTO_ARGUMENTS))

$(OUT)/runtime.a: $(PLAIN_GENERATOR)
	$(abspath $<) -r runtime -o $(OUT) -e static_library target=$(HL_TARGET)

LIBRARIES := $(patsubst %,$(OUT)/$(GENERATOR)_%.a,auto manual cpu) $(OUT)/runtime.a
FILTER_HEADERS := $(SUPPORT)/filter_app.h $(SUPPORT)/image_io.h
OBJECTS := $(OUT)/main.o $(OUT)/filter_app.o $(OUT)/image_io.o

# The libraries come with the headers that the main program includes.
$(OUT)/main.o: filter.cpp $(LIBRARIES) $(FILTER_HEADERS)
	$(CXX) $(APP_CXXFLAGS) -I$(OUT) -c $< -o $@

$(OUT)/%.o: $(SUPPORT)/%.cpp $(FILTER_HEADERS)
	@mkdir -p $(OUT)
	$(CXX) $(APP_CXXFLAGS) -c $< -o $@

# link_filter LIBRARY-OF-THE-AUTOMATIC-VARIANT
link_filter = $(CXX) $(CXXFLAGS) $(OBJECTS) $(1) $(filter-out %_auto.a,$(LIBRARIES)) -ldl -lpthread

$(FILTER): $(LIBRARIES) $(OBJECTS)
	$(call link_filter,$(OUT)/$(GENERATOR)_auto.a) -o $@
