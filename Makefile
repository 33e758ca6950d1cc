# Trainyard. Two targets are enough: `make demo` and `make check`; `make help` lists the rest.
#
# Every *.c below the product folders goes into one static library; every cli/ file into bin/trainyard, every
# viz/app/ file into bin/trainyard-view, real/worker/main*.c into the bin/trainyard-worker of its name;
# every tests/**/test_*.c becomes one test program. New files need no entry here.

CC       ?= cc
BUILD    ?= build
BIN      ?= bin
PREFIX   ?= /usr/local
OPT      ?= -O3
WARN     := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith
WERROR   ?= -Werror
ifneq ($(SAN),)
WERROR   := # gcc warns about null formats on paths that the sanitizers' own checks put in
endif
CPPFLAGS += -I. -D_GNU_SOURCE -DTRAINYARD_PREFIX='"$(PREFIX)"'
CFLAGS   += -std=gnu11 $(OPT) -g -ffp-contract=off -fno-math-errno $(WARN) $(WERROR) $(SAN)
LDFLAGS  += $(SAN) -Wl,--as-needed
LDLIBS   += -lgsl -lgslcblas -lcjson -lyaml -lcsv -lcurl -lcrypto -lcairo -lfreetype -lpng -lz -lpthread -lm
# Pictures (viz/) are part of the library; only the window of viz/app knows SDL.
CPPFLAGS += -isystem /usr/include/freetype2 -isystem /usr/include/cairo

PARTS    := base models input run sim real study viz
WORKER_SRC := $(wildcard real/worker/main*.c)
LIB_SRC  := $(sort $(filter-out viz/app/% $(WORKER_SRC),$(shell find $(PARTS) -name '*.c' 2>/dev/null)))
CLI_SRC  := $(sort $(wildcard cli/*.c))
VIEW_SRC := $(sort $(wildcard viz/app/*.c))
TEST_SRC := $(sort $(shell find tests -name 'test_*.c' 2>/dev/null))
TEST_LIB_SRC := $(sort $(wildcard tests/support/*.c))
BENCH_SRC := $(sort $(wildcard tests/bench/bench_*.c))
HEADERS  := $(sort $(shell find $(PARTS) cli -name '*.h' 2>/dev/null))

LIB_OBJ  := $(LIB_SRC:%.c=$(BUILD)/%.o)
CLI_OBJ  := $(CLI_SRC:%.c=$(BUILD)/%.o)
VIEW_OBJ := $(VIEW_SRC:%.c=$(BUILD)/%.o)
TEST_LIB_OBJ := $(TEST_LIB_SRC:%.c=$(BUILD)/%.o)
TESTS    := $(TEST_SRC:%.c=$(BUILD)/%)
BENCHES  := $(BENCH_SRC:%.c=$(BUILD)/%)
LIB      := $(BUILD)/libtrainyard.a
# Where MPI is, the worker is also built on it.
MPICC    := $(shell command -v mpicc)

SHELL    := /bin/bash

.PHONY: all all-objects demo check check-all check-sanitizers check-threads check-valgrind check-clang check-mutations check-live seed-faults test bench fuzz \
        install clean help headers pictures
all: $(BIN)/trainyard $(BIN)/trainyard-view $(BIN)/trainyard-worker $(if $(MPICC),$(BIN)/trainyard-worker-mpi)

include build-rules.mk
