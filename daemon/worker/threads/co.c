/* SPDX-License-Identifier: Apache-2.0
 *
 * A new stack is entered once, by makecontext and swapcontext; every later switch is sigsetjmp/siglongjmp with the
 * signal mask left alone, which is a handful of register moves (swapcontext makes a system call each time). The idea is
 * that of QEMU's ucontext coroutines.
 *
 *   resumer:   sigsetjmp(resumer) == 0 -> [first time] swapcontext -> enter() | [later] siglongjmp(self)
 *   coroutine: sigsetjmp(self) == 0 -> siglongjmp(resumer)
 *
 * AddressSanitizer, ThreadSanitizer and valgrind must be told of every stack and every switch: before_switch and
 * after_switch are the only places that know of them.
 */
#undef _FORTIFY_SOURCE /* its longjmp check takes a jump to another stack for a mistake */
#define _FORTIFY_SOURCE 0

#include "daemon/worker/threads/co.h"

#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "daemon/worker/threads/sanitizers.h"
#include "engine/base/buf.h"
#include "engine/base/log.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define VALGRIND_STACK_REGISTER(start, end) 0
#define VALGRIND_STACK_DEREGISTER(id) ((void)(id))
#endif

enum co_state { CO_NEW, CO_SUSPENDED, CO_RUNNING, CO_ENDED };

struct co {
    void (*fn)(void *arg);
    void *arg;
    enum co_state state;
    sigjmp_buf self, resumer;
    ucontext_t context; /* used once, to enter the stack */
    char *map;          /* guard page, then the stack */
    size_t map_bytes, page;
    unsigned holds[CO_HOLD_COUNT];
    unsigned valgrind_stack;
    void *fiber, *resumer_fiber; /* ThreadSanitizer's names of the two stacks */
    const void *resumer_bottom;  /* the resumer's stack, as AddressSanitizer told on arrival */
    size_t resumer_size;
};

static struct co *running; /* NULL: the resumer's own stack */

static void broken(const char *what)
{
    log_line(LOG_ERROR, "coroutine: %s", what);
    abort();
}

/* Leaving one stack for another; *fake_stack keeps AddressSanitizer's part of the one left, NULL: it is left for ever.
 */
static void before_switch(struct co *c, bool into, void **fake_stack)
{
#ifdef __SANITIZE_ADDRESS__
    if (into)
        __sanitizer_start_switch_fiber(fake_stack, c->map + c->page, c->map_bytes - c->page);
    else
        __sanitizer_start_switch_fiber(fake_stack, c->resumer_bottom, c->resumer_size);
#endif
#ifdef __SANITIZE_THREAD__
    if (into)
        c->resumer_fiber = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(into ? c->fiber : c->resumer_fiber, 0);
#endif
    (void)c, (void)into, (void)fake_stack;
}

/* Arrived on a stack; fake_stack is what before_switch kept of it, NULL the first time. */
static void after_switch(struct co *c, bool into, void *fake_stack)
{
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(fake_stack, into ? &c->resumer_bottom : NULL, into ? &c->resumer_size : NULL);
#endif
    (void)c, (void)into, (void)fake_stack;
}

/* makecontext passes ints only. */
static void enter(int high, int low)
{
    struct co *c = (struct co *)((uintptr_t)(unsigned)high << 32 | (uintptr_t)(unsigned)low);
    after_switch(c, true, NULL);
    c->fn(c->arg);
    for (int i = 0; i < CO_HOLD_COUNT; i++)
        if (c->holds[i])
            broken("ended with a capture or borrow open");
    c->state = CO_ENDED;
    before_switch(c, false, NULL);
    siglongjmp(c->resumer, 1);
}

int co_new(struct co **out, void (*fn)(void *arg), void *arg, size_t stack, struct err *e)
{
    struct co *c = xcalloc(1, sizeof *c);
    c->fn = fn;
    c->arg = arg;
    c->page = (size_t)sysconf(_SC_PAGESIZE);
    c->map_bytes = (stack + c->page - 1) / c->page * c->page + c->page;
    c->map = mmap(NULL, c->map_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK,
                  -1, 0);
    if (c->map == MAP_FAILED || mprotect(c->map, c->page, PROT_NONE) || getcontext(&c->context)) {
        if (c->map != MAP_FAILED)
            munmap(c->map, c->map_bytes);
        free(c);
        return err_set(e, ERR_MEMORY, "no memory for a stack of %zu bytes", stack);
    }
    c->valgrind_stack = VALGRIND_STACK_REGISTER(c->map + c->page, c->map + c->map_bytes);
#ifdef __SANITIZE_THREAD__
    c->fiber = __tsan_create_fiber(0);
#endif
    c->context.uc_stack.ss_sp = c->map + c->page;
    c->context.uc_stack.ss_size = c->map_bytes - c->page;
    c->context.uc_link = NULL;
    makecontext(&c->context, (void (*)(void))enter, 2, (int)((uintptr_t)c >> 32), (int)(uintptr_t)c);
    *out = c;
    return 0;
}

void co_free(struct co *c)
{
    if (!c)
        return;
    if (c->state == CO_RUNNING)
        broken("freed while it runs");
#ifdef __SANITIZE_THREAD__
    __tsan_destroy_fiber(c->fiber);
#endif
    VALGRIND_STACK_DEREGISTER(c->valgrind_stack);
    munmap(c->map, c->map_bytes);
    free(c);
}

/* A function of its own and never inlined: sigsetjmp returns twice, and no local of co_resume lives across it. */
__attribute__((noinline)) static void switch_into(struct co *c, bool first, void **fake_stack)
{
    if (sigsetjmp(c->resumer, 0))
        return;
    before_switch(c, true, fake_stack); /* after sigsetjmp: ThreadSanitizer files jump buffers by stack */
    if (first) {
        ucontext_t unused;
        swapcontext(&unused, &c->context);
    } else {
        siglongjmp(c->self, 1);
    }
}

void co_resume(struct co *c)
{
    if (running)
        broken("resumed from inside another coroutine");
    if (c->state != CO_NEW && c->state != CO_SUSPENDED)
        broken("resumed while it runs or after its end");
    bool first = c->state == CO_NEW;
    void *fake_stack = NULL;
    running = c;
    c->state = CO_RUNNING;
    switch_into(c, first, &fake_stack);
    after_switch(c, false, fake_stack);
    running = NULL;
}

__attribute__((noinline)) static void switch_back(struct co *c, void **fake_stack)
{
    if (sigsetjmp(c->self, 0))
        return;
    before_switch(c, false, fake_stack);
    siglongjmp(c->resumer, 1);
}

void co_pause(void)
{
    struct co *c = running;
    if (!c)
        broken("yield outside of a coroutine");
    if (c->holds[CO_CAPTURE])
        broken("yield inside a capture");
    if (c->holds[CO_BORROW])
        broken("yield while a pointer is borrowed");
    void *fake_stack = NULL;
    c->state = CO_SUSPENDED;
    switch_back(c, &fake_stack);
    after_switch(c, true, fake_stack);
}

bool co_ended(const struct co *c)
{
    return c->state == CO_ENDED;
}

void co_hold(enum co_hold what)
{
    if (running)
        running->holds[what]++;
}

void co_release(enum co_hold what)
{
    if (running && running->holds[what]-- == 0)
        broken("released what was not held");
}
