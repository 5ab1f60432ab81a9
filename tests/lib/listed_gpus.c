/* SPDX-License-Identifier: Apache-2.0
 *
 * Linked with --wrap=opendir: the NVIDIA driver's list of GPUs is the folder that SHOAL_TEST_GPUS names.
 */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "graphs/cuda/needs.h"

DIR *__real_opendir(const char *path);
DIR *__wrap_opendir(const char *path);

DIR *__wrap_opendir(const char *path)
{
    return __real_opendir(strcmp(path, GPU_LIST) == 0 ? getenv("SHOAL_TEST_GPUS") : path);
}
