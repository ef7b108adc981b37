// The one symbol that the plugin exports, for hosts that want to know what they have loaded.
#include "anderson2021/version.h"

extern "C" __attribute__((visibility("default"))) const char *anderson2021_version(void) {
    return ANDERSON2021_VERSION;
}
