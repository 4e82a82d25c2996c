# SPDX-License-Identifier: Apache-2.0
"""`python -m lightnetrt ARGS`: the command `lightnet`, which is installed apart from this package."""
import os
import shutil
import sys


def main():
    command = os.environ.get("LIGHTNET_COMMAND") or shutil.which("lightnet")
    if not command:
        sys.stderr.write("lightnetrt: the command `lightnet` is not on the PATH; install it (the package "
                         "`lightnet`, or `make install`), or name it in LIGHTNET_COMMAND\n")
        return 1
    os.execv(command, [command, *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
