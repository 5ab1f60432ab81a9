/* SPDX-License-Identifier: Apache-2.0
 *
 * Signals that ask the command to stop.
 */
#include <signal.h>
#include <time.h>

#include "client/programs/here.h"
#include "engine/base/clock.h"

#define LOOK_S 0.05 /* until it is looked again whether a signal came */

static volatile sig_atomic_t signalled;

static void on_signal(int number)
{
    signalled = number;
}

void here_take_signals(void)
{
    static const int numbers[] = {SIGTERM, SIGINT, SIGUSR1, SIGHUP};
    struct sigaction before;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!sigaction(numbers[i], NULL, &before) && before.sa_handler != SIG_IGN) /* as by nohup */
            sigaction(numbers[i], &(struct sigaction){.sa_handler = on_signal}, NULL);
}

int here_signalled(void)
{
    return (int)signalled;
}

void here_sleep(double seconds)
{
    const double until = clock_now() + seconds;
    const struct timespec moment = {.tv_nsec = (long)(LOOK_S * 1e9)};
    while (!signalled && clock_now() < until)
        nanosleep(&moment, NULL);
}

void here_forget_signal(void)
{
    signalled = 0;
}
