/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/spec.h"

int spec_system(const struct spec *s, struct source *src, struct system *sys, struct err *e)
{
    int rc = top_read(sys, src, s->topology, s->defines, s->ndefines, e);
    if (!rc)
        rc = gro_read(sys, src, s->coordinates, e);
    if (!rc && s->reference)
        rc = gro_read_reference(sys, src, s->reference, e);
    if (rc)
        system_close(sys);
    return rc;
}
