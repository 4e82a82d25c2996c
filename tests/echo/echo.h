// SPDX-License-Identifier: Apache-2.0
// A device for tests: memory of its own that the host can neither read nor write, and a thread that
// computes groups with the reference operators, each with a model of its own.
//
// Two of them may be registered at once, in LN_MEM_DPU and LN_MEM_CUDA. All have one memory table,
// one log and one set of injected failures.

#ifndef LN_TESTS_ECHO_H
#define LN_TESTS_ECHO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lightnet/arch.h>

// What can be told to fail.
typedef enum echo_call {
    ECHO_NOTHING,
    ECHO_ALLOC,
    ECHO_COPY_IN,
    ECHO_COPY_OUT,
    ECHO_COPY_WITHIN,
    ECHO_PREPARE,
    ECHO_RUN,
    ECHO_WAIT,
    ECHO_EVALUATE,
    ECHO_OPEN,
    ECHO_DESCRIBE,
    ECHO_ASK, // whether a group is over: it says that it cannot tell
    ECHO_CALL_COUNT,
} echo_call;

typedef struct echo_settings {
    bool is_async;
    bool shares_main;         // it works in main memory
    const char *name;         // "echo"
    ln_mem_type mtype;        // LN_MEM_DPU
    const char *fallback;     // "ref"
    uint64_t seed;            // of the subset that it takes
    unsigned left_out;        // percent of the operators that it does not take, by their names
    const char *const *names; // takes these operators only, by name; NULL: any. The last is NULL
    const char *const *names_of_1; // the same of device 1, where there are several; NULL: `names`
    bool has_wait_for;             // it can be asked whether a group is over
    int device_count;              // it has so many, which contexts open; 0: the arch is the device
    size_t
        align; // what blocks and tensors of a device that contexts open are aligned to; 0: as usual
    const char *spoiled; // it computes the operator of this name wrong, "*": all; NULL: none
    double seconds;      // what `evaluate` says of a group; below 0: it has no such function
} echo_settings;

#define ECHO_DEFAULTS .is_async = true, .name = "echo", .mtype = LN_MEM_DPU

// Of a device that contexts open.
typedef struct echo_options {
    double delay;  // milliseconds before a group begins
    int64_t depth; // nothing follows from it
    int is_loud;   // it says "loud" when it is opened
    int mood;      // "calm", "cross"
} echo_options;

echo_options echo_last_options(void); // that the last device was opened with
int echo_open_count(void);            // devices that are open
int echo_last_index(void);            // of the device that was opened last

// Registers the arch; `close` unregisters it. The reference is registered before.
ln_arch *echo_open(const echo_settings *settings);
void echo_close(ln_arch *arch);

// The same without registering it.
ln_arch *echo_create(const echo_settings *settings);
void echo_destroy(ln_arch *arch);

// The call after `skip` more of its kind fails, once. ECHO_NOTHING: none does.
void echo_fail(echo_call call, int skip);
int echo_calls(echo_call call); // since the last `echo_fail`

// The bits that are set in any address that was computed with since `echo_forget`.
uintptr_t echo_address_bits(void);

// Groups are not begun by the thread while it is held, whatever was started.
void echo_hold(ln_arch *arch);
void echo_let_go(ln_arch *arch);

// A group that the thread of a device has begun.
typedef struct echo_begun {
    int start; // since `echo_forget`, from 0 on
    int priority;
} echo_begun;

// Those since `echo_forget`, in the order in which they began: at most `size`. Returns how many
// there were.
size_t echo_list_begun(echo_begun *begun, size_t size);

// What has happened, in order: "start", "begin", "end", "wait" of groups, and what tests say.
void echo_say(const char *event);
size_t echo_said_count(const char *event);
int echo_position(const char *event, size_t nth); // in the log, -1: never
void echo_forget(void);

void echo_limit(size_t byte_count); // of memory of each type that is allocated; SIZE_MAX: none
size_t echo_live_bytes(ln_mem_type mtype); // allocated and not freed
size_t echo_peak_bytes(ln_mem_type mtype); // largest that one allocation was, since `echo_forget`
int echo_live_groups(void);                // prepared and not released
int echo_groups_of_last_prepare(void);     // operators of the group that was prepared last
size_t echo_copied_in(void);               // bytes, since `echo_forget`
size_t echo_copied_out(void);

#endif
