#!/bin/bash
# called.sh - functions that a header of the product offers, and that no part of the product calls: for tests alone, or for nobody.
#
# Each name that a header declares, or defines inline, must occur in the product's sources besides its declarations and its definition.
# Comments and strings do not count. What tests alone may call stands below, each with its reason.
#
# SPDX-License-Identifier: GPL-3.0-or-later
cd "$(dirname "$0")/../.." || exit 2

allowed="
arena_bytes event_queue_bytes: tests and benchmarks measure memory by them
event_pending event_step workqueue_busy workqueue_length stream_at stream_gsl_type: a test drives a part of the engine by itself and asks what it holds
bitmap_has pool_free_shares pool_total_shares flows_load flows_capacity flows_work: conservation is checked from outside of a part
network_flows network_link net_transfer_active net_path_crossings: ditto
kueue_available kueue_usage kueue_pending kueue_state_hash: ditto, of quota
kueue_reason_name kueue_wait_reason kueue_cycle_ns: plays of recordings say what differs, and keep Kueue's time
kube_observe kube_first_pod kube_each_partial pg_infeasible ledger_group_account: tests see what no record tells
k8s_watches_relisted k8s_watches_resumed live_refused: tests of a broken connection, of odd observations
sim_close: ends a simulation that tests step by hand; simulate() frees its own
intern_find: tests that a name is not there yet
training_flops megatron_flops gpt_parameters max_of_exponentials distribution_cdf: published formulas, against which the models are tested
timeline_open_memory k8s_access_parse: readers as fuzzers call them
scenario_schema scenario_reference published_markdown: what docs/ must hold
milliseconds: of the family of seconds() and minutes()
"

find base models input run sim real study viz cli -name '*.[ch]' | sort | xargs awk -v allowed="$allowed" '
    BEGIN {
        n = split(allowed, lines, "\n")
        for (i = 1; i <= n; i++) {
            sub(/:.*/, "", lines[i])
            k = split(lines[i], words, " ")
            while (k) may[words[k--]] = 1
        }
    }
    FNR == 1 { statement = ""; depth = 0; comment = 0; macro = 0; header = FILENAME ~ /\.h$/ }

    # a line without comments and strings
    function bare(s,    at, end) {
        if (comment) {
            if (!(end = index(s, "*/"))) return ""
            s = substr(s, end + 2)
            comment = 0
        }
        gsub(/\\["\\\047]/, "", s)
        gsub(/"[^"]*"/, "\"\"", s)
        gsub(/\047[^\047]*\047/, "0", s)
        while (at = index(s, "/*")) {
            end = index(substr(s, at), "*/")
            if (!end) { comment = 1; return substr(s, 1, at - 1) }
            s = substr(s, 1, at - 1) " " substr(s, at + end + 1)
        }
        sub(/\/\/.*/, "", s)
        return s
    }

    function name_of(s) {
        sub(/^.*__attribute__ *\(\([^)]*\)\)/, "", s)
        if (!match(s, /[A-Za-z_][A-Za-z_0-9]* *\(/)) return ""
        s = substr(s, RSTART, RLENGTH)
        sub(/ *\($/, "", s)
        return s
    }

    # what stands outside of braces: declarations, definitions
    function stated(s, ends,    name) {
        if (s ~ /^ *typedef/ || s ~ /=/ || s !~ /\(/ || s ~ /^[^(]*\( *\*/) return
        name = name_of(s)
        if (name == "" || name == "_Static_assert") return
        uses[name]--
        if (header && (ends == ";" || s ~ /inline/) && !(name in place)) place[name] = FILENAME ":" FNR
    }

    {
        line = bare($0)
        rest = line
        while (match(rest, /[A-Za-z_][A-Za-z_0-9]*/)) {
            uses[substr(rest, RSTART, RLENGTH)]++
            rest = substr(rest, RSTART + RLENGTH)
        }
        if (macro || line ~ /^ *#/) { macro = line ~ /\\$/; next }
        while (match(line, /[;{}]/)) {
            at = RSTART
            c = substr(line, at, 1)
            if (depth == 0) {
                statement = statement " " substr(line, 1, at - 1)
                if (c != "}") stated(statement, c)
                statement = ""
            }
            if (c == "{") depth++
            if (c == "}" && depth) depth--
            line = substr(line, at + 1)
        }
        if (depth == 0) statement = statement " " line
    }

    END {
        for (name in place) {
            count++
            if (uses[name] > 0) {
                if (name in may) { print place[name] ": " name " is called; it need not be on the list of called.sh"; bad = 1 }
            } else if (!(name in may)) { print place[name] ": " name " is called by nothing in the product"; bad = 1 }
        }
        for (name in may) if (!(name in place)) { print "called.sh: " name " is on the list, and in no header"; bad = 1 }
        if (!bad) print "called: " count " functions of headers, each called"
        exit bad
    }'
