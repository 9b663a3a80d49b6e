/* The lists of rows, one per file of this folder, each ended by an empty row. Internal to src/func. */
#ifndef NK_FUNC_REGISTRY_H
#define NK_FUNC_REGISTRY_H

#include "func/func.h"

#define NK_FUNCS(list) extern const nk_func list[];
#include "func/registry.inc"
#undef NK_FUNCS

#endif
