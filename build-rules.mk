# Rules only; what is built stands in the Makefile.

$(LIB): $(LIB_OBJ)
	@rm -f $@
	ar rcs $@ $^

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@

# Its text is taken in by the assembler, which no dependency file tells of.
$(BUILD)/real/ray/driver_text.o: real/ray/driver.py

$(BIN)/trainyard: $(CLI_OBJ) $(LIB)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) $(CLI_OBJ) $(LIB) $(LDLIBS) -o $@

$(BIN)/trainyard-view: $(VIEW_OBJ) $(LIB)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) $(VIEW_OBJ) $(LIB) -lSDL2 $(LDLIBS) -o $@

WORKER_LIBS := -lcurl -lcrypto -lcjson -lz -lpthread -lm

$(BIN)/trainyard-worker: $(BUILD)/real/worker/main.o $(LIB)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) $< $(LIB) $(WORKER_LIBS) -o $@

# MPI's headers and libraries are known to its compiler's wrapper alone.
$(BIN)/trainyard-worker-mpi: real/worker/main_mpi.c $(LIB)
	@mkdir -p $(@D)
	$(MPICC) $(CPPFLAGS) -std=gnu11 $(OPT) -g $(SAN) -Wno-cast-function-type $< $(LIB) $(LDFLAGS) $(WORKER_LIBS) -o $@

$(BUILD)/tests/%: $(BUILD)/tests/%.o $(TEST_LIB_OBJ) $(LIB)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) $< $(TEST_LIB_OBJ) $(LIB) -lcmocka $(LDLIBS) -o $@

# The stub of NVIDIA's libraries, which the tests of real/gpu load.
STUB_CUDA := $(BUILD)/tests/real/gpu/stub_cuda.so
$(STUB_CUDA): tests/real/gpu/stub_cuda.c tests/real/gpu/stub_cuda.h
	@mkdir -p $(@D)
	$(CC) -I. -D_GNU_SOURCE -std=gnu11 -O1 -g -shared -fPIC -fvisibility=hidden $< -lpthread -o $@
$(BUILD)/tests/real/gpu/test_gpu: | $(STUB_CUDA)
$(BUILD)/tests/real/gpu/test_gpu.o: CPPFLAGS += -DSTUB_CUDA='"$(abspath $(STUB_CUDA))"'

# Fuzzers: clang's libFuzzer over the library built for it, FUZZ_SECONDS each, from the seeds in tests/fuzz/corpus/NAME.
# What it learns stays in build-fuzz/corpus; an input that fails is left in build-fuzz/ and named.
FUZZ_SECONDS ?= 60
FUZZ_JOBS ?= 2
FUZZ_NAMES := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_SAN := -fsanitize=address,undefined -fno-sanitize-recover=undefined

fuzz:
	@$(MAKE) -s CC=clang BUILD=build-fuzz OPT=-O1 SAN="-fsanitize=fuzzer-no-link $(FUZZ_SAN)" $(FUZZ_NAMES:%=build-fuzz/tests/fuzz/fuzz_%)
	@printf '%s\n' $(FUZZ_NAMES) | xargs -P $(FUZZ_JOBS) -I NAME bash tests/house/fuzz_one.sh NAME $(FUZZ_SECONDS)

$(BUILD)/tests/fuzz/%: $(BUILD)/tests/fuzz/%.o $(LIB)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) -fsanitize=fuzzer $< $(LIB) $(LDLIBS) -o $@

# Each public header must compile alone.
headers:
	@for h in $(HEADERS); do \
	  echo "#include \"$$h\"" | $(CC) $(CPPFLAGS) -std=gnu11 $(WARN) -Werror -fsyntax-only -x c - || { echo "header $$h does not compile alone"; exit 1; }; \
	done; echo "headers: $(words $(HEADERS)) compile alone"

