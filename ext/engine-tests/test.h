/* A small harness. Each test is a promise and runs in a process of its own, with a directory of its own in shared
 * memory; what it leaves behind, processes and files, is removed whatever happens to it. A failed check is printed with
 * its place and values, and the test goes on; a failed REQUIRE ends it.
 */
#ifndef LARDER_TEST_H
#define LARDER_TEST_H

#include <stdbool.h>
#include <stdint.h>

typedef struct test_case {
    const char *promise;
    const char *file;
    void (*run)(void);
    struct test_case *next;
} test_case;

void test_register(test_case *test);

#define TEST(name, words)                                                                                              \
    static void name(void);                                                                                            \
    __attribute__((constructor)) static void name##_register(void)                                                     \
    {                                                                                                                  \
        static test_case test = {.promise = words, .file = __FILE__, .run = name};                                     \
        test_register(&test);                                                                                          \
    }                                                                                                                  \
    static void name(void)

/* Counts a failure, in whichever process of the test it is found. Returns false. */
bool test_failed(const char *file, int line, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* How many this test has counted so far. */
uint32_t test_failures(void);

/* Ends the test's process with what has been counted. */
_Noreturn void test_give_up(void);

#define CHECK(condition) test_check(__FILE__, __LINE__, #condition, condition)
bool test_check(const char *file, int line, const char *words, bool holds);

/* Both sides as signed 64-bit numbers. */
#define COMPARE(actual, operation, expected)                                                                           \
    __extension__({                                                                                                    \
        const int64_t left = (int64_t)(actual), right = (int64_t)(expected);                                           \
        test_compare(__FILE__, __LINE__, #actual " " #operation " " #expected, left, right, left operation right);     \
    })
#define EQUAL(actual, expected) COMPARE(actual, ==, expected)

bool test_compare(const char *file, int line, const char *words, int64_t actual, int64_t expected, bool holds);

#define CONTAINS(text, part) test_contains(__FILE__, __LINE__, text, part)
bool test_contains(const char *file, int line, const char *text, const char *part);

/* Asks the condition itself rather than what test_check returns, so that analysers know that it holds below. */
#define REQUIRE(condition)                                                                                             \
    do {                                                                                                               \
        const bool required = (condition);                                                                             \
        test_check(__FILE__, __LINE__, #condition, required);                                                          \
        if (!required) {                                                                                               \
            test_give_up();                                                                                            \
        }                                                                                                              \
    } while (0)

/* The directory of this test; it exists, and is empty when the test begins. */
const char *test_directory(void);

/* How many files there begin with that; hidden ones count only where a pool is being made. */
unsigned test_files(const char *prefix);

/* How much longer than usual random tests are to run (LARDER_TESTS_SCALE; 1 unless it says otherwise). */
uint64_t test_scale(void);

/* Where random tests begin (LARDER_TESTS_SEED, else another one each time; it is printed). */
uint64_t test_seed(void);

#endif
