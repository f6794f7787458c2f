// The library for file systems in user space, of the version that this program is written for.
#pragma once
#define FUSE_USE_VERSION 312
#include <fuse_lowlevel.h>
