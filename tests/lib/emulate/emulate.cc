/* SPDX-License-Identifier: Apache-2.0
 *
 * A fiber for each thread of a block. Fibers stay for the next block: making one, and changing signal masks as
 * swapcontext does, are calls into the kernel. Most of the time of a kernel goes into changes from one fiber to
 * another. So a thread that waits hands over to the next one of its warp, without the scheduler, and by the compiler's
 * own jumps, which save no more than the code at hand needs.
 */
#undef _FORTIFY_SOURCE /* takes jumps between stacks for errors */
#include "tests/lib/emulate/emulate.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

#include "engine/cuda/kernels.h"
#include "tests/lib/emulate/cuda.h"

#ifdef __SANITIZE_ADDRESS__
enum { STACK = 512 * 1024 }; /* frames are larger */
#else
enum { STACK = 64 * 1024 };
#endif
enum { MOST = 1024, SHARED = 227 * 1024, GRID_MOST = 65535 /* but along x */ };
/* Tops of stacks lie this far apart within a page: at one place in all of them they would share a few sets of the
 * cache. */
enum { COLOUR = 704, COLOURS = 4096 };

enum wait { RUNS, AT_WARP, AT_BLOCK, DONE };

#ifdef __SANITIZE_THREAD__ /* has to see every jump, and knows those to the scheduler and back alone */
enum { HANDS_OVER = 0 };
typedef jmp_buf place;
#define STAY(at) _setjmp(at)
#define JUMP(at) _longjmp(at, 1)
#else
enum { HANDS_OVER = 1 };
typedef void *place[5];
#define STAY(at) __builtin_setjmp(at)
#define JUMP(at) __builtin_longjmp(at, 1)
#endif

struct fiber {
    place at;    /* where it left */
    char *stack; /* NULL: it has not begun */
    enum wait wait;
    unsigned turns; /* collectives of the warp it has been in */
};

/* Two sets of values a warp, and of votes: a lane may be one collective ahead of one that has yet to read. */
struct warp {
    uint64_t values[2][32];
    uint32_t present[2], votes[2];
};

thread_local dim3_now threadIdx, blockIdx, blockDim, gridDim;
/* Shared memory by the names that kernels have for it. */
thread_local __attribute__((aligned(16))) int32_t words[SHARED / sizeof(int32_t)];
thread_local __attribute__((aligned(16))) float2 shared[SHARED / sizeof(float2)];
static thread_local struct fiber fibers[MOST];
static thread_local struct warp warps[MOST / 32];
static thread_local place scheduler;
static thread_local void (*function)(const void *);
static thread_local const void *arguments;
static thread_local unsigned votes[2], vote_turn;

static struct fiber *self(void)
{
    return &fibers[threadIdx.x];
}

/* ---- what the address sanitizer has to know of stacks ---- */

struct stack {
    const void *bottom;
    size_t bytes;
};

static thread_local struct stack scheduler_stack;
static thread_local bool from_scheduler; /* the last jump */

/* Before a jump to another stack, and after it; *from: the stack that was left, unless NULL. */
static void leave_for(struct stack to)
{
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_start_switch_fiber(NULL, to.bottom, to.bytes);
#endif
}

static void arrive(struct stack *from)
{
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(NULL, from ? &from->bottom : NULL, from ? &from->bytes : NULL);
#endif
}

/* ---- fibers ---- */

[[noreturn]] static void go_to(unsigned t);

/* The next thread of the warp that runs; a multiple of 32: none. */
static unsigned next_of_warp(unsigned t)
{
    for (t++; t % 32 && (t >= blockDim.x || fibers[t].wait != RUNS);)
        t++;
    return t;
}

/* To the next thread of the warp, or to the scheduler. */
[[noreturn]] static void hand_over(void)
{
    const unsigned next = HANDS_OVER ? next_of_warp(threadIdx.x) : 0;
    if (next % 32)
        go_to(next);
    leave_for(scheduler_stack);
    JUMP(scheduler);
}

static void come_back(void)
{
    arrive(from_scheduler ? &scheduler_stack : NULL);
    from_scheduler = false;
}

/* No function: after a jump the processor guesses wrongly where each one returns to. */
#define PAUSE(what)                                                                                                    \
    do {                                                                                                               \
        self()->wait = what;                                                                                           \
        if (!STAY(self()->at))                                                                                         \
            hand_over();                                                                                               \
        come_back();                                                                                                   \
    } while (0)

void emulate_block(void)
{
    PAUSE(AT_BLOCK);
}

int emulate_block_or(int value)
{
    unsigned turn = vote_turn;
    votes[turn] |= value != 0;
    PAUSE(AT_BLOCK);
    return (int)votes[turn];
}

const uint64_t *emulate_warp(uint64_t value, uint32_t *present)
{
    struct warp *w = &warps[threadIdx.x / 32];
    unsigned set = self()->turns++ % 2;
    w->values[set][threadIdx.x % 32] = value;
    PAUSE(AT_WARP);
    *present = w->present[set];
    return w->values[set];
}

uint32_t emulate_ballot(bool on)
{
    uint32_t *votes = &warps[threadIdx.x / 32].votes[self()->turns++ % 2];
    *votes |= (uint32_t)on << threadIdx.x % 32;
    PAUSE(AT_WARP);
    return *votes;
}

static void live(void)
{
    come_back();
    for (;;) {
        function(arguments);
        PAUSE(DONE);
    }
}

