// SPDX-License-Identifier: Apache-2.0
// What is wrong with a command line whatever its files hold: exit status 2.
//
// A value that a file of the command line could make right is no matter of these checks: the name
// of an input, the name of an arch that a plug-in may have.

#ifndef LN_CLI_OPTION_CHECKS_H
#define LN_CLI_OPTION_CHECKS_H

#include "options.h"

// EXIT_USAGE after a message if a value that was given cannot be right, or two contradict. To be
// called when all options are read: a target may be that of a later plug-in.
int option_checks(const verb_usage *verb);

#endif
