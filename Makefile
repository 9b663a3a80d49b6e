# The commands of everyday work. Each does its own set-up; Meson does the building.
#   make            build into build/            make test       what must pass before a commit
#   make demo       show the main job            make test-full  everything, sanitizers included
#   make bench      compare with other engines   make lint, fmt, gen, wheel, clean
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := build
.PHONY: build setup install demo test test-c test-python test-asan test-asan-full test-tsan test-full bench gen fmt lint \
	wheel clean

ROOT := $(CURDIR)
BIN := $(ROOT)/.venv/bin
PYTHON := $(BIN)/python
export PATH := $(BIN):$(PATH)
export PYTHONDONTWRITEBYTECODE := 1
unexport PYTHONPATH PYTHONHOME

TPCH := build/tpch
QUIET_NINJA := --quiet

setup:
	@tools/setup

# configure(folder, preset, site-packages folder, more options)
define configure
	[ -f $(1)/build.ninja ] || meson setup $(1) --native-file presets/$(2).ini --prefix $(ROOT)/$(1)/prefix \
		--libdir lib -Dpython.platlibdir=$(3) -Dpython.purelibdir=$(3) $(4) >/dev/null
	[ -z "$$(find tests -name '*_test.c' -newer $(1)/build.ninja)" ] || meson setup --reconfigure $(1) >/dev/null
	ninja -C $(1) $(QUIET_NINJA)
endef

build: setup
	@$(call configure,build,release,$(shell ls -d $(ROOT)/.venv/lib/python3*/site-packages 2>/dev/null || echo .))

# The Python package goes into .venv, the C library into build/prefix.
install: build
	@meson install -C build --no-rebuild --only-changed --quiet

$(TPCH)/sf%/.done: | setup
	@echo "making the TPC-H tables of scale $*"
	@$(PYTHON) bench/data --scale $* --schema decimal

demo: install $(TPCH)/sf1/.done
	@$(PYTHON) examples/demo.py $(TPCH)/sf1
	@$(call compile_example,quickstart)
	@build/examples/quickstart $(TPCH)/sf1

# compile_example(name): against the installed library, as a user would.
define compile_example
	mkdir -p build/examples
	PKG_CONFIG_PATH=$(ROOT)/build/prefix/lib/pkgconfig; export PKG_CONFIG_PATH; \
	$(or $(CC),cc) -std=c17 -O2 -Wall -Wextra -Werror -o build/examples/$(1) examples/$(1).c \
		$$(pkg-config --cflags --libs nanuk) -Wl,-rpath,$(ROOT)/build/prefix/lib
endef

test: test-c test-asan test-python lint

test-c: build
	@meson test -C build --no-rebuild --quiet --print-errorlogs

test-python: install $(TPCH)/sf0.01/.done
	@$(PYTHON) -m pytest -q tests

# The sanitizers see the C tests and a part of the Python ones; the interpreter's own leaks are not ours.
ASAN_TESTS ?= tests/test_slt.py
ASAN_ENV = LD_PRELOAD=$$(cc -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 \
	UBSAN_OPTIONS=print_stacktrace=1 PYTHONPATH=$(ROOT)/build-asan/site NANUK_SLT=quick

define build_asan
	$(call configure,build-asan,asan,$(ROOT)/build-asan/site)
	meson install -C build-asan --no-rebuild --only-changed --quiet --tags python-runtime
endef

test-asan: setup $(TPCH)/sf0.01/.done
	@$(build_asan)
	@meson test -C build-asan --no-rebuild --quiet --print-errorlogs
	@$(ASAN_ENV) $(PYTHON) -m pytest -q -p no:cacheprovider $(wildcard $(ASAN_TESTS))

test-asan-full: setup $(TPCH)/sf0.01/.done
	@$(build_asan)
	@$(subst NANUK_SLT=quick,,$(ASAN_ENV)) $(PYTHON) -m pytest -q -p no:cacheprovider tests

test-tsan: setup $(TPCH)/sf0.01/.done
	@$(call configure,build-tsan,tsan,$(ROOT)/build-tsan/site)
	@meson install -C build-tsan --no-rebuild --only-changed --quiet --tags python-runtime
	@meson test -C build-tsan --no-rebuild --quiet --print-errorlogs
	@LD_PRELOAD=$$(cc -print-file-name=libtsan.so) TSAN_OPTIONS=report_signal_unsafe=0 \
		PYTHONPATH=$(ROOT)/build-tsan/site NANUK_SLT=threads \
		$(PYTHON) -m pytest -q -p no:cacheprovider $(wildcard $(ASAN_TESTS))

test-full: test test-asan-full test-tsan wheel

# BASE=rev compares with another revision instead of with other engines; ARGS goes to bench/run.
bench: install $(TPCH)/sf1/.done
	@$(PYTHON) bench/run $(if $(BASE),--base $(BASE)) $(ARGS)

gen: install
	@$(PYTHON) tools/gen

fmt: setup
	@git ls-files '*.c' '*.h' | xargs -r clang-format -i --style=file
	@ruff format --quiet .

lint: install
	@$(PYTHON) tools/lint

wheel: setup
	@rm -rf build/wheel && mkdir -p build/wheel
	@$(BIN)/pip wheel --quiet --no-build-isolation --no-deps --wheel-dir build/wheel .
	@ls -l build/wheel | awk 'NR > 1 { printf "%s  %.1f MB\n", $$9, $$5 / 1e6; if ($$5 > 10e6) exit 1 }'

clean:
	@rm -rf build build-asan build-tsan build-debug dist
