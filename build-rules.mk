# Rules only; what is built stands in the Makefile.

$(LIB): $(LIB_OBJ)
	@rm -f $@
	ar rcs $@ $^

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c $< -o $@

$(BIN)/trainyard: $(CLI_OBJ) $(LIB)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) $(CLI_OBJ) $(LIB) $(LDLIBS) -o $@

$(BUILD)/tests/%: $(BUILD)/tests/%.o $(TEST_LIB_OBJ) $(LIB)
	@mkdir -p $(@D)
	$(CC) $(LDFLAGS) $< $(TEST_LIB_OBJ) $(LIB) -lcmocka $(LDLIBS) -o $@

# Fuzzers: clang's libFuzzer over the library built for it, FUZZ_SECONDS each, from the seeds in tests/fuzz/corpus/NAME.
# What it learns stays in build-fuzz/corpus; an input that fails is left in build-fuzz/ and named.
FUZZ_SECONDS ?= 60
FUZZ_NAMES := $(patsubst tests/fuzz/fuzz_%.c,%,$(wildcard tests/fuzz/fuzz_*.c))
FUZZ_SAN := -fsanitize=address,undefined -fno-sanitize-recover=undefined

fuzz:
	@$(MAKE) -s CC=clang BUILD=build-fuzz OPT=-O1 SAN="-fsanitize=fuzzer-no-link $(FUZZ_SAN)" $(FUZZ_NAMES:%=build-fuzz/tests/fuzz/fuzz_%)
	@for name in $(FUZZ_NAMES); do \
	  mkdir -p build-fuzz/corpus/$$name; seeds=; [ -d tests/fuzz/corpus/$$name ] && seeds=tests/fuzz/corpus/$$name; \
	  build-fuzz/tests/fuzz/fuzz_$$name -max_total_time=$(FUZZ_SECONDS) -max_len=4096 -timeout=20 -verbosity=0 \
	    -print_final_stats=1 -artifact_prefix=build-fuzz/$$name- build-fuzz/corpus/$$name $$seeds >build-fuzz/$$name.log 2>&1 \
	    || { cat build-fuzz/$$name.log; echo "fuzz_$$name: failed"; exit 1; }; \
	  echo "fuzz_$$name: clean, $$(sed -n 's/^stat::number_of_executed_units: *//p' build-fuzz/$$name.log) inputs in $(FUZZ_SECONDS) s"; \
	done

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

clean:
	rm -rf $(BUILD) $(BIN)

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)

all-objects: $(LIB) $(CLI_OBJ) $(TESTS) $(BENCHES)
