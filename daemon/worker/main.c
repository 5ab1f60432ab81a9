/* SPDX-License-Identifier: Apache-2.0
 *
 * shoal-worker: the program that simulates. shoald starts it with `serve`; the other commands need no daemon.
 */
#include "daemon/worker/command/commands.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "engine/base/log.h"

static const struct worker_command {
    const char *name, *help;
    int (*main)(int argc, char **argv);
} commands[] = {
    {"validate", "check a spec and its files", validate_main},
    {"campaign", "list the ensembles of a campaign", campaign_main},
    {"serve", "simulate what shoald says, over descriptor 3", serve_main},
    {"energy", "one static evaluation of a spec", energy_main},
    {"observe", "observables of a spec from a trajectory", observe_main},
    {"bench", "time N replicas of a spec", bench_main},
    {"suggest-restraint", "choose anchors for a ligand, from a trajectory", suggest_restraint_main},
    {"estimate", "free energies from the files of an ensemble", estimate_main},
    {"check-submission", "read a request's body from stdin, for shoald", check_submission_main},
    {"unpack", "read an ensemble of another node from stdin, for shoald", unpack_main},
    {"molecules", "list the molecule types of a topology", molecules_main},
    {"devices", "list the devices that can be used here", devices_main},
    {"version", "print the version", version_main},
};

#define COMMAND_COUNT (sizeof commands / sizeof *commands)

int version_main(int argc, char **argv)
{
    (void)argc, (void)argv;
    puts("shoal-worker " SHOAL_VERSION);
    return EXIT_OK;
}

static int usage(FILE *to)
{
    fputs("usage: shoal-worker COMMAND [OPTIONS]\n", to);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        fprintf(to, "  %-18s %s\n", commands[i].name, commands[i].help);
    return to == stdout ? EXIT_OK : EXIT_BAD_USAGE;
}

/* An answer that did not get out whole is none. */
static int unless_unwritten(const char *command, int code)
{
    struct err e = {0};
    bool bad = ferror(stdout);
    if (fflush(stdout))
        err_errno(&e, "standard output");
    else if (bad)
        err_set(&e, ERR_IO, "standard output: not all of it was written");
    return e.code ? exit_with(command, &e) : code;
}

int main(int argc, char **argv)
{
    log_setup("shoal-worker", LOG_INFO);
    signal(SIGXFSZ, SIG_IGN); /* a file beyond the size limit is an error of who writes it */
    if (argc < 2)
        return usage(stderr);
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
        return usage(stdout);
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (!strcmp(argv[1], commands[i].name))
            return unless_unwritten(argv[1], commands[i].main(argc - 1, argv + 1));
    fprintf(stderr, "shoal-worker: no command '%s'\n", argv[1]);
    return usage(stderr);
}
