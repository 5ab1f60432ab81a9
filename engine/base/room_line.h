/* SPDX-License-Identifier: Apache-2.0
 *
 * The sentence that says how many replicas of an ensemble a device holds.
 */
#ifndef SHOAL_ENGINE_BASE_ROOM_LINE_H
#define SHOAL_ENGINE_BASE_ROOM_LINE_H

#include "engine/base/buf.h"

/* Appends "cuda:0 (23.6 GB): 212 replicas of 52 MB fit". memory: bytes of the device; replica: bytes of each. */
void room_line(struct buf *out, const char *device, double memory, long long replicas, double replica);

#endif
