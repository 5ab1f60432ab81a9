/* SPDX-License-Identifier: Apache-2.0 */
#include "client/doctor/doctor.h"

#include "client/command/handlers.h"

int doctor_main(struct client *c, int argc, char **argv)
{
    struct doctor d = {.c = c, .lines = json_array()};
    doctor_programs(&d);
    doctor_gpus(&d);
    doctor_folders(&d, argc ? argv[0] : ".");
    if (c->json) {
        json_t *answer = json_pack("{s:b,s:O}", "ok", !d.warned, "checks", d.lines);
        client_print(answer);
        json_decref(answer);
    }
    json_decref(d.lines);
    return d.warned ? EXIT_FAILED : EXIT_OK;
}
