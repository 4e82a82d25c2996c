# LightNet. `make demo` shows it, `make test` proves it; the rest is in CONTRIBUTING.md.
# The build itself is CMake; this file only names the things people do. V=1 shows its output.

PREFIX  ?= /usr/local
DESTDIR ?=
JOBS    ?= $(shell nproc)

.PHONY: all demo test test-long check bench install deb wheel format clean

all: build/build.ninja
	@tools/quiet.sh "Building LightNet" build/build.log cmake --build build -j $(JOBS)

build/build.ninja:
	@tools/deps.sh build
	@tools/quiet.sh "Configuring" build/configure.log cmake --preset release -DLN_TESTS=OFF -DLN_WERROR=OFF

demo: all
	@build/digits

# Without the packages for another processor, or for Debian packages, their stages are skipped, and say so.
test:
	tools/deps.sh test
	-tools/deps.sh aarch64
	-tools/deps.sh deb
	tools/test.sh

# Hours, where `make test` takes half of one.
test-long:
	LN_LONG=1 $(MAKE) test

check:
	tools/deps.sh test
	tools/check.sh

# In a build folder of its own: benchmarks come with tests, which build/ may be without.
bench:
	tools/deps.sh test
	cmake --preset release -B build-bench -DLN_TESTS=ON -DLN_WERROR=OFF
	cmake --build build-bench -j $(JOBS) --target benches
	tools/bench.sh build-bench

install: all
	DESTDIR=$(DESTDIR) cmake --install build --prefix $(PREFIX)

# Debian packages in build-deb/, checked and tried.
deb:
	tools/deps.sh deb
	tools/deb.sh

# One file for pip, in a build folder of its own: other options than those of build/.
wheel:
	tools/deps.sh wheel
	cmake --preset release -B build-wheel -DLN_TESTS=OFF -DLN_WERROR=OFF -DLN_PYTHON=ON
	cmake --build build-wheel -j $(JOBS)
	/usr/bin/python3 tools/wheel.py build-wheel build-wheel

format:
	git ls-files '*.c' '*.h' ':!tests/golden' | xargs clang-format -i

clean:
	rm -rf build build-*
