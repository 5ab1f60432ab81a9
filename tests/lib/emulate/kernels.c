/* SPDX-License-Identifier: Apache-2.0
 *
 * The CUDA program's kernel table with rows for the CPU device, which run the kernels emulated. When the program ends,
 * the names of those that it launched are added to the file that SHOAL_TEST_LAUNCHED names, a line each.
 */
#include <stdio.h>
#include <stdlib.h>

#include "engine/cuda/kernels.h"
#include "tests/lib/emulate/emulate.h"

static bool launched[KERNEL_COUNT];

static void note(uint32_t kernel)
{
    __atomic_store_n(&launched[kernel], true, __ATOMIC_RELAXED);
}

#define F(type, name) {#name, FIELD_##type, 1},
#define FLOATS(name, count) {#name, FIELD_F32, count},
#define FIELDS_OF(kernel, ...)                                                                                         \
    static const struct field fields_of_##kernel[] = {F(PTR, echo) F(U32, launch) F(U32, pad_) __VA_ARGS__};
#define V(kernel, base)                                                                                                \
    extern const unsigned cuda_most_##kernel;                                                                          \
    extern void cuda_##kernel(struct args_##base args);                                                                \
    static void thread_of_##kernel(const void *args)                                                                   \
    {                                                                                                                  \
        cuda_##kernel(*(const struct args_##base *)args);                                                              \
    }                                                                                                                  \
    static void run_##kernel(const struct launch *launch, const void *args)                                            \
    {                                                                                                                  \
        note(KERNEL_##kernel);                                                                                         \
        emulate_launch(launch, cuda_most_##kernel, thread_of_##kernel, args);                                          \
    }
#define K(kernel, ...)                                                                                                 \
    FIELDS_OF(kernel, __VA_ARGS__)                                                                                     \
    V(kernel, kernel)
/* A library's function: there is another for the CPU. */
#define L(kernel, ...)                                                                                                 \
    FIELDS_OF(kernel, __VA_ARGS__)                                                                                     \
    extern void emulate_##kernel(const struct args_##kernel *args);                                                    \
    static void run_##kernel(const struct launch *launch, const void *args)                                            \
    {                                                                                                                  \
        note(KERNEL_##kernel);                                                                                         \
        emulate_##kernel(args);                                                                                        \
    }
#include KERNELS_DEF
#undef L
#undef K
#undef V
#undef FIELDS_OF
#undef FLOATS
#undef F

static const struct kernel rows[] = {
#define ROW(kernel, base, kind_)                                                                                       \
    {.name = #kernel,                                                                                                  \
     .kind = kind_,                                                                                                    \
     .args_size = sizeof(struct args_##base),                                                                          \
     .nfields = sizeof fields_of_##base / sizeof fields_of_##base[0],                                                  \
     .fields = fields_of_##base,                                                                                       \
     .cpu = run_##kernel},
#define V(kernel, base) ROW(kernel, base, LAUNCH_KERNEL)
#define K(kernel, fields_) V(kernel, kernel)
#define L(kernel, fields_) ROW(kernel, kernel, LAUNCH_LIBRARY)
#include KERNELS_DEF
#undef L
#undef K
#undef V
#undef ROW
};

const struct kernel_table cuda_kernels = {rows, KERNEL_COUNT};

static __attribute__((destructor)) void tell_launched(void)
{
    const char *path = getenv("SHOAL_TEST_LAUNCHED");
    FILE *f = path ? fopen(path, "a") : NULL;
    for (uint32_t k = 0; f && k < KERNEL_COUNT; k++)
        if (__atomic_load_n(&launched[k], __ATOMIC_RELAXED))
            fprintf(f, "%s\n", rows[k].name);
    if (f)
        fclose(f);
}
