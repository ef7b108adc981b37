# Thin front of CMake. `make demo` and `make test` do all set-up by themselves.
#
#   make demo      autoschedule, build, run and check an application on a real photograph
#   make test      build everything and run all tests
#   make check-full  compare thousands of schedules with the plugin of the Halide wheel (20-30 min)
#   make check-mutants  let the tests find small faults in the features, one by one (10 min)
#   make fuzz      random pipelines, schedules and inputs for SECONDS (default 3600), see docs/reliability.md
#   make check-pipelines  hundreds of unusual pipelines: compiled for all back ends, run on the CPU
#                  through OpenCL (20 min)
#   make plugin    build/release/libautoschedule_anderson2021.so and the environment in .venv
#   make explain APP=harris  schedule an application and show why it is scheduled so (docs/explain.md)
#   make apps      build all applications (see apps/README.md)
#   make bench     time, memory and predicted cost against the plugin of the Halide wheel (hours)
#   make bench-apps  the applications scheduled by hand, by this plugin and by others: times on a GPU,
#                  elsewhere what can be known without one (an hour)
#   make check-ptx assemble the PTX of a thousand random schedules for three architectures (an hour)
#   make app-images  the pictures of docs/apps
#   make tutorial-images  the pictures of docs/tutorial.md
#   make wheel     the Python package, in dist/ (docs/install.md)
#   make check-package  the Python package from a source archive, in a fresh environment (10 min)
#   make lint      layer check, formatting, documents that are generated from tables
#   make format    reformat all sources
#   make clean     remove build/ (keeps .venv)

VENV ?= $(CURDIR)/.venv
PRESET ?= release
BUILD := build/$(PRESET)
JOBS ?= $(shell nproc)
CMAKE := $(VENV)/bin/cmake
PYTHON := $(VENV)/bin/python

.DEFAULT_GOAL := plugin
.PHONY: setup configure plugin build test check-full check-mutants check-pipelines fuzz unit demo explain apps bench bench-apps check-ptx app-images tutorial-images wheel check-package lint format clean

setup:
	@ANDERSON_VENV=$(VENV) scripts/setup.sh

configure: setup
	@ANDERSON_VENV=$(VENV) scripts/configure.sh $(PRESET) --log-level=WARNING

plugin: configure
	@$(CMAKE) --build $(BUILD) -j $(JOBS) --target autoschedule_anderson2021

build: configure
	@$(CMAKE) --build $(BUILD) -j $(JOBS)

test: build lint
	@cd $(BUILD) && $(VENV)/bin/ctest -j $(JOBS) --output-on-failure

unit: build
	@cd $(BUILD) && $(VENV)/bin/ctest -j $(JOBS) --output-on-failure -LE integration

# CHECK_WEIGHTS may name a folder with further weights files, CHECK_VECTORS one with schedules of the
# program that trained the weights (see test/differential/check_as_trained.py).
CHECK_WEIGHTS ?=
CHECK_VECTORS ?=
check-full: build
	@$(PYTHON) test/differential/compare_with_reference.py \
	    --plugin $(BUILD)/libautoschedule_anderson2021.so --both --apps --random 60 --index 12 \
	    --seeds 30 --back-seeds 14 --heavy-seeds 3 --jobs $(JOBS) --minimum 5000 \
	    --report $(BUILD)/differential/full $(if $(CHECK_WEIGHTS),--weights $(CHECK_WEIGHTS))
	@$(if $(CHECK_VECTORS),$(PYTHON) test/differential/check_as_trained.py \
	    --plugin $(BUILD)/libautoschedule_anderson2021.so $(CHECK_VECTORS))

# With the result in docs/compatibility.md.
check-mutants: setup
	@PATH=$(VENV)/bin:$$PATH $(PYTHON) test/mutation/mutate_features.py --jobs $(JOBS) --docs

# Goes on where the last run ended; build/fuzz.*.seed hold the seeds.
SECONDS ?= 3600
fuzz: build
	@$(BUILD)/fuzz/fuzz_search --seconds=$(SECONDS) --state=build/fuzz.search.seed & search=$$!; \
	$(PYTHON) test/reliability/fuzz_pipelines.py $(BUILD)/libautoschedule_anderson2021.so \
	    --seconds $(SECONDS) --state build/fuzz.pipelines.seed; pipelines=$$?; \
	wait $$search && $(BUILD)/fuzz/fuzz_readers --seconds=60 && exit $$pipelines

# With the result in docs/reliability.md.
check-pipelines: plugin
	@$(PYTHON) test/reliability/run_pipelines.py $(BUILD)/libautoschedule_anderson2021.so \
	    --jobs $(JOBS) --work $(BUILD)/pipelines --report $(BUILD)/pipelines/report.json
	@$(PYTHON) test/reliability/figures.py $(BUILD)/pipelines/report.json

demo: plugin
	@$(PYTHON) scripts/demo.py

APP ?= harris
explain: plugin
	@$(MAKE) -C apps/$(APP) explain

apps: plugin
	@$(MAKE) -C apps build

bench: plugin
	@$(PYTHON) test/bench/bench.py --scaling $(BENCH_ARGS)

# E.g. BENCH_APPS_ARGS="--build-only --target host-cuda-cuda_capability_86" beforehand, and on the
# machine with the GPU BENCH_APPS_ARGS=--measure-only.
bench-apps: plugin
	@$(PYTHON) test/bench/bench_apps.py --plugin $(BUILD)/libautoschedule_anderson2021.so $(BENCH_APPS_ARGS)

check-ptx: plugin
	@$(PYTHON) test/bench/check_ptx.py --plugin $(BUILD)/libautoschedule_anderson2021.so $(CHECK_PTX_ARGS)

app-images: plugin
	@$(PYTHON) scripts/app_images.py --plugin $(BUILD)/libautoschedule_anderson2021.so $(APP_IMAGES_ARGS)

tutorial-images: plugin
	@$(PYTHON) scripts/tutorial_images.py --plugin $(BUILD)/libautoschedule_anderson2021.so

wheel: setup
	@ANDERSON_VENV=$(VENV) scripts/build_wheel.sh

check-package: setup
	@ANDERSON_VENV=$(VENV) scripts/check_package.sh

lint: setup
	@$(PYTHON) scripts/check_layers.py
	@$(PYTHON) scripts/check_docs.py $(BUILD)
	@scripts/format.sh --check

format:
	@scripts/format.sh

clean:
	rm -rf build
