#!/bin/sh
set -e
cmake -S . -B build-conda -DCMAKE_BUILD_TYPE=Release -DVIADUCT_TESTS=OFF -DCMAKE_INSTALL_PREFIX="$PREFIX" -DCMAKE_INSTALL_LIBDIR=lib
cmake --build build-conda -j"${CPU_COUNT:-2}"
cmake --install build-conda
