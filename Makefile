# The front door. The build itself is CMake's (CMakeLists.txt, CMakePresets.json); here are the few things people do.
#   make              build/bin/{viaduct,mpiexec,mpicc,...}, usable in place
#   make demo         heat diffusion on 4 ranks, then a table of latency and bandwidth
#   make check        the tests, in ten minutes            make bench, make soak    figures; long runs
#   make check-builds   those that other builds run: sanitizers of addresses and of threads, clang, 64-bit ARM
#   make check-sock   servers and clients of others under viaduct sock, which it downloads into build/programs, and what takes long
#   make check-mpi    the tests of MPI over every transport with every number of ranks
#   make check-rdma   RDMA in an emulated machine, the kernel of which it downloads into a cache; check-rdma-iwarp: iWARP there
#   make check-fortran  MPI for Fortran with every compiler that is tested, which it installs
#   make install [PREFIX=/usr/local] [DESTDIR=]            make uninstall, make deb, make wheel, make clean
#   make dist         build/viaduct-VERSION.tar.gz: the sources that are committed, the same bytes each time
PREFIX ?= /usr/local
DESTDIR ?=
BUILD ?= build
PRESETS ?= release # of make check; .ci/run names all
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
export PREFIX DESTDIR BUILD
MAKEFLAGS += --no-print-directory

all: $(BUILD)/CMakeCache.txt
	@cmake --build $(BUILD) -j $(JOBS)

$(BUILD)/CMakeCache.txt:
	@scripts/need build
	@if command -v ninja >/dev/null; then export CMAKE_GENERATOR=Ninja; fi; \
	  cmake -S . -B $(BUILD) -DVIADUCT_TESTS=OFF >$(BUILD).log 2>&1 || { cat $(BUILD).log; rm -f $@; exit 1; }; rm -f $(BUILD).log

demo: all
	@scripts/demo

check:
	@scripts/need check
	@scripts/check $(PRESETS)

check-builds:
	@scripts/need check
	@scripts/check asan tsan clang aarch64

check-sock:
	@scripts/need programs
	@scripts/check programs

check-mpi:
	@scripts/need check
	@scripts/check mpi

check-rdma:
	@scripts/need rdma
	@scripts/check rdma

check-rdma-iwarp:
	@scripts/need rdma-iwarp
	@cmake --preset rdma -DVIADUCT_TESTS=ON >/dev/null && cmake --build build && ctest --preset iwarp

check-fortran:
	@scripts/need fortran
	@scripts/check fortran

bench: all
	@scripts/need bench
	@bench/compare
	@bench/compare --short
	@bench/packed
	@bench/plot build/plots

soak: all
	@scripts/soak

install: all
	@scripts/install install

uninstall: all
	@scripts/install uninstall

deb: all
	@scripts/need deb
	@scripts/deb

wheel: all
	@scripts/wheel

dist:
	@scripts/dist

clean:
	rm -rf build build-*

.PHONY: all demo check check-builds check-sock check-mpi check-rdma check-rdma-iwarp check-fortran bench soak install uninstall deb wheel dist clean
