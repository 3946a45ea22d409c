# archiver: `make demo` shows it at work, `make test` proves it. Both install what they need first.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

PREFIX ?= /usr/local
SWIFT ?= swift
MINUTES ?= 60
FUZZ_SECONDS ?= 60
MUTATIONS ?= 100000
# The release binary carries the Swift runtime: it runs where no toolchain is installed.
# With libdeflate a first capture takes little more than half the time; where it is not to be had, zlib does all.
TRAITS ?= $(shell pkg-config --exists libdeflate 2>/dev/null && echo --traits Libdeflate)
RELEASE_FLAGS = -c release --static-swift-stdlib -Xlinker --strip-all $(TRAITS)
RELEASE = $(RELEASE_FLAGS) --product archiver
PROGRAM = "$$($(SWIFT) build $(RELEASE) --show-bin-path)/archiver"

# What building needs, what makes the program faster, and what only the tests use as oracles and the demo for showing.
BUILD_PACKAGES := zlib1g-dev libsqlite3-dev pkg-config
SPEED_PACKAGES := libdeflate-dev
TEST_PACKAGES := $(BUILD_PACKAGES) diffutils patch rsync acl attr git util-linux python3 python3-cbor2 time chromium chromium-driver

.PHONY: help setup setup-test build build-tests demo test browser test-debug soak soak-faults fuzz mutations check format install bench bench-lines build-benchmarks year clean

help: ## Show this list.
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 22

setup: ## Install the system packages that building needs, if any is missing.
	@fixtures/setup.sh $(BUILD_PACKAGES)
	@fixtures/setup.sh $(SPEED_PACKAGES) || echo "going on without $(SPEED_PACKAGES)"

setup-test:
	@fixtures/setup.sh $(TEST_PACKAGES)

build: setup ## Build the release binary.
	@$(SWIFT) build $(RELEASE)

demo: build ## Watch, edit, list, compare, destroy and restore a real tree.
	@fixtures/demo.sh $(PROGRAM)

# One build serves all that tests: optimised code, warnings as errors. A debugger's access to internal names costs nothing.
OPTIMISED = -c release -Xswiftc -enable-testing $(TRAITS) --scratch-path .build/tests
BUILD_TESTS = ARCHIVER_STRICT=1 ARCHIVER_TESTS=optimised $(SWIFT) build $(OPTIMISED)
# `swift test` would build everything once more, with other arguments.
RUN_TESTS = ARCHIVER_STRICT=1 ARCHIVER_TESTS=optimised $(SWIFT) test --skip-build $(OPTIMISED)

build-tests: setup setup-test
	@$(BUILD_TESTS) --build-tests

# What ships is what is tested: code as it is optimised, and the program that `make build` makes.
test: build-tests build ## Run all tests, two minutes of fuzzing, five minutes of faults in turn.
	@export ARCHIVER_BINARY=$(PROGRAM); $(call logged,test,$(RUN_TESTS))
	@$(MAKE) --no-print-directory browser
	@FUZZ_SECONDS=$${FUZZ_SECONDS:-120} $(MAKE) --no-print-directory fuzz
	@SOAK_SECONDS=$${SOAK_SECONDS:-300} $(MAKE) --no-print-directory soak

# The rules of accessibility are axe-core's, which a Python package carries.
AXE = .build/axe/axe_playwright_python/axe.min.js
browser: setup-test build $(AXE) ## Try the page of `archiver browse` in a headless browser.
	@python3 -B Tests/Browser/browser_tests.py $(PROGRAM) $$([ ! -f $(AXE) ] || echo --axe $(AXE))

$(AXE):
	@mkdir -p .build/axe && cd .build/axe \
		&& python3 -m pip download -q --no-deps --dest . axe-playwright-python==0.1.8 && python3 -m zipfile -e *.whl . \
		|| echo "going on without axe-core"

test-debug: setup-test build ## Run the tests on a debug build: it is quicker to build again, and the tests are slower.
	@export ARCHIVER_STRICT=1 ARCHIVER_BINARY=$(PROGRAM); $(call logged,test-debug,$(SWIFT) test)

