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
