// fakenvml.c - a stand-in for libnvidia-ml.so.1, for tests only: the GPU at
// FAKE_NVML_PCI over the link FAKE_NVML_LINK=gen,width,maxgen,maxwidth, in confidential
// mode with FAKE_NVML_CC=1. A field of the link that is below 0 is not supported.
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#define EXPORT __attribute__((visibility("default")))
static int link_[4] = {4, 16, 4, 16}, started;
static int device;

EXPORT int nvmlInit_v2(void) {
    const char *l = getenv("FAKE_NVML_LINK"), *fail = getenv("FAKE_NVML_INIT");
    if (l) sscanf(l, "%d,%d,%d,%d", &link_[0], &link_[1], &link_[2], &link_[3]);
    started = 1;
    return fail ? atoi(fail) : 0;
}
EXPORT int nvmlDeviceGetHandleByPciBusId_v2(const char *pci, void **d) {
    const char *have = getenv("FAKE_NVML_PCI");
    if (!started) return 1;                                              // uninitialised
    if (strcasecmp(pci, have ? have : "0000:65:00.0")) return 6; // not found
    *d = &device;
    return 0;
}
static int field(int i, void *d, unsigned *v) {
    if (d != &device) return 2; // invalid argument
    if (link_[i] < 0) return 3; // not supported
    *v = link_[i];
    return 0;
}
EXPORT int nvmlDeviceGetCurrPcieLinkGeneration(void *d, unsigned *v) { return field(0, d, v); }
EXPORT int nvmlDeviceGetCurrPcieLinkWidth(void *d, unsigned *v) { return field(1, d, v); }
EXPORT int nvmlDeviceGetMaxPcieLinkGeneration(void *d, unsigned *v) { return field(2, d, v); }
EXPORT int nvmlDeviceGetMaxPcieLinkWidth(void *d, unsigned *v) { return field(3, d, v); }
#ifndef FAKE_NVML_OLD
EXPORT int nvmlSystemGetConfComputeState(unsigned *state) { // environment, feature, developers' tools
    state[0] = 0; state[1] = getenv("FAKE_NVML_CC") != NULL; state[2] = 0;
    return 0;
}
#endif