# Each tests/bench/*.sh prints one line a figure: NAME VALUE UNIT goal GOAL.
bench: $(BENCHES)
	@for b in $(sort $(wildcard tests/bench/*.sh)); do bash $$b $(BUILD) || exit 1; done

# The pictures of README and docs, and every view in each theme and two sizes in build/pictures, to be looked at.
pictures: all
	@bash tests/house/pictures.sh $(BIN) $(BUILD)/pictures docs/pictures

clean:
	rm -rf build build-* $(BIN)

# ---- what people call ----

help:
	@echo "make            build bin/trainyard"
	@echo "make demo       install what is missing, build, and compare both approaches on a shipped scenario"
	@echo "make check      install what is missing, and run all tests that need no live cluster"
	@echo "make check-live get, build and start real controllers and servers, and compare what they do with the simulator; LIVE=--full: all of it"
	@echo "make bench      one line a figure, with its goal and, where ../shared is there, the reference beside"
	@echo "make fuzz       each reader for FUZZ_SECONDS (60) under libFuzzer"
	@echo "make check-sanitizers | check-threads | check-valgrind | check-clang | check-mutations     what CI adds"
	@echo "make pictures   the pictures of README and docs, and every view in each theme in build/pictures"
	@echo "make install    to PREFIX ($(PREFIX))"
	@echo "make clean"

demo:
	@bash tests/house/packages.sh build
	@$(MAKE) -s all
	$(BIN)/trainyard compare scenarios/demo.json

check:
	@bash tests/house/packages.sh check
	@$(MAKE) -s check-all

check-all: all $(TESTS) headers
	@bash tests/house/arrows.sh
	@bash tests/house/called.sh
	@bash tests/house/no_libm.sh $(BUILD)
	@bash tests/house/same_bits.sh
	@bash tests/house/fingerprints.sh
	@bash tests/house/manifests.sh $(BIN)/trainyard
	@bash tests/house/manual.sh $(BIN)/trainyard
	@bash tests/viz/viewer.sh $(BIN)/trainyard $(BIN)/trainyard-view
	@bash tests/viz/xvfb.sh $(BIN)/trainyard $(BIN)/trainyard-view
	@bash tests/viz/report/browser.sh $(BIN)/trainyard
	@bash tests/house/commands.sh $(BIN)/trainyard
	@bash tests/house/readme.sh $(BIN)/trainyard
	@bash tests/house/worker.sh $(BIN)/trainyard-worker
	@bash tests/house/host.sh $(BIN)/trainyard
	@bash tests/house/run_tests.sh $(TESTS) | tee $(BUILD)/tests.log; test $${PIPESTATUS[0]} = 0
	@tail -1 $(BUILD)/tests.log > $(BUILD)/tests.count

test: $(TESTS)
	@bash tests/house/run_tests.sh $(TESTS)

# The same tests under address and undefined sanitizers, thread sanitizer (what has threads), valgrind (a part; it is slow).
check-sanitizers:
	@$(MAKE) -s BUILD=build-san BIN=build-san/bin OPT=-O1 SAN="-fsanitize=address,undefined -fno-sanitize-recover=undefined" test

check-threads:
	@$(MAKE) -s BUILD=build-tsan BIN=build-tsan/bin OPT=-O1 SAN="-fsanitize=thread" build-tsan/bin/trainyard
	@bash tests/house/threads.sh build-tsan/bin/trainyard

check-valgrind: all $(TESTS)
	@bash tests/house/valgrind.sh $(BUILD) $(BIN)

check-clang:
	@$(MAKE) -s CC=clang BUILD=build-clang BIN=build-clang/bin all-objects build-clang/bin/trainyard

# Each fault of tests/mutations/list.txt must be caught by a test.
check-mutations:
	@$(MAKE) -s BUILD=build-mut OPT=-O1 seed-faults

seed-faults: $(LIB) $(TEST_LIB_OBJ) $(TEST_SRC:%.c=$(BUILD)/%.o) $(STUB_CUDA)
	@CC="$(CC)" FLAGS="$(CPPFLAGS) $(CFLAGS)" LIBS="$(LDLIBS)" BUILD=$(BUILD) bash tests/mutations/run.sh $(FAULTS)

# Against real controllers, servers and processes (docs/live.md). What cannot run here is skipped, and says why.
# LIVE: options and parts, as LIVE=--full or LIVE="plays s3".
check-live:
	@bash tests/house/packages.sh live || echo "check-live: without these packages"
	@$(MAKE) -s all $(STUB_CUDA)
	@bash tests/live/check.sh --bin $(BIN) --stub $(STUB_CUDA) $(LIVE) || test $$? = 77

install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/trainyard
	install -m 755 $(BIN)/trainyard $(BIN)/trainyard-view $(BIN)/trainyard-worker $(DESTDIR)$(PREFIX)/bin/
	cp -r scenarios/. $(DESTDIR)$(PREFIX)/share/trainyard/
	install -d $(DESTDIR)$(PREFIX)/share/man/man1 $(DESTDIR)$(PREFIX)/share/man/man5 $(DESTDIR)$(PREFIX)/share/bash-completion/completions
	$(BIN)/trainyard --print-man > $(DESTDIR)$(PREFIX)/share/man/man1/trainyard.1
	$(BIN)/trainyard-worker --print-man > $(DESTDIR)$(PREFIX)/share/man/man1/trainyard-worker.1
	$(BIN)/trainyard-view --print-man > $(DESTDIR)$(PREFIX)/share/man/man1/trainyard-view.1
	$(BIN)/trainyard --print-man-scenario > $(DESTDIR)$(PREFIX)/share/man/man5/trainyard-scenario.5
	$(BIN)/trainyard --print-bash-completion > $(DESTDIR)$(PREFIX)/share/bash-completion/completions/trainyard
	$(BIN)/trainyard-view --print-bash-completion > $(DESTDIR)$(PREFIX)/share/bash-completion/completions/trainyard-view

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)

all-objects: $(LIB) $(CLI_OBJ) $(VIEW_OBJ) $(TESTS) $(BENCHES)
