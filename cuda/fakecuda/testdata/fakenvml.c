// fakenvml.c - a stand-in for libnvidia-ml.so.1, for tests only: the GPU at
// FAKE_NVML_PCI over the link FAKE_NVML_LINK=gen,width.
//
// The GPU is at 61 C, draws 250 W and clocks at 1980 MHz. While the file FAKE_NVML_HOT is
// there it throttles at 83 C: 300 W, 1410 MHz. FAKE_NVML_DENY=1 permits no access to it, and
// FAKE_NVML_DENY=power no reading of its power. -DFAKE_NVML_OLD lacks the later calls.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
static int link_[2] = {4, 16}, started;
static int device;

EXPORT int nvmlInit_v2(void) {
    const char *l = getenv("FAKE_NVML_LINK"), *fail = getenv("FAKE_NVML_INIT");
    if (l) sscanf(l, "%d,%d", &link_[0], &link_[1]);
    started = 1;
    return fail ? atoi(fail) : 0;
}
static int denied(const char *what) {
    const char *deny = getenv("FAKE_NVML_DENY");
    return deny && !strcmp(deny, what);
}
EXPORT int nvmlDeviceGetHandleByPciBusId_v2(const char *pci, void **d) {
    const char *have = getenv("FAKE_NVML_PCI");
    if (!started) return 1;                                              // uninitialised
    if (denied("1")) return 4;                                           // no permission
    if (strcasecmp(pci, have ? have : "0000:65:00.0")) return 6; // not found
    *d = &device;
    return 0;
}
static int field(int i, void *d, unsigned *v) {
    if (d != &device) return 2; // invalid argument
    *v = link_[i];
    return 0;
}
EXPORT int nvmlDeviceGetCurrPcieLinkGeneration(void *d, unsigned *v) { return field(0, d, v); }
EXPORT int nvmlDeviceGetCurrPcieLinkWidth(void *d, unsigned *v) { return field(1, d, v); }
static int hot(void) {
    const char *path = getenv("FAKE_NVML_HOT");
    return path && !access(path, F_OK);
}
EXPORT int nvmlDeviceGetTemperature(void *d, int sensor, unsigned *c) {
    if (d != &device || sensor) return 2;
    *c = hot() ? 83 : 61;
    return 0;
}
EXPORT int nvmlDeviceGetPowerUsage(void *d, unsigned *mw) {
    if (d != &device) return 2;
    if (denied("power")) return 4;
    *mw = hot() ? 300000 : 250000;
    return 0;
}
EXPORT int nvmlDeviceGetClockInfo(void *d, int clock, unsigned *mhz) {
    if (d != &device || (clock != 1 && clock != 2)) return 2;
    *mhz = clock == 2 ? 2619 : hot() ? 1410 : 1980;
    return 0;
}
#ifndef FAKE_NVML_OLD
EXPORT int nvmlDeviceGetPcieReplayCounter(void *d, unsigned *n) { *n = 7; return d == &device ? 0 : 2; }
EXPORT int nvmlDeviceGetCurrentClocksThrottleReasons(void *d, unsigned long long *r) {
    *r = hot() ? 0x20 : 0x2; // heat, or a setting of the clocks
    return d == &device ? 0 : 2;
}
#endif
