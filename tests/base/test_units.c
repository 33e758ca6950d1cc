/* test_units.c - units against values worked out by hand.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/units.h"

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

struct row {
    const char *text;
    int64_t want;
};

static void check_good(const char *(*parse)(const char *, int64_t *), const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int64_t got = -77;
        const char *wrong = parse(rows[i].text, &got);
        if (wrong || got != rows[i].want) print_error("%s: %s\n", rows[i].text, wrong ? wrong : "another value");
        assert_null(wrong);
        assert_true(got == rows[i].want);
    }
}

/* Each is refused, its text contains the given words, and the result is untouched. */
static void check_bad(const char *(*parse)(const char *, int64_t *), const char *const *rows, size_t n,
                      const char *says)
{
    for (size_t i = 0; i < n; i++) {
        int64_t got = -77;
        const char *wrong = parse(rows[i], &got);
        if (!wrong || !strstr(wrong, says)) print_error("%s: %s\n", rows[i], wrong ? wrong : "accepted");
        assert_non_null(wrong);
        assert_non_null(strstr(wrong, says));
        assert_true(got == -77);
    }
}

#define GOOD(parse, rows)      check_good(parse, rows, COUNT(rows))
#define BAD(parse, rows, says) check_bad(parse, rows, COUNT(rows), says)

static void durations(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"30m",                                                  1800 * NS_PER_S   },
        {"7d",                                                   604800 * NS_PER_S },
        {"1h30m",                                                5400 * NS_PER_S   },
        {"1h 30m",                                               5400 * NS_PER_S   },
        {"5.3s",                                                 5300000000        },
        {"100ms",                                                100000000         },
        {"250us",                                                250000            },
        {"250\xc2\xb5s",                                         250000            },
        {"10ns",                                                 10                },
        {"90",                                                   90 * NS_PER_S     },
        {"1.5",                                                  1500000000        },
        {"1e3",                                                  1000 * NS_PER_S   },
        {"1.5e-3",                                               1500000           },
        {"2w",                                                   1209600 * NS_PER_S},
        {"0",                                                    0                 },
        {"0s",                                                   0                 },
        {" 5 s ",                                                5 * NS_PER_S      },
        {".5s",                                                  500000000         },
        {"5.s",                                                  5 * NS_PER_S      },
        {"0.1",                                                  100000000         },
        {"0.3",                                                  300000000         }, /* no double holds these exactly */
        {"0.4ns",                                                0                 },
        {"0.5ns",                                                1                 },
        {"1.49ns",                                               1                 },
        {"1.5ns",                                                2                 }, /* to the nearest, halves up */
        {"4.0000000005",                                         4000000001        },
        {"4.00000000049999",                                     4000000000        },
        {"9223372036.854775807",                                 INT64_MAX         },
        {"9223372036.85477580749",                               INT64_MAX         },
        {"1.50000000000000000000000000000000000000000000000000", 1500000000        },
        {"000000000000000000000000000000000000000000000000001",  NS_PER_S          },
        {"1e-50",                                                0                 },
        {"0e99999",                                              0                 },
        {"10000000000000000000000000000000000000000000e-43",     NS_PER_S          },
    };
    GOOD(units_parse_duration, rows);
    static const char *const malformed[] = {"",   " ",    "m",    "5x",  "1h30", "30 30", "5 s 3", "1..5s",
                                            "s5", "5ss",  "inf",  "nan", "0x10", "1e",    "--5",   "-",
                                            "-s", "5s\n", "1,5s", "5S",  "+5s",  "300y"};
    BAD(units_parse_duration, malformed, "is not a duration; write 30m");
    static const char *const negative[] = {"-5s", "-1"};
    BAD(units_parse_duration, negative, "negative");
    static const char *const large[] = {"9223372036.8547758075", "1e30", "15251w", "1e99999999999",
                                        "106751d 23h 47m 17s"};
    BAD(units_parse_duration, large, "292 years");
    static const char *const digits[] = {"0.12345678901234567890123456789012345678901234567890",
                                         "99999999999999999999999999999999999999999999"};
    BAD(units_parse_duration, digits, "more digits");
}

static void sizes(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"80GB",   80000000000        },
        {"16Gi",   17179869184        },
        {"16GiB",  17179869184        },
        {"18GB",   18000000000        },
        {"1.5TB",  1500000000000      },
        {"4096",   4096               },
        {"512 MB", 512000000          },
        {"1k",     1000               },
        {"1Ki",    1024               },
        {"7B",     7                  },
        {"0.5Ki",  512                },
        {"8EB",    8000000000000000000},
        {"7Ei",    8070450532247928832},
        {"1e3",    1000               },
        {"1e3kB",  1000000            },
        {"1E",     1000000000000000000},
        {"0.5",    1                  },
        {"0.4B",   0                  },
    };
    GOOD(units_parse_bytes, rows);
    static const char *const malformed[] = {"GB", "80GBs", "80gb", "80Gbps", "eighty", "", "80 G B", "1iB"};
    BAD(units_parse_bytes, malformed, "80GB");
    static const char *const large[] = {"8Ei", "10EB", "9223372036854775808"};
    BAD(units_parse_bytes, large, "too large");
    static const char *const negative[] = {"-1GB"};
    BAD(units_parse_bytes, negative, "negative");
}