# Runs a command, keeps what it prints in .build, and repeats what failed at the end.
logged = mkdir -p .build; $(2) 2>&1 | tee .build/$(1).log || { echo "What failed (all of it is in .build/$(1).log):"; \
	grep -E '✘|^↳|error:' .build/$(1).log | tail -n 100; exit 1; }

# The release binary under random changes and faults; SEED=… repeats the order of the faults.
soak: build-tests build ## Watch, change and break things for MINUTES (default 60) or SOAK_SECONDS, up to the first difference.
	@programs="$$($(BUILD_TESTS) --show-bin-path)"; python3 -B Tests/Soak/soak.py \
		$(PROGRAM) "$$programs/churn" "$$programs/examples" $${SOAK_SECONDS:-$$(($(MINUTES) * 60))} $(SEED)

soak-faults: build-tests build ## Fail system calls, and the power, at random for MINUTES (default 60).
	@export ARCHIVER_BINARY=$(PROGRAM); SOAK_MINUTES=$(MINUTES) $(RUN_TESTS) --filter 'FaultTests/soak|PowerLossTests/soak'

fuzz: build-tests ## Look for inputs that stop a decoder, for FUZZ_SECONDS (default 60), with libFuzzer.
	@fixtures/fuzz.py $(FUZZ_SECONDS)

# One archive in two is changed in its bytes, the other in what they mean.
mutations: build-tests ## Try MUTATIONS (default 100,000) damaged archives of each kind.
	@MUTATIONS=$(MUTATIONS) $(RUN_TESTS) --filter '^ArchiverKitTests\.MutatedArchive'

check: setup ## Check the format of the sources, build everything with warnings as errors, and a package outside.
	@$(SWIFT) format lint --strict --recursive --parallel Package.swift Sources Tests fixtures/package
	@fixtures/lint.sh
	@$(MAKE) --no-print-directory build-tests
	@$(SWIFT) build --package-path fixtures/package --scratch-path .build/outside
	@.build/outside/debug/everything
	@.build/outside/debug/interface
	@.build/outside/debug/shelf
	@! ldd .build/outside/debug/shelf | grep -E 'sqlite|libz|deflate'

format: ## Format the sources.
	@$(SWIFT) format --in-place --recursive --parallel Package.swift Sources Tests

install: build ## Install the binary below PREFIX (default /usr/local).
	@install -D -m 0755 $(PROGRAM) "$(DESTDIR)$(PREFIX)/bin/archiver"

# ROUNDS=3 ONLY=first-usr-share,list SCALE=small REPOSITORY=path/of/a/git/repository JSON=file; `make bench-lines` tells
# what ONLY can name.
BENCHMARKS = $(RELEASE_FLAGS) --product benchmarks
BENCH = "$$($(SWIFT) build $(BENCHMARKS) --show-bin-path)/benchmarks" $(PROGRAM)

bench: build build-benchmarks ## Compare speed and size with what is installed of restic, borg, git and watchman.
	@$(BENCH) $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(ONLY),--only $(ONLY)) $(if $(SCALE),--scale $(SCALE)) \
		$(if $(REPOSITORY),--repository $(REPOSITORY)) $(if $(JSON),--json $(JSON))

bench-lines: build build-benchmarks ## List the lines of the benchmark.
	@$(BENCH) --list

build-benchmarks: setup
	@$(SWIFT) build $(BENCHMARKS)

# PLACE=dir (some GiB; /dev/shm is quick) WEEKS=52 INTERVAL=5 PICTURE=file.svg
YEAR = $(RELEASE_FLAGS) --product simulated-year
year: setup ## Let archives grow for a simulated year of work, with and without thinning.
	@$(SWIFT) build $(YEAR)
	@fixtures/year.sh "$$($(SWIFT) build $(YEAR) --show-bin-path)/simulated-year" "$(PICTURE)" \
		$(if $(WEEKS),--weeks $(WEEKS)) $(if $(INTERVAL),--interval $(INTERVAL))

clean: ## Remove what was built.
	@rm -rf .build
