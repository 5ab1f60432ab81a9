/* SPDX-License-Identifier: Apache-2.0
 *
 * CPU_CLONES before a function with hot loops: it is compiled for several instruction sets, and the best one for this
 * machine is chosen when the program starts. Not under ThreadSanitizer, which instruments the choosing although it runs
 * before the sanitizer is ready, and not with clang, which (up to 17) gives the chosen function a name that other files
 * do not find.
 */
#ifndef SHOAL_ENGINE_CPU_CLONES_H
#define SHOAL_ENGINE_CPU_CLONES_H

#if defined(__SANITIZE_THREAD__) || defined(__clang__)
#define CPU_CLONES
#else
#define CPU_CLONES __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#endif

#endif