static void bandwidths(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"400Gbps",    50000000000 },
        {"400Gb/s",    50000000000 },
        {"400 Gbit/s", 50000000000 },
        {"20GB/s",     20000000000 },
        {"20GBps",     20000000000 },
        {"1GiB/s",     1073741824  },
        {"100Mbps",    12500000    },
        {"1kbps",      125         },
        {"8bps",       1           },
        {"12bps",      2           },
        {"3.2Tbps",    400000000000},
        {"1000",       1000        },
        {"1B/s",       1           },
    };
    GOOD(units_parse_bandwidth, rows);
    static const char *const malformed[] = {"400G", "400Gb", "400GB", "fast", "400Gbps/s"};
    BAD(units_parse_bandwidth, malformed, "400Gbps");
}

/* Kubernetes' own rules: resource.Quantity.MilliValue rounds up, away from zero. */
static void quantities(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"500m",   500                },
        {"2",      2000               },
        {"0.5",    500                },
        {"16Gi",   17179869184000     },
        {"1e3",    1000000            },
        {"1E3",    1000000            },
        {"100u",   1                  },
        {"1n",     1                  },
        {"1500u",  2                  },
        {"0",      0                  },
        {"-1",     -1000              },
        {"-1500u", -2                 },
        {"+5",     5000               },
        {"4G",     4000000000000      },
        {"1k",     1000000            },
        {"0.0001", 1                  },
        {".5",     500                },
        {"1e-3",   1                  },
        {"1e-45",  1                  },
        {"8P",     8000000000000000000},
    };
    GOOD(units_parse_quantity, rows);
    static const char *const malformed[] = {"", "1K", "1gi", "1e3Gi", "500mm", "1 2", "cpu", "1GB", "--1", "0x1"};
    BAD(units_parse_quantity, malformed, "500m");
    static const char *const large[] = {"1Ei", "1E", "10P"};
    BAD(units_parse_quantity, large, "too large");
}

static void fractions_and_numbers(void **state)
{
    (void)state;
    static const struct row fractions[] = {
        {"12.5%",  125000000 },
        {"0.125",  125000000 },
        {"100%",   1000000000},
        {"1",      1000000000},
        {"0.001%", 10000     },
        {"150 %",  1500000000}
    };
    GOOD(units_parse_fraction, fractions);
    static const char *const bad[] = {"%", "a%", "5%%", ""};
    BAD(units_parse_fraction, bad, "12.5%");
    static const struct row whole[] = {
        {"12",                   12              },
        {"-3",                   -3              },
        {"+4",                   4               },
        {"007",                  7               },
        {" 5 ",                  5               },
        {"9223372036854775807",  INT64_MAX       },
        {"-9223372036854775808", INT64_MIN       },
        {"9007199254740993",     9007199254740993}
    };
    GOOD(units_parse_int64, whole);
    static const char *const not_whole[] = {"", "1.0", "1e3", "0x1", "a", "- 3", "1 2"};
    BAD(units_parse_int64, not_whole, "whole number");
    static const char *const too_large[] = {"9223372036854775808", "-9223372036854775809"};
    BAD(units_parse_int64, too_large, "64 bits");
    double x = 0;
    assert_null(units_parse_double(" -2.5e-1 ", &x));
    assert_true(x == -0.25);
    static const char *const not_number[] = {"", "nan", "inf", "0x1p3", "1 2", "e5", "1e400", "1f"};
    for (size_t i = 0; i < COUNT(not_number); i++) assert_non_null(units_parse_double(not_number[i], &x));
    assert_true(x == -0.25);
}

static void check_format(void (*format)(struct str *, int64_t), const struct row *rows, size_t n)
{
    struct str s = {0};
    for (size_t i = 0; i < n; i++) {
        str_clear(&s);
        format(&s, rows[i].want);
        assert_string_equal(str_text(&s), rows[i].text);
    }
    str_free(&s);
}

static void for_people(void **state)
{
    (void)state;
    static const struct row durations_shown[] = {
        {"2d 03:15:00",      (2 * 86400 + 3 * 3600 + 15 * 60) * NS_PER_S},
        {"00:15:00",         900 * NS_PER_S                             },
        {"12.5 s",           12500000000                                },
        {"850 ms",           850000000                                  },
        {"1.25 us",          1250                                       },
        {"10 ns",            10                                         },
        {"0 ns",             0                                          },
        {"-850 ms",          -850000000                                 },
        {"1 s",              999999999                                  },
        {"1 ms",             999999                                     },
        {"00:01:00",         59999999999                                },
        {"59.9 s",           59949999999                                },
        {"106751d 23:47:17", INT64_MAX                                  },
        {"1d 00:00:00",      86399 * NS_PER_S + NS_PER_S / 2            }
    };
    check_format(units_format_duration, durations_shown, COUNT(durations_shown));
    static const struct row bytes_shown[] = {
        {"80 GB",    80000000000  },
        {"1.5 TB",   1500000000000},
        {"512 B",    512          },
        {"0 B",      0            },
        {"1 MB",     999999       },
        {"1.02 kB",  1024         },
        {"9.22 EB",  INT64_MAX    },
        {"-9.22 EB", INT64_MIN    }
    };
    check_format(units_format_bytes, bytes_shown, COUNT(bytes_shown));
    static const struct row counts[] = {
        {"82,247",     82247   },
        {"0",          0       },
        {"999",        999     },
        {"1,000",      1000    },
        {"-1,234,567", -1234567}
    };
    check_format(units_format_count, counts, COUNT(counts));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(durations),
        cmocka_unit_test(sizes),
        cmocka_unit_test(bandwidths),
        cmocka_unit_test(quantities),
        cmocka_unit_test(fractions_and_numbers),
        cmocka_unit_test(for_people),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