/* Frees a thread's stacks when it ends. */
struct stacks {
    uint32_t count;
    ~stacks()
    {
        for (uint32_t t = 0; t < MOST; t++)
            free(fibers[t].stack);
    }
};
static thread_local struct stacks stacks;

static size_t stack_bytes(const struct fiber *f)
{
    return STACK - (size_t)(f - fibers) * COLOUR % COLOURS;
}

static void first_run(struct fiber *f)
{
    static thread_local ucontext_t context; /* not on the stack, which is left for ever */
    f->stack = (char *)malloc(STACK);
    stacks.count++; /* which makes it one that ends with the thread */
    getcontext(&context);
    context.uc_stack.ss_sp = f->stack;
    context.uc_stack.ss_size = stack_bytes(f);
    context.uc_link = NULL;
    makecontext(&context, live, 0);
    leave_for({f->stack, stack_bytes(f)});
    setcontext(&context);
}

[[noreturn]] static void go_to(unsigned t)
{
    struct fiber *f = &fibers[t];
    threadIdx.x = t;
    if (!f->stack)
        first_run(f);
    leave_for({f->stack, stack_bytes(f)});
    JUMP(f->at);
}

/* The thread, and those behind it in its warp that run, until they wait. */
static void run_fibers(unsigned t)
{
    from_scheduler = true;
    if (!STAY(scheduler))
        go_to(t);
    arrive(NULL);
}

/* Lets the warp go on if all that are left of it wait for each other. */
static bool release_warp(unsigned w, unsigned threads)
{
    uint32_t present = 0, waiting = 0;
    unsigned set = 0;
    for (unsigned t = 32 * w; t < 32 * (w + 1) && t < threads; t++) {
        present |= (uint32_t)(fibers[t].wait != DONE) << t % 32;
        waiting |= (uint32_t)(fibers[t].wait == AT_WARP) << t % 32;
        if (fibers[t].wait == AT_WARP)
            set = (fibers[t].turns + 1) % 2;
    }
    if (!waiting || present != waiting)
        return false;
    warps[w].present[set] = present;
    warps[w].votes[set ^ 1] = 0;
    for (unsigned t = 32 * w; t < 32 * (w + 1) && t < threads; t++)
        if (fibers[t].wait == AT_WARP)
            fibers[t].wait = RUNS;
        else
            warps[w].values[set][t % 32] = 0;
    return true;
}

static bool release_block(unsigned threads)
{
    for (unsigned t = 0; t < threads; t++)
        if (fibers[t].wait != AT_BLOCK && fibers[t].wait != DONE)
            return false;
    vote_turn ^= 1;
    votes[vote_turn] = 0;
    for (unsigned t = 0; t < threads; t++)
        if (fibers[t].wait == AT_BLOCK)
            fibers[t].wait = RUNS;
    return true;
}

static bool all_done(unsigned threads)
{
    for (unsigned t = 0; t < threads; t++)
        if (fibers[t].wait != DONE)
            return false;
    return true;
}

static void run_block(unsigned threads, size_t bytes)
{
    memset(words, 0x55, bytes); /* it begins with anything */
    memset(shared, 0x55, bytes);
    for (unsigned t = 0; t < threads; t++) {
        fibers[t].wait = RUNS;
        fibers[t].turns = 0;
    }
    for (unsigned w = 0; w < (threads + 31) / 32; w++)
        warps[w].votes[0] = 0;
    while (!all_done(threads)) {
        bool moved = false;
        for (unsigned w = 0; w < (threads + 31) / 32; w++)
            do
                for (unsigned t = 32 * w; t < 32 * (w + 1) && t < threads; t++)
                    if (fibers[t].wait == RUNS) {
                        moved = true;
                        run_fibers(t);
                    }
            while (release_warp(w, threads));
        if (!release_block(threads) && !moved) {
            fprintf(stderr, "emulated kernel: threads wait for each other in vain\n");
            abort();
        }
    }
}

/* Blocks of one row of threads are all that there are here. */
static void hold_against_card(const struct launch *l, unsigned most)
{
    const struct dev_limits *card = &emulated_limits;
    const unsigned shared = card->block_shared < SHARED ? card->block_shared : SHARED;
    const bool clustered = l->cluster[0] * l->cluster[1] * l->cluster[2] > 1;
    if (l->block[0] <= most && l->block[1] == 1 && l->block[2] == 1 && l->shared_bytes + CUDA_STATIC_SHARED <= shared &&
        l->grid[0] && l->grid[1] <= GRID_MOST && l->grid[2] <= GRID_MOST && (card->clusters || !clustered))
        return;
    fprintf(stderr,
            "emulated kernel: blocks %u x %u x %u of %u x %u x %u threads with %u bytes of shared memory%s: a block "
            "may have %u "
            "threads and %u bytes\n",
            l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2], l->shared_bytes,
            clustered ? ", in clusters" : "", most, shared - CUDA_STATIC_SHARED);
    abort();
}

void emulate_launch(const struct launch *launch, unsigned most, void (*call)(const void *args), const void *args)
{
    function = call;
    arguments = args;
    gridDim = dim3_now{launch->grid[0], launch->grid[1], launch->grid[2]};
    blockDim = dim3_now{launch->block[0], launch->block[1], launch->block[2]};
    hold_against_card(launch, most ? most : MOST);
    for (unsigned b = 0; b < launch->grid[0] * launch->grid[1] * launch->grid[2]; b++) {
        blockIdx =
            dim3_now{b % launch->grid[0], b / launch->grid[0] % launch->grid[1], b / launch->grid[0] / launch->grid[1]};
        run_block(launch->block[0], launch->shared_bytes);
    }
}
