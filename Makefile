# From a bare machine to a trained network: make demo. Everything else: make test, bench, format, check-format, clean.

JOBS ?= $(shell nproc)
# Further options for the configure step, as in CONFIGURE=-DSTOKER_WERROR=ON.
CONFIGURE ?=

FORMATTED = $(shell find include src tests bench examples -name '*.h' -o -name '*.cpp')

.PHONY: demo test bench build setup format check-format clean

demo: build
	build/release/bin/stoker train --model cnn --data fashion-mnist --epochs 6 --batch-size 128 \
	  --optimizer adam --lr 0.002 --output runs/demo

test: build
	ctest --preset release -j $(JOBS) --output-junit results.xml

bench: build
	for program in build/release/bench/bench_*; do [ ! -x $$program ] || $$program || exit 1; done

build: setup
	cmake --preset release $(CONFIGURE)
	cmake --build --preset release -j $(JOBS)

setup:
	@scripts/setup.sh

format:
	@scripts/setup.sh clang-format-14
	clang-format-14 -i $(FORMATTED)

check-format:
	@scripts/setup.sh clang-format-14
	clang-format-14 --dry-run --Werror $(FORMATTED)

clean:
	rm -rf build runs
