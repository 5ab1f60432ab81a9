/* SPDX-License-Identifier: Apache-2.0 */
#include "client/commands.h"

#include <string.h>

#include "client/command/handlers.h"
#include "client/command/option_rows.h"
#include "engine/base/printable.h"
#include "engine/base/suggest.h"

#define BIT(symbol) ((option_set)1 << OPTION_##symbol)
#define SERVICE (BIT(SOCKET) | BIT(JSON) | BIT(QUIET))
#define KEPT                                                                                                           \
    (SERVICE | BIT(HERE)) /* of commands that look at what a service keeps, or change it, and wait for nothing */
#define OTHERS (BIT(OWNER) | BIT(ALL_USERS))
#define CHOICE (BIT(ALL) | BIT(STATE) | BIT(LABEL))
#define FILES (BIT(INCLUDE) | BIT(JSON))
_Static_assert(OPTION_COUNT <= 128, "options are bits of an option_set");

enum { MANY = 1000000 };

static int help_main(struct client *c, int argc, char **argv);

const struct command commands[] = {
    {"submit", "SPEC.yaml", "submit an ensemble; prints its id",
     "Hands the spec to the service, with the topology, the coordinates and all files that the topology includes. "
     "--output implies "
     "--wait. Interrupting the wait does not stop the ensemble.",
     "shoal submit methane.yaml\n"
     "shoal submit methane.yaml --wait --output results/\n"
     "shoal submit methane.yaml --key methane-1 --label project=hydration\n",
     NEEDS_SERVICE,
     SERVICE | BIT(WAIT) | BIT(KEY) | BIT(LABEL) | BIT(PRIORITY) | BIT(OUTPUT) | BIT(CSV) | BIT(TIMEOUT) | BIT(INCLUDE),
     1, 1, submit_main},
    {"list", "", "your ensembles, newest first",
     "Those of all users for root, and with --all-users for other administrators, with their owners. On a terminal "
     "columns that do not fit are left out; --plain and --json have all.",
     "shoal list\nshoal list --state running,queued\nshoal list --label project=hydration --limit 20 --json\n",
     NEEDS_SERVICE, KEPT | OTHERS | BIT(STATE) | BIT(LABEL) | BIT(LIMIT) | BIT(PLAIN) | BIT(JSONL), 0, 0, list_main},
    {"status", "[ID...]", "ensembles with their windows; without ID what runs now",
     "For an ensemble that runs it shows the free energy so far, with its error and verdict, from all rows that "
     "checkpoints vouch for. It is computed again whenever checkpoints hold a tenth more.",
     "shoal status\nshoal status 3f2a\nshoal status --devices\n", NEEDS_SERVICE, KEPT | BIT(PLAIN) | BIT(DEVICES), 0,
     MANY, status_main},
    {"top", "", "devices and ensembles that have not ended, redrawn until interrupted",
     "Where standard output is no terminal they are printed once.", "shoal top\nshoal top --every 10\n", NEEDS_SERVICE,
     SERVICE | BIT(EVERY), 0, 0, top_main},
    {"web", "", "ensembles, devices and reports as pages for a browser on this machine, until interrupted",
     "Prints the address. The pages are served on 127.0.0.1 alone, and only to those who have the address: it holds a "
     "token, another one at each start. The service is asked as the user who runs the command, and nothing can be "
     "changed there. The first page has what list and status --devices show, with the free energies so far, of the 100 "
     "newest ensembles or as many as --limit says; the page of an ensemble is that of report. Pages show by themselves "
     "what has changed. From another machine: ssh -L 8080:127.0.0.1:8080 NODE, with --port 8080 there.",
     "shoal web\nshoal web --port 8080 --state running,queued\n", NEEDS_SERVICE,
     BIT(SOCKET) | BIT(QUIET) | BIT(STATE) | BIT(LABEL) | BIT(LIMIT) | BIT(PORT), 0, 0, web_main},
    {"watch", "ID", "follow an ensemble until it ends", "Exits as the ensemble did: 0 done, 1 failed or cancelled.",
     "shoal watch 3f2a\nshoal watch 3f2a --jsonl --timeout 600\n", NEEDS_SERVICE, SERVICE | BIT(JSONL) | BIT(TIMEOUT),
     1, 1, watch_main},
    {"wait", "[ID...]", "stay until ensembles have ended; prints their states",
     "Exits 0 when all are done, 1 when one failed or was cancelled, 124 when the time was too short.",
     "shoal wait 3f2a 77c0\nshoal wait --label project=hydration --timeout 2d\nshoal wait --all\n", NEEDS_SERVICE,
     SERVICE | CHOICE | BIT(TIMEOUT), 0, MANY, wait_main},
    {"events", "ID", "what happened to an ensemble: states, reasons, retries", "",
     "shoal events 3f2a\nshoal events 3f2a --follow --jsonl\n", NEEDS_SERVICE,
     KEPT | BIT(FOLLOW) | BIT(SINCE) | BIT(JSONL) | BIT(PLAIN), 1, 1, events_main},
    {"results", "ID", "free energies with errors, and the files",
     "Exits as the ensemble did, and 1 too where there is no free energy. An ensemble that has not ended gives what "
     "there is so far, "
     "marked as such, and exit code 75.",
     "shoal results 3f2a\nshoal results 3f2a --json\nshoal results 3f2a --output results/ --csv\n", NEEDS_SERVICE,
     KEPT | BIT(OUTPUT) | BIT(CSV), 1, 1, results_main},
    {"report", "ID|FILE.yaml", "results of an ensemble, or of a campaign, as one HTML page with figures",
     "Free energies with their errors and verdicts, convergence forward and backward, the overlap matrix, how "
     "replicas exchanged windows, dH/dlambda along the ladder, how many rows there are for each uncorrelated "
     "sample, which windows the time went to and the error comes from and what to do about it, and of every window "
     "temperature, pressure, volume and energies over time beside what they should be. "
     "FILE, which ends in .yaml or .yml, is a campaign's: values beside experiment, the network of edges "
     "with what its loops close by, the tables of campaign gather, and how every ensemble converged. "
     "The page needs no other file and no network. Without --output it goes to standard output. Exits as results "
     "does, of a campaign as campaign gather does.",
     "shoal report 3f2a --output methane.html\nshoal report campaign.yaml --output campaign.html\n", NEEDS_SERVICE,
     (KEPT & ~BIT(JSON)) | BIT(OUTPUT) | BIT(INCLUDE), 1, 1, report_main},
    {"pause", "[ID...]", "checkpoint ensembles and stop them until resumed",
     "What an administrator paused only an administrator resumes.",
     "shoal pause 3f2a\nshoal pause --all\nshoal pause --label project=hydration\nshoal pause --owner ann\n",
     NEEDS_SERVICE, KEPT | CHOICE | OTHERS, 0, MANY, pause_main},
    {"resume", "[ID...]", "go on with paused ensembles", "", "shoal resume 3f2a\nshoal resume --all\n", NEEDS_SERVICE,
     KEPT | CHOICE | OTHERS, 0, MANY, resume_main},
    {"cancel", "[ID...]", "stop ensembles; finished windows keep their files", "retry goes on with them.",
     "shoal cancel 3f2a\nshoal cancel --state queued\n", NEEDS_SERVICE, KEPT | CHOICE | OTHERS, 0, MANY, cancel_main},
    {"retry", "[ID...]", "run failed and cancelled windows again from their last good checkpoints",
     "Windows that are done stay so. An ensemble that still runs can have its failed windows retried meanwhile; "
     "--window retries one failed window, and where windows exchange replicas all that failed with it.",
     "shoal retry 3f2a\nshoal retry 3f2a --window 3\nshoal retry --state failed\n", NEEDS_SERVICE,
     KEPT | CHOICE | BIT(WINDOW), 0, MANY, retry_main},
    {"priority", "[ID...]", "say which of your ensembles go first",
     "Slots that are yours go to your ensembles of high priority, then to those of normal, then to those of low "
     "priority. A replica of a lower one makes room when its slice ends. Ensembles of other users get neither more "
     "nor less. Administrators may give the priority urgent: such an ensemble goes before those of all users, "
     "which make room at their next checkpoints, and its user's limit of running replicas does not hold for it.",
     "shoal priority 3f2a --to high\nshoal priority --label campaign=amines --to low\nshoal priority 3f2a --to "
     "urgent\n",
     NEEDS_SERVICE, KEPT | CHOICE | OTHERS | BIT(TO), 0, MANY, priority_main},
    {"move", "[ID...] DEVICE", "have ensembles go on on another device",
     "DEVICE is one that `shoal status --devices` lists. Replicas that run elsewhere make checkpoints and go on there "
     "as soon as it has room; numbers are those of a run that was not moved, to the last bit. So a device of another "
     "model is refused while one like that of the checkpoints is in use. The ensemble stays there, also after a "
     "restart of the service, unless the device is drained, lost or put aside, or crashes with it. DEVICE any takes "
     "that back: it runs where there is room.",
     "shoal move 3f2a cuda:1\nshoal move --label campaign=amines cuda:1\nshoal move 3f2a any\n", NEEDS_SERVICE,
     KEPT | CHOICE | OTHERS, 1, MANY, move_main},
    {"reestimate", "[ID...]", "compute the results of ended ensembles again from the samples that they have",
     "Nothing is simulated. Use it after the cause of a failed or partial estimate is gone (a full disk, a read error, "
     "too little memory for the estimator), or to have results by a newer version of Shoal. The old results are "
     "removed first, and the ensemble is finishing until the new ones are written. The service computes one such "
     "ensemble at a time, users take turns, and other estimates go first. Results of a cancelled ensemble are "
     "computed when they are next asked for.",
     "shoal reestimate 3f2a\nshoal reestimate --state done\nshoal reestimate --label campaign=amines\n", NEEDS_SERVICE,
     KEPT | CHOICE, 0, MANY, reestimate_main},
    {"extend", "[ID...]", "make the production of ensembles longer, or their ladders finer, also after they have ended",
     "--time adds to it, as -extend of gmx convert-tpr does; --until says how long it is to be in all, as -until does, "
     "and changes nothing when said again. Every window goes on from its checkpoint, and its files are those of a run "
     "that was submitted with the longer time, byte for byte (not so with allocate: adaptive, where the time goes to "
     "the windows that need it by then). Each extension is a revision of the ensemble: status, "
     "events and results tell its number, and the results are made anew. What was submitted, its key and its hash "
     "stay. Windows that failed take the longer time up when they are retried.\n"
     "With --by-need the total stays the same (--time multiplied by the number of ensembles), but goes to the "
     "ensembles where it reduces the error most. Every ensemble gets at least a quarter of --time, in whole "
     "timesteps. One without a free energy gets --time; one that has failed or was cancelled gets nothing.\n"
     "--add-window inserts windows into the ladder of an ensemble that has ended or is paused. Components of lambda "
     "that do not change there may be left out. New windows sample as long as the others were to, or by need if "
     "production is handed out by need. Samples of the other windows are reused where frames were stored "
     "(frames-every): each frame is evaluated at all windows. Rows without a frame have no energies at the new "
     "windows and count no longer. results says how many they are, and how far the energies of frames are off because "
     "coordinates are rounded; the files of before are in revision_1, or that of the revision. Windows that exchange "
     "replicas wait where they are until the new ones have come there. Ensembles whose production stores no frames "
     "are refused. --dry-run says how many of the "
     "rows would count and changes nothing; a terminal is asked before rows are lost, unless --yes is given.",
     "shoal extend 3f2a --time '2 ns'\nshoal extend --label project=hydration --until '5 ns'\n"
     "shoal extend --label campaign=amines --time '1 ns' --by-need\n"
     "shoal extend 3f2a --add-window 'vdw: 0.65' --add-window 'vdw: 0.72' --dry-run\n",
     NEEDS_SERVICE, KEPT | CHOICE | BIT(TIME) | BIT(UNTIL) | BIT(BY_NEED) | BIT(ADD_WINDOW) | BIT(DRY_RUN) | BIT(YES),
     0, MANY, extend_main},
    {"rm", "[ID...]", "remove ended ensembles with all their files, for ever",
     "Says how much space that frees. Ensembles that have not ended are refused: cancel them first. On a terminal it "
     "asks "
     "before it removes several; --yes does not.",
     "shoal rm 3f2a\nshoal rm --state done,failed --older-than 30d --dry-run\n", NEEDS_SERVICE,
     KEPT | CHOICE | BIT(OLDER_THAN) | BIT(DRY_RUN) | BIT(YES), 0, MANY, rm_main},
    {"du", "[ID...]", "disk space that ensembles use, the largest first", "",
     "shoal du\nshoal du --label project=hydration\nshoal du --all-users\n", NEEDS_SERVICE,
     KEPT | OTHERS | BIT(STATE) | BIT(LABEL) | BIT(PLAIN), 0, MANY, du_main},
    {"export", "ID", "an ensemble as one file, for another service",
     "The ensemble is paused or has ended: pause one that runs, and the command waits until its last checkpoints are "
     "made. FILE of --output, a tar archive compressed with zstd, has the spec, the inputs, "
     "checkpoints, samples, results and the newest 20,000 events. The ensemble stays here as it is: once "
     "import-ensemble has it on the other service, cancel or remove it here, or both compute the same. --output - is "
     "standard output.",
     "shoal pause 3f2a\nshoal export 3f2a --output methane.tar.zst\n"
     "shoal export 3f2a -o - | ssh node shoal import-ensemble -\n",
     NEEDS_SERVICE, KEPT | BIT(OUTPUT), 1, 1, export_main},
    {"import-ensemble", "FILE", "take over an ensemble that export wrote; prints its id",
     "It keeps its id and its key, becomes yours and counts in your limits. A paused one stays paused: resume has it "
     "go "
     "on, from its checkpoints, with the bits that it would have had there, on the same model of device. One that "
     "has ended has its results, and can be extended. An archive that is damaged, cut short, or of a newer Shoal is "
     "refused, with exit code 65, and leaves nothing behind; so is, with exit code 3, an ensemble that this service "
     "has already. FILE - is standard input.",
     "shoal import-ensemble methane.tar.zst\nshoal resume 3f2a\n", NEEDS_SERVICE, SERVICE, 1, 1, import_ensemble_main},
    {"validate", "SPEC.yaml", "check a spec and its files; say what it would take and what in it is likely not meant",
     "", "shoal validate methane.yaml\nshoal validate methane.yaml --json\n", NEEDS_WORKER, FILES, 1, 1, offline_main},
    {"campaign", "ACTION FILE.yaml [FILE]",
     "many ensembles at once: plan, submit, run, slurm, status, wait, gather, report, diff, and what can be done to "
     "one ensemble",
     "FILE: systems, legs, edges between systems and repeats; shoal-campaign(5) says what they are.\nplan says what "
     "would be "
     "submitted and what is wrong with it, and submits nothing.\nsubmit hands over what the service does not have yet: "
     "said again, after a crash or an addition, it submits what is missing. Ensembles that something is wrong with are "
     "listed, the others are submitted, and the exit code is 65. What was submitted with other content is told with "
     "the "
     "first line that differs, stays as it is, and makes the exit code 3; with --replace it is removed, with its "
     "results, and submitted as it is now (a terminal is asked before).\n"
     "run submits too, once all of it is right, waits until all have ended, hands out the campaign's budget, if it has "
     "one, in rounds to those "
     "where it cuts the sum of squared errors most, and gathers at the end; it may be interrupted or killed and said "
     "again at any moment, and goes on from what the service has. With --here DIR no service has to run: the command "
     "starts one of its own, which keeps everything in DIR, on the devices of --device. It stops after --for and at "
     "SIGTERM, SIGINT, SIGHUP or SIGUSR1, after every window has made a checkpoint, and exits 75: the same command "
     "goes on from there, also where DIR was copied to another machine. It exits 0 when all are done, and 1 when one "
     "has failed. With --share I/N it runs one part of N, in DIR/share-I: the first share writes to DIR/plan.json "
     "which "
     "ensemble is in which share, and later ones follow it. A share that finds another file or other inputs exits 3, "
     "and another copy of a share that runs exits 75. Where the campaign says ladder all repeats of a leg of a system "
     "or "
     "an edge are in one share; of a budget each share has the part that its specs' production is of that of all. With "
     "--here DIR of such a campaign plan, status, gather and "
     "report show all shares, without a service and while they run; cancel has all of them stop.\n"
     "slurm submits a job array to Slurm with a task for each share, and prints the number of the job; words behind -- "
     "are options for sbatch. A task that is preempted or near its time limit makes checkpoints and is put into the "
     "queue again. Said again, slurm submits shares that have work left and no task in the queue. With --dry-run it "
     "prints the script.\n"
     "Where the campaign says ladder, submit and run hand over pilots first, which place the windows of each leg; the "
     "repeats follow once their pilots have ended, and run waits for them. At the end run adds windows where "
     "neighbours overlap too little.\n"
     "status lists all of them. wait, pause, resume, retry, extend, cancel and rm do what the commands of these names "
     "do, "
     "to all ensembles that have the campaign's name as their label, cancel to its pilots too; report is that of shoal "
     "report.\n"
     "--only, --skip (a system, an edge or a key) and --leg choose some of them.\n"
     "gather makes one table of their results: means of repeats (errors are the standard deviation between repeats "
     "where there are three or more, as OpenFE's are, else what they were estimated to be and two differ by), "
     "corrections where "
     "results have some (standard state, net charge), sums of legs with their signs, the closure of every "
     "independent loop of edges, the most likely values of all systems (Xu 2019, doi 10.1021/acs.jcim.9b00528) "
     "with their covariance, and RMSE, MUE and Kendall's tau beside experiment with bootstrap intervals. With "
     "--output DIR it writes gather.json, report.html (with the network) and gather.tsv, dg.tsv, ddg.tsv and "
     "raw.tsv as OpenFE's gather does, and cinnabar.csv. Numbers of ensembles that have not ended are of their samples "
     "so far, and are marked so. --here may be given several times, for folders that have parts of the campaign. It "
     "exits 75 where ensembles have not ended, 1 where some have no free energy.\n"
     "diff compares two campaigns, A and B, each FILE.yaml or a gather.json that gather has written: of every edge, "
     "system and leg the free energies, their difference B - A with its error and in multiples of that error, and "
     "which "
     "verdicts changed; which edges are in one campaign only; how far the edges are apart in all. An edge that goes "
     "the "
     "other way in B is turned round. The error takes A and B for independent, which campaigns that share samples are "
     "not. With --output FILE.csv or FILE.json it writes that file too. It exits 75 where A or B has ensembles "
     "that have not ended.",
     "shoal campaign plan campaign.yaml\n"
     "shoal campaign submit campaign.yaml\n"
     "shoal campaign run campaign.yaml --output table/\n"
     "shoal campaign run campaign.yaml --here run/ --device cuda:0 --for 4h\n"
     "shoal campaign run campaign.yaml --here run/ --share 7/64\n"
     "shoal campaign slurm campaign.yaml --here run/ --shares 64 --at-once 16 -- --partition=gpu --gpus=1 "
     "--time=4:00:00\n"
     "shoal campaign submit campaign.yaml --only ligand_7 --replace\n"
     "shoal campaign pause campaign.yaml --leg complex --skip ligand_3\n"
     "shoal campaign extend campaign.yaml --until '5 ns'\n"
     "shoal campaign extend campaign.yaml --time '1 ns' --by-need\n"
     "shoal campaign gather campaign.yaml --output table/\n"
     "shoal campaign diff before/gather.json campaign.yaml --output diff.csv\n",
     NEEDS_SERVICE,
     KEPT | BIT(PLAIN) | BIT(INCLUDE) | BIT(TIME) | BIT(UNTIL) | BIT(BY_NEED) | BIT(OUTPUT) | BIT(TIMEOUT) | BIT(FOR) |
         BIT(DEVICE) | BIT(ONLY) | BIT(SKIP) | BIT(LEG) | BIT(REPLACE) | BIT(DRY_RUN) | BIT(YES) | BIT(SHARE) |
         BIT(SHARES) | BIT(AT_ONCE),
     2, MANY, campaign_main},
    {"init", "[KIND]", "write a commented spec to begin with: hydration, relative, absolute or switching",
     "With --topology the topology is read: the spec is of the one molecule that is neither solvent nor ion, and named "
     "after it; where there are several, --ligand says which. Solvent is water, and whatever there are ten molecules "
     "of "
     "or more. Without KIND it is relative where that molecule has B states, else hydration. Without --output the spec "
     "goes to standard output. switching is relative by non-equilibrium switches.",
     "shoal init -p topol.top -c conf.gro -o toluene.yaml\n"
     "shoal init absolute -p complex.top -c complex.gro --ligand LIG -o complex.yaml\n"
     "shoal init relative\n",
     NEEDS_NOTHING, BIT(OUTPUT) | BIT(TOPOLOGY) | BIT(COORDINATES) | BIT(LIGAND) | BIT(INCLUDE) | BIT(QUIET), 0, 1,
     init_main},
    {"import", "FILE.mdp", "write a spec from a GROMACS .mdp file; say what of it was dropped or changed, and why",
     "Every option is taken over, dropped, changed or refused; those that are not taken over are listed with their "
     "lines, on "
     "standard error and in the spec. Where one is refused or unknown no spec is written, and the exit code is 65. "
     "With --output and couple-moltype the topology is read, too, and what of it the spec would leave out is said. "
     "Without --output the spec goes to standard output.",
     "shoal import prod.mdp -p topol.top -c npt.gro -o prod.yaml\nshoal import prod.mdp --json\n", NEEDS_NOTHING,
     BIT(OUTPUT) | BIT(TOPOLOGY) | BIT(COORDINATES) | BIT(REFERENCE) | BIT(INDEX) | BIT(JSON) | BIT(QUIET), 1, 1,
     import_main},
    {"ladder", "ID|SPEC.yaml",
     "windows of equal thermodynamic length, from an ensemble that ran, or by pilots of a spec",
     "Prints the windows: of a spec that follows the pilot's path, a window at every corner of it, in between at equal "
     "thermodynamic length: the integral of the standard deviation of dH/dlambda, which is taken to go on as a "
     "straight "
     "line between the pilot's windows. So many as neighbours need for the overlap of --overlap, or --windows of them. "
     "The overlap that is expected is that of normally distributed energy differences and of equally many samples. "
     "Beside "
     "them the shares of a switch's length between the pilot's own windows (switch.shares of a spec). In "
     "place of ID a file that ends in .json, or - for standard input, with results as results and estimate print them. "
     "Of a spec, a file that ends in .yaml or .yml, short pilots are submitted and waited for, as a campaign does it "
     "that says ladder: the first on the spec's windows, each later one on those that the last proposes, until the "
     "neighbours of one overlap as results need. --windows is the most windows then. Said again, it goes on with the "
     "pilots that there are.",
     "shoal ladder 3f2a\nshoal ladder 3f2a --windows 16\nshoal estimate lambda_*/dhdl.xvg --json | shoal ladder -\n"
     "shoal ladder complex.yaml --pilot '50 ps'\n",
     NEEDS_SERVICE, KEPT | BIT(WINDOWS) | BIT(OVERLAP) | BIT(PILOT) | BIT(INCLUDE) | BIT(TIMEOUT), 1, 1, ladder_main},
    {"energy", "SPEC.yaml", "one evaluation of the start coordinates, split as gmx energy splits it", "",
     "shoal energy methane.yaml --json\nshoal energy methane.yaml --window 3 --forces --json\n", NEEDS_WORKER,
     FILES | BIT(WINDOW) | BIT(FORCES) | BIT(CHECK) | BIT(DEVICE), 1, 1, offline_main},
    {"observe", "SPEC.yaml", "compute a spec's observables from a trajectory, such as g(r) or X-ray scattering",
     "SPEC has the system and its observables; it needs no protocol. --trajectory is an .xtc, .trr or .gro file of the "
     "same atoms. "
     "Every frame from --begin to --end counts, with --dt those that are a whole number of it behind the first, as "
     "with GROMACS' -b, -e and -dt. Dipoles have the charges of --window, 0 when not given. "
     "Each observable becomes a file NAME.xvg in --output, the current folder when not given, with an error beside "
     "every number: the "
     "standard error of the mean of 8 to 16 blocks of equal length; --csv writes NAME.csv too, and --plot draws them, "
     "errors as bands, into one "
     "FILE.svg or into a folder, a NAME.svg each. On a terminal it says how far it is.",
     "shoal observe water.yaml --trajectory traj.xtc\n"
     "shoal observe water.yaml --trajectory traj.xtc --begin '100 ps' --dt '1 ps' --output results/ --json\n"
     "shoal observe water.yaml --trajectory traj.xtc --csv --plot water.svg\n",
     NEEDS_WORKER,
     FILES | BIT(TRAJECTORY) | BIT(BEGIN) | BIT(END) | BIT(DT) | BIT(OUTPUT) | BIT(CSV) | BIT(PLOT) | BIT(WINDOW) |
         BIT(DEVICE) | BIT(QUIET) | BIT(STAGES),
     1, 1, offline_main},
    {"bench", "SPEC.yaml...", "time replicas of a spec, or of several side by side",
     "--plot draws cost against replicas, a line for each device; with --each ns/day against atoms, and how many times "
     "as fast the first device is as the last. --device may be given more than once. With several "
     "specs, the clock stops when the first replica of any has done "
     "its steps. Each spec has its part of all steps that replicas did until then, and of all atom-steps (the steps of "
     "a replica times its atoms). "
     "--form and --pme have a GPU do with timesteps and mesh what it would not by itself; --json says "
     "what was done. --profile measures three times: one replica launch by launch, one replica by graphs, then all of "
     "them. 'us alone' is the time of the launches of a family, one after another. 'us of device' is that time "
     "multiplied "
     "by the part of the device that the launches fill: the least that a step takes of the device when many replicas "
     "run.",
     "shoal bench methane.yaml --replicas 4 --steps 1000 --json\n"
     "shoal bench methane.yaml --sweep 1,2,4,8 --device cuda:0 --device cpu --plot methane.svg\n"
     "shoal bench methane.yaml --profile --replicas 24 --device cuda:0 --json\n"
     "shoal bench methane.yaml methanol.yaml --each --device cuda:0 --device cpu:1 --plot sizes.svg\n",
     NEEDS_WORKER,
     FILES | BIT(REPLICAS) | BIT(SWEEP) | BIT(EACH) | BIT(PROFILE) | BIT(STEPS) | BIT(WARM_UP) | BIT(DEVICE) |
         BIT(FORM) | BIT(PME) | BIT(PLOT),
     1, 8, offline_main},
    {"suggest-restraint", "SPEC.yaml [TRAJ.xtc...]",
     "choose anchors that hold a ligand where it binds, from a short run",
     "Writes an [ intermolecular_interactions ] block for the end of the topology: a distance, two angles and three "
     "dihedrals (Boresch et al., doi 10.1021/jp0217839) between heavy atoms that move little against each other, "
     "hydrogen-bond-like contacts first, off in state A and on in state B, so that the ladder `bonded` brings them in; "
     "and what letting go to 1 mol/l is worth. Values at rest are means over the frames, force constants RT / "
     "variance (doi 10.1021/acs.jctc.3c00139) within 10 to 100 kcal/mol per square angstrom or radian. Without "
     "trajectories the spec's coordinates are the only frame, and force constants the least. A trajectory is one that "
     "a "
     "window without restraints wrote (frames-every), or GROMACS' of the same atoms.",
     "shoal suggest-restraint complex.yaml results/lambda_00/traj.xtc >> complex.top\n"
     "shoal suggest-restraint complex.yaml run.xtc --ligand LIG --receptor HOST --json\n",
     NEEDS_WORKER, FILES | BIT(LIGAND) | BIT(RECEPTOR), 1, MANY, offline_main},
    {"estimate", "[FILE...]", "free energies from dhdl.xvg files of GROMACS or Shoal, or from work of switches",
     "FILE: one for each window of a ladder, gzipped or not, with the energy differences to all windows; several of "
     "one window are parts of one run. Or FILE is the dhdl.xvg of one run in which the state changes (expanded "
     "ensemble, AWH along lambda), or several are its parts; leave out with --begin the time in which weights were "
     "still changing. Rows of different windows are taken for independent, which those of replicas that "
     "exchanged windows are not. Reports as results does, and exits 1 where there is no free energy. Without FILE: "
     "--forward and --backward name works of non-equilibrium switches from lambda 0 to 1 and back. Each is a text with "
     "the work of one switch in every line, or with the name of a file and a work, as pmx writes integA.dat and "
     "integB.dat (backward works there have the sign of going from 0 to 1, which is changed); or dhdl.xvg of a run "
     "with delta-lambda from one end to the other (a name with .xvg), which is integrated over lambda. The order of "
     "files, natural within a pattern, and of lines is that of the snapshots from which switches began. FILEs named "
     "work.tsv are those of the walkers of an ensemble with switch, and say which way their works are of.",
     "shoal estimate lambda_*/dhdl.xvg\nshoal estimate old/dhdl.*.xvg.gz --json\n"
     "shoal estimate expanded/dhdl.xvg --begin '500 ps'\n"
     "shoal estimate --forward 'A/dhdl*.xvg' --backward 'B/dhdl*.xvg'\nshoal estimate results/lambda_*/work.tsv\n"
     "shoal estimate --forward integA.dat --backward integB.dat --temperature 298.15\n",
     NEEDS_WORKER, BIT(JSON) | BIT(BEGIN) | BIT(FORWARD) | BIT(BACKWARD) | BIT(TEMPERATURE) | BIT(UNIT), 0, MANY,
     estimate_main},
    {"up", "", "start a service of your own in the background, or say that one runs",
     "The service goes on after the command and the terminal have ended, and takes all usable GPUs, else the CPU, or "
     "what "
     "--device names. It keeps what it has in $XDG_STATE_HOME/shoald, ~/.local/state/shoald when that is not set, with "
     "its "
     "socket and its log. The command ends when the service answers. Where a service answers already, also the "
     "system's, none is started.",
     "shoal up\nshoal up --device cuda:0 --device cuda:1\nshoal up --json\n", NEEDS_NOTHING, SERVICE | BIT(DEVICE), 0,
     0, up_main},
    {"usage", "", "what was used: device time, steps, simulated time and energy",
     "Of your ensembles, also of removed ones; root sees the use of all users, other administrators do with "
     "--all-users. Replicas that share a device have equal parts of its time. Steps are those that checkpoints "
     "hold, each counted once. Energy is known of GPUs whose driver counts it, shared by device time; \"-\" where it "
     "is not known. Days are UTC's; without --since it is the last 30 days. --csv and --plain have times in seconds "
     "and energy in joules.",
     "shoal usage\nshoal usage --since 8w --by campaign\nshoal usage --all-users --by user --csv\n", NEEDS_SERVICE,
     KEPT | OTHERS | BIT(SINCE) | BIT(BY) | BIT(CSV) | BIT(PLAIN), 0, 0, usage_main},
    {"drain", "[DEVICE...]", "take devices out of use, until they are undrained",
     "Of administrators. Replicas there make checkpoints and go on on other devices, also of another model where "
     "there is none of theirs; the worker stays. What waits says who drained the device, and so does status "
     "--devices. A drained device stays so when the service is restarted.",
     "shoal drain cuda:1 --reason 'the fan'\nshoal drain --all --reason 'new driver at noon'\n", NEEDS_SERVICE,
     SERVICE | BIT(ALL) | BIT(REASON), 0, MANY, drain_main},
    {"undrain", "[DEVICE...]", "put drained devices back into use",
     "Of administrators. A device that was put aside after crashes is tried again at once, too.",
     "shoal undrain cuda:1\nshoal undrain --all\n", NEEDS_SERVICE, SERVICE | BIT(ALL), 0, MANY, undrain_main},
    {"hold", "", "take no submissions but those of administrators, until released",
     "Of administrators. What was submitted before goes on. Submissions of others are refused with the reason, and "
     "exit code 75.",
     "shoal hold --reason 'new driver at noon'\n", NEEDS_SERVICE, SERVICE | BIT(REASON), 0, 0, hold_main},
    {"release", "", "take submissions of everybody again", "Of administrators.", "shoal release\n", NEEDS_SERVICE,
     SERVICE, 0, 0, release_main},
    {"doctor", "[FOLDER]", "look for what may be wrong with this machine, and say what to do",
     "A line for each thing: the versions of client, worker and service, the driver, memory errors and clocks of GPUs, "
     "GPUs that "
     "are not used, space and permissions of the folders that services keep their state in, and of FOLDER, which has "
     "specs: the current folder when not given. It works without a GPU and without a service, changes nothing, and "
     "exits 1 where a line is a warning.",
     "shoal doctor\nshoal doctor projects/tyk2 --json\n", NEEDS_NOTHING, BIT(SOCKET) | BIT(JSON), 0, 1, doctor_main},
    {"version", "", "versions of client and service", "", "shoal version --json\n", NEEDS_SERVICE, SERVICE, 0, 0,
     version_main},
    {"help", "[COMMAND]", "explain a command; with --json all of them", "", "shoal help submit\n", NEEDS_NOTHING,
     BIT(JSON), 0, 1, help_main},
};
const int commands_count = sizeof commands / sizeof *commands;

const struct command *command_find(const char *name)
{
    const char *known[sizeof commands / sizeof *commands];
    for (int i = 0; i < commands_count; i++) {
        if (!strcmp(commands[i].name, name))
            return &commands[i];
        known[i] = commands[i].name;
    }
    const char *near = suggest_nearest(name, known, (size_t)commands_count);
    if (near)
        printable_line(stderr, "shoal: no command '%s'; did you mean '%s'?", name, near);
    else
        printable_line(stderr, "shoal: no command '%s'; shoal --help lists them", name);
    return NULL;
}

static int help_main(struct client *c, int argc, char **argv)
{
    if (c->json) {
        help_json(commands, commands_count);
        return EXIT_OK;
    }
    if (!argc)
        return help_all(stdout, commands, commands_count);
    const struct command *about = command_find(argv[0]);
    return about ? help_command(stdout, about) : EXIT_BAD_USAGE;
}
