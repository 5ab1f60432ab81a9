/* SPDX-License-Identifier: Apache-2.0
 *
 * The lambda components, once for specs, dhdl.xvg and results.
 */
#include "engine/system/settings.h"

const struct lambda_name lambda_names[LAMBDA_FILE_COUNT] = {
    [LAMBDA_COULOMB] = {"coulomb", "coul-lambda"},          [LAMBDA_VDW] = {"vdw", "vdw-lambda"},
    [LAMBDA_BONDED] = {"bonded", "bonded-lambda"},          [LAMBDA_MASS] = {"mass", "mass-lambda"},
    [LAMBDA_RESTRAINT] = {"restraint", "restraint-lambda"}, [LAMBDA_FEP] = {"fep", "fep-lambda"},
};

const enum lambda lambda_file_order[LAMBDA_FILE_COUNT] = {LAMBDA_FEP, LAMBDA_MASS,   LAMBDA_COULOMB,
                                                          LAMBDA_VDW, LAMBDA_BONDED, LAMBDA_RESTRAINT};
