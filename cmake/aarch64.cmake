# Toolchain: Debian's cross compiler for AArch64; what it builds runs in QEMU's user mode.
#
# The libraries, cmocka and those that the command needs, are Debian's for arm64, in the folder of
# that architecture: tools/deps.sh aarch64 installs them.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
# Loops of kernels are vectors already; gcc 12 fails on reductions of double ("internal compiler
# error: in vect_transform_reduction").
set(CMAKE_C_FLAGS_INIT -fno-tree-loop-vectorize)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_SYSTEM_LIBRARY_PATH /usr/lib/aarch64-linux-gnu)
set(CMAKE_IGNORE_PATH /usr/lib/x86_64-linux-gnu /lib/x86_64-linux-gnu)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64)
