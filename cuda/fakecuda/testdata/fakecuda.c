// fakecuda.c - a stand-in for libcuda.so.1, for tests only.
//
// It implements the part of the CUDA driver API that dlbench calls, in host
// memory, over a modelled link. What tests rely on:
//   - work in one stream runs in order, streams run side by side; each device
//     has one copy engine a direction, which takes copies as they get ready;
//     kernels of different streams run at once;
//   - times are those of the modelled device, exact whatever the host does.
//     Work starts no earlier than it was queued and no call reports it done
//     before its time; bytes move when a call first sees the work done, so a
//     host buffer that is written too early spoils the copy, as with real DMA;
//   - pageable copies run at the pageable rate and hold their caller, but for
//     copies of at most 64 KiB to the device, which are staged;
//   - an event holds its latest record; waiting for one never recorded is done;
//   - the current context is per thread; device addresses are no host addresses
//     (bit 60 is set); copies are checked against the device's allocations;
//   - an error that breaks a real context breaks this one: all later calls in
//     it return the same;
//   - only primary contexts and non-blocking streams are modelled: the NULL
//     stream and blocking streams are refused.
//
//   - CUDA_VISIBLE_DEVICES chooses and orders devices by number, UUID or the
//     beginning of one, and ends at the first entry that names none (CUDA C++
//     Programming Guide, environment variables). UUIDs are GPU-fa4e0000-...,
//     GPU-fa4e0001-...
//
// Settings, read from the environment when the library is loaded, and again by
// fakecuda_reload, which also forgets all contexts:
//   FAKE_CUDA_DEVICES=1          devices, 0 to 16, named "Fake GPU N"
//   FAKE_CUDA_NAME=name          one name for all
//   FAKE_CUDA_H2D_GBPS=16        10^9 B/s of page-locked copies to the device; a,b
//                                by device, the last one for the rest
//   FAKE_CUDA_D2H_GBPS=16        and back
//   FAKE_CUDA_UPLINK=0,0,2       a device whose link each device copies over, by
//                                device; the rest have links of their own. Copies
//                                over one link wait for each other in each direction
//   FAKE_CUDA_PAGEABLE_GBPS=6    at most this for pageable memory, either way
//   FAKE_CUDA_LATENCY_US=0       added to each copy
//   FAKE_CUDA_VERSION=12040      CUDA version of the driver
//   FAKE_CUDA_MEMORY=8589934592  B of memory of a device
//   FAKE_CUDA_HOST_LIMIT=0       B that can be page-locked in all; 0: no limit
//   FAKE_CUDA_PCI=a,b            addresses, else 0000:65:00.0, 0000:66:00.0 ...
//   FAKE_CUDA_GONE=device:calls  the device leaves after so many calls in its
//                                context, and then answers 999
//   FAKE_CUDA_HOT=path:from:to   the device is hot from that kernel on until another one:
//                                the file at path is there, for the fake NVML to see, and
//                                dlb_work lasts 1.25 times as long
//   FAKE_CUDA_FAIL=name:code[:skip[:count]],...
//                                name, with or without _v2, returns code once
//                                skip calls have passed, count times or always,
//                                name@N only while device N is current;
//                                with a code below 0 it never returns
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define DEVBIT (1ull << 60)
#define NEVER UINT64_MAX
typedef int CUresult, CUdevice;
typedef uint64_t CUdeviceptr;
enum { OK = 0, E_VALUE = 1, E_NOMEM = 2, E_NOTINIT = 3, E_NODEV = 100, E_BADDEV = 101, E_CTX = 201, E_PTX = 218, E_HANDLE = 400,
       E_NOTFOUND = 500, E_NOTREADY = 600, E_ILLEGAL = 700, E_DESTROYED = 709, E_ALREADYREG = 712, E_NOTREG = 713, E_NOTSUPPORTED = 801, E_UNKNOWN = 999 };
enum { MAXDEV = 16, MAXFAIL = 32, STAGED = 64 << 10 };

// ---- state, all guarded by mu

enum kind { H2D, D2H, KERNEL, RECORD, WAIT };
struct normalise {
    float *out; const uint8_t *in;
    uint32_t images, area, threads, rows; // threads in x and y
    float scale[3], bias[3];
};
typedef struct op {
    enum kind kind;
    struct ctx *in;                       // where it started
    void *dst; const void *src; size_t n; // copies
    void *staged;                         // the copied source of a small pageable copy
    struct normalise *norm;               // what a dlb_normalise kernel does, NULL for others
    struct op *dep;                       // WAIT: the record it waits for
    uint64_t ns, queued, seq, end;        // end is known once started
    int refs, started, done;
    struct op *next;
} op;
typedef struct stream { op *head, **tail, *last; uint64_t clock; struct stream *next; } stream;
typedef struct event { unsigned flags; op *last; struct event *next; } event;
typedef struct func { char name[64]; struct func *next; } func;
typedef struct mod { func *funcs; struct mod *next; } mod;
typedef struct range { uint64_t base, n; int mapped; struct ctx *c; struct range *next; } range;
typedef struct ctx {
    int dev, refs, broken;
    stream *streams; event *events; mod *mods; range *memory;
    uint64_t used, engine[2]; // B allocated; when each copy engine, and the link, is free
} ctx;

static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static ctx primary[MAXDEV];
static range *locked; // page-locked host memory of all contexts
static uint64_t locked_bytes, seqs;
static op *running; // started and not done, by end
static int inited;
static __thread ctx *cur;

static int ndev, version;
static int card[MAXDEV]; // what each visible device is
static char uuid[MAXDEV][64];
static double h2d_gbps[MAXDEV], d2h_gbps[MAXDEV], pageable_gbps, latency_us;
static unsigned uplink[MAXDEV];
static const char *model;
static uint64_t memory, host_limit;
static unsigned pci[MAXDEV][3]; // domain, bus, device
static struct { char name[64]; int dev, code; long skip, count; } fails[MAXFAIL]; // dev -1: any
static int nfails;
static int gone_dev; static long gone_after;
static char hot_path[256]; static long hot_from, hot_to, launched; static int hot;

// ---- settings

static void bad(const char *name, const char *value) {
    fprintf(stderr, "fakecuda: cannot read %s=%s\n", name, value);
    abort();
}
static double number(const char *name, double dflt, double min, double max) {
    const char *v = getenv(name);
    if (!v || !*v) return dflt;
    char *end;
    double x = strtod(v, &end);
    if (*end || !(x >= min && x <= max)) bad(name, v);
    return x;
}
// item copies the next item of a comma-separated list, or returns 0 at its end.
static int item(const char **list, char *buf, size_t size, const char *name) {
    if (!*list || !**list) return 0;
    size_t n = strcspn(*list, ",");
    if (n == 0 || n >= size) bad(name, *list);
    memcpy(buf, *list, n); buf[n] = 0;
    *list += n + ((*list)[n] == ',');
    return 1;
}
// named finds the card that an entry of CUDA_VISIBLE_DEVICES names, or -1.
static int named(const char *entry, size_t n, int cards) {
    int found = -1;
    if (!strncmp(entry, "GPU-", 4)) {
        for (int c = 0; c < cards; c++) {
            if (strncmp(uuid[c], entry, n)) continue;
            if (found >= 0) return -1; // it begins two
            found = c;
        }
        return found;
    }
    char *end;
    long c = strtol(entry, &end, 10);
    return n && end == entry + n && c >= 0 && c < cards ? (int)c : -1;
}
static void choose(int cards) {
    const char *l = getenv("CUDA_VISIBLE_DEVICES");
    for (ndev = 0; !l && ndev < cards; ndev++) card[ndev] = ndev;
    while (l) {
        size_t n = strcspn(l, ",");
        int c = named(l, n, cards);
        for (int d = 0; d < ndev; d++) if (card[d] == c) c = -1;
        if (c < 0) return;
        card[ndev++] = c;
        l = l[n] ? l + n + 1 : NULL;
    }
}
static void rates(const char *name, double *rate) {
    char buf[128];
    const char *l = getenv(name);
    for (unsigned d = 0; d < MAXDEV; d++) {
        rate[d] = d ? rate[d - 1] : 16;
        if (!item(&l, buf, sizeof buf, name)) continue;
        char *end;
        rate[d] = strtod(buf, &end);
        if (*end || !(rate[d] >= 1e-6 && rate[d] <= 1e9)) bad(name, buf);
    }
}
__attribute__((constructor)) static void settings(void) {
    int cards = number("FAKE_CUDA_DEVICES", 1, 0, MAXDEV);
    version = number("FAKE_CUDA_VERSION", 12040, 0, 1e6);
    rates("FAKE_CUDA_H2D_GBPS", h2d_gbps);
    rates("FAKE_CUDA_D2H_GBPS", d2h_gbps);
    pageable_gbps = number("FAKE_CUDA_PAGEABLE_GBPS", 6, 1e-6, 1e9);
    latency_us = number("FAKE_CUDA_LATENCY_US", 0, 0, 1e9);
    memory = number("FAKE_CUDA_MEMORY", 8589934592., 0, 1e15);
    host_limit = number("FAKE_CUDA_HOST_LIMIT", 0, 0, 1e15);
    model = getenv("FAKE_CUDA_NAME");
    char buf[128];
    const char *l = getenv("FAKE_CUDA_PCI");
    for (unsigned d = 0; d < MAXDEV; d++) {
        primary[d].dev = d;
        pci[d][0] = pci[d][2] = 0; pci[d][1] = 0x65 + d;
        if (item(&l, buf, sizeof buf, "FAKE_CUDA_PCI") && sscanf(buf, "%x:%x:%x.0", &pci[d][0], &pci[d][1], &pci[d][2]) != 3) bad("FAKE_CUDA_PCI", buf);
    }
    for (int d = 0; d < MAXDEV; d++)
        snprintf(uuid[d], sizeof uuid[d], "GPU-fa4e%04x-0000-4000-8000-000000000000", d);
    choose(cards);
    gone_dev = -1;
    l = getenv("FAKE_CUDA_GONE");
    if (l && *l && sscanf(l, "%d:%ld", &gone_dev, &gone_after) != 2) bad("FAKE_CUDA_GONE", l);
    l = getenv("FAKE_CUDA_HOT");
    hot_path[0] = launched = hot = 0;
    if (l && *l && sscanf(l, "%255[^:]:%ld:%ld", hot_path, &hot_from, &hot_to) != 3) bad("FAKE_CUDA_HOT", l);
    l = getenv("FAKE_CUDA_UPLINK");
    for (unsigned d = 0; d < MAXDEV; d++) {
        uplink[d] = d;
        if (item(&l, buf, sizeof buf, "FAKE_CUDA_UPLINK") && (sscanf(buf, "%u", &uplink[d]) != 1 || uplink[d] >= MAXDEV)) bad("FAKE_CUDA_UPLINK", buf);
    }
    l = getenv("FAKE_CUDA_FAIL");
    nfails = 0;
    while (item(&l, buf, sizeof buf, "FAKE_CUDA_FAIL")) {
        if (nfails == MAXFAIL) bad("FAKE_CUDA_FAIL", buf);
        fails[nfails].skip = 0; fails[nfails].count = -1;
        if (sscanf(buf, "%63[^:]:%d:%ld:%ld", fails[nfails].name, &fails[nfails].code, &fails[nfails].skip, &fails[nfails].count) < 2) bad("FAKE_CUDA_FAIL", buf);
        char *at = strchr(fails[nfails].name, '@');
        fails[nfails].dev = at ? atoi(at + 1) : -1;
        if (at) *at = 0;
        nfails++;
    }
}

// ---- the model: a discrete-event simulation, advanced by whoever looks

static uint64_t now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec * 1000000000ull + t.tv_nsec; }
static void relax(void) {
#if defined __x86_64__ || defined __i386__
    __builtin_ia32_pause();
#elif defined __aarch64__
    __asm__ volatile("yield");
#endif
}
static void sleep_until(uint64_t t) { // sleeps, then spins for the last 60 us
    if (t > now() + 60000) {
        struct timespec ts = {(t - 60000) / 1000000000ull, (t - 60000) % 1000000000ull};
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL)) {}
    }
    while (now() < t) relax();
}
static void drop(op *o) {
    if (!o || --o->refs) return;
    drop(o->dep); free(o->staged); free(o->norm); free(o);
}
// first finds the queued op that can start first, and when.
static op *first(ctx **c, stream **s, uint64_t *start) {
    op *best = NULL; uint64_t best_ready = 0;
    for (int d = 0; d < ndev; d++) for (stream *t = primary[d].streams; t; t = t->next) {
        op *o = t->head;
        if (!o || (o->kind == WAIT && !o->dep->started)) continue;
        uint64_t ready = o->queued > t->clock ? o->queued : t->clock;
        if (o->kind == WAIT && o->dep->end > ready) ready = o->dep->end;
        uint64_t at = ready;
        if (o->kind <= D2H && primary[uplink[d]].engine[o->kind] > at) at = primary[uplink[d]].engine[o->kind];
        if (best && (at > *start || (at == *start && (ready > best_ready || (ready == best_ready && o->seq > best->seq))))) continue;
        best = o; best_ready = ready; *start = at; *c = &primary[d]; *s = t;
    }
    return best;
}
// run does what the kernel dlb_normalise does, thread by thread.
static void run(const struct normalise *k) {
    for (uint32_t y = 0; y < k->rows; y++) for (uint32_t image = y; image < k->images; image += k->rows) {
        uint64_t at = 3ull * k->area * image;
        for (uint32_t x = 0; x < k->threads; x++) for (uint32_t p = x; p < k->area; p += k->threads) for (int c = 0; c < 3; c++)
            k->out[at + p + c * k->area] = (double)k->in[at + 3 * p + c] * k->scale[c] + k->bias[c]; // as good as fused: the product is exact
    }
}
static int meet(const void *a, const void *b, size_t na, size_t nb) { return (uintptr_t)a < (uintptr_t)b + nb && (uintptr_t)b < (uintptr_t)a + na; }
// again tells whether o is followed, by t, by the same copy, with nothing that sees the
// difference between them: a host that cannot keep up with its model moves bytes once.
static int again(op *o, uint64_t t) {
    for (op *q = o->next; q && q->end <= t; q = q->next) {
        if (q->norm) return 0;
        if (q->kind > D2H || q->in->broken) continue;
        if (q->dst == o->dst && q->src == o->src && q->n == o->n) return 1;
        if (meet(q->src, o->dst, q->n, o->n) || meet(q->dst, o->dst, q->n, o->n)) return 0;
    }
    return 0;
}
// advance starts and ends all work whose time has come by t, and returns when
// there will be more to do. Nothing queued later can start before t.
static uint64_t advance(uint64_t t) {
    ctx *c = NULL; stream *s = NULL; op *o; uint64_t start = 0, next = NEVER;
    while ((o = first(&c, &s, &start))) {
        if (start > t) { next = start; break; }
        o->started = 1; o->end = start + o->ns; o->in = c;
        s->clock = o->end;
        if (o->kind <= D2H) primary[uplink[c->dev]].engine[o->kind] = o->end;
        if (!(s->head = o->next)) s->tail = &s->head;
        op **p = &running;
        while (*p && (*p)->end <= o->end) p = &(*p)->next;
        o->next = *p; *p = o; // the queue's reference
    }
    while ((o = running) && o->end <= t) {
        running = o->next;
        if (o->kind <= D2H && !o->in->broken && !again(o, t)) memcpy(o->dst, o->src, o->n); // what broke moves nothing
        if (o->norm && !o->in->broken) run(o->norm);
        o->done = 1; drop(o);
    }
    return running && running->end < next ? running->end : next;
}
static op *new_op(enum kind k) {
    op *o = calloc(1, sizeof *o);
    if (!o) abort();
    o->kind = k; o->refs = 1; return o;
}
static void push(stream *s, op *o) {
    o->queued = now(); o->seq = ++seqs; o->next = NULL;
    *s->tail = o; s->tail = &o->next;
    drop(s->last); s->last = o; o->refs++;
}
static void await(op *o) { // releases mu while it waits
    if (!o) return;
    o->refs++;
    for (;;) {
        uint64_t next = advance(now());
        if (o->done) break;
        pthread_mutex_unlock(&mu); sleep_until(next); pthread_mutex_lock(&mu);
    }
    drop(o);
}

static void drain(ctx *c) { // other threads may change the list while it waits
    for (stream *s = c->streams; s;) {
        if (!s->last || s->last->done) { s = s->next; continue; }
        await(s->last); s = c->streams;
    }
}

// ---- look-ups

static range *find(range *l, uint64_t p, uint64_t n) {
    for (; l; l = l->next) if (p >= l->base && n <= l->n && p - l->base <= l->n - n) return l;
    return NULL;
}
static range *overlaps(range *l, uint64_t p, uint64_t n) {
    for (; l; l = l->next) if (p < l->base + l->n && l->base < p + n) return l;
    return NULL;
}
static CUresult add(range **l, uint64_t p, uint64_t n, int mapped) {
    range *r = malloc(sizeof *r);
    if (!r) return E_NOMEM;
    *r = (range){p, n, mapped, cur, *l}; *l = r;
    return OK;
}
static void unlink_range(range **l, range *r) { while (*l != r) l = &(*l)->next; *l = r->next; free(r); }
static void free_memory(ctx *c, range *r) {
    munmap((void *)(r->base & ~DEVBIT), r->n); c->used -= r->n; unlink_range(&c->memory, r);
}
static void free_locked(range *r) {
    if (r->mapped) munmap((void *)r->base, r->n);
    locked_bytes -= r->n; unlink_range(&locked, r);
}
#define FIND(type, list) \
    static type *find_##type(const void *h) { type *x = cur->list; while (x && x != h) x = x->next; return x; } \
    static void take_##type(ctx *c, type *x) { type **p = &c->list; while (*p != x) p = &(*p)->next; *p = x->next; }
FIND(stream, streams)
FIND(event, events)
FIND(mod, mods)
static void free_stream(ctx *c, stream *s) { await(s->last); take_stream(c, s); drop(s->last); free(s); }
static void free_event(ctx *c, event *e) { take_event(c, e); drop(e->last); free(e); }
static void free_mod(ctx *c, mod *m) {
    take_mod(c, m);
    while (m->funcs) { func *f = m->funcs; m->funcs = f->next; free(f); }
    free(m);
}

// ---- calls: each is one BEGIN ... END(result) with mu held

static int matches(const char *call, const char *name) {
    size_t n = strlen(name);
    return !strncmp(call, name, n) && (!call[n] || !strcmp(call + n, "_v2"));
}
static CUresult leave(CUresult r) {
    pthread_mutex_unlock(&mu);
    return r;
}
static int breaks(int code) { return code == 214 || code == 700 || code == 702 || (code >= 714 && code <= 719); }
static CUresult enter(const char *call, int need_init, int need_ctx) {
    if (need_init && !inited) return E_NOTINIT;
    if (need_ctx && !cur) return E_CTX;
    if (need_ctx && !cur->refs) return E_DESTROYED;
    if (need_ctx && cur->broken) return cur->broken;
    if (need_ctx && cur->dev == gone_dev && gone_after-- <= 0) return gone_after = 0, E_UNKNOWN;
    for (int i = 0; i < nfails; i++) {
        if (fails[i].dev >= 0 && (!cur || cur->dev != fails[i].dev)) continue;
        if (!matches(call, fails[i].name) || !fails[i].count || fails[i].skip-- > 0) continue;
        if (fails[i].count > 0) fails[i].count--;
        if (fails[i].code < 0) { // stand still, holding nobody else up
            pthread_mutex_unlock(&mu);
            for (;;) pause();
        }
        if (need_ctx && breaks(fails[i].code)) cur->broken = fails[i].code;
        return fails[i].code;
    }
    return OK;
}
#define BEGIN(init, ctx) pthread_mutex_lock(&mu); CUresult r_ = enter(__func__, init, ctx); if (r_) goto end
#define RETURN(r) do { r_ = (r); goto end; } while (0)
#define CHECK(cond, r) do { if (!(cond)) RETURN(r); } while (0)
#define END end: return leave(r_)
#define CHECK_DEV(d) CHECK((d) >= 0 && (d) < ndev, E_BADDEV)

EXPORT CUresult cuInit(unsigned flags) { BEGIN(0, 0); CHECK(!flags, E_VALUE); CHECK(ndev, E_NODEV); inited = 1; END; }
EXPORT CUresult cuDriverGetVersion(int *v) { BEGIN(0, 0); *v = version; END; }
EXPORT CUresult cuDeviceGetCount(int *n) { BEGIN(1, 0); *n = ndev; END; }
EXPORT CUresult cuDeviceGet(CUdevice *d, int i) { BEGIN(1, 0); CHECK_DEV(i); *d = i; END; }
EXPORT CUresult cuDeviceGetName(char *s, int n, CUdevice d) { BEGIN(1, 0); CHECK_DEV(d); if (model && *model) snprintf(s, n, "%s", model); else snprintf(s, n, "Fake GPU %d", card[d]); END; }
EXPORT CUresult cuDeviceTotalMem_v2(size_t *n, CUdevice d) { BEGIN(1, 0); CHECK_DEV(d); *n = memory; END; }
EXPORT CUresult cuDeviceGetPCIBusId(char *s, int n, CUdevice d) {
    BEGIN(1, 0); CHECK_DEV(d);
    unsigned *p = pci[card[d]];
    snprintf(s, n, "%04X:%02X:%02X.0", p[0], p[1], p[2]); // upper case, as the driver writes it
    END;
}

EXPORT CUresult cuDevicePrimaryCtxRetain(ctx **c, CUdevice d) { BEGIN(1, 0); CHECK_DEV(d); CHECK(d != gone_dev || gone_after > 0, E_UNKNOWN); primary[d].refs++; *c = &primary[d]; END; }
static CUresult release(CUdevice d) {
    ctx *c = &primary[d];
    if (!c->refs) return E_CTX;
    if (--c->refs) return OK;
    while (c->streams) free_stream(c, c->streams);
    while (c->events) free_event(c, c->events);
    while (c->mods) free_mod(c, c->mods);
    while (c->memory) free_memory(c, c->memory);
    for (range *r = locked, *n; r; r = n) { n = r->next; if (r->c == c) free_locked(r); }
    c->broken = 0;
    return OK;
}
EXPORT void fakecuda_reload(void) { // no other thread may be in a call
    pthread_mutex_lock(&mu);
    for (int d = 0; d < MAXDEV; d++) {
        primary[d].refs = 1; release(d);
        memset(primary[d].engine, 0, sizeof primary[d].engine);
    }
    cur = NULL;
    settings();
    pthread_mutex_unlock(&mu);
}
#ifdef FAKE_CUDA_8 // drivers before CUDA 11 have the older name only
EXPORT CUresult cuDevicePrimaryCtxRelease(CUdevice d) { BEGIN(1, 0); CHECK_DEV(d); r_ = release(d); END; }
#else
EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice d) { BEGIN(1, 0); CHECK_DEV(d); r_ = release(d); END; }
#endif
EXPORT CUresult cuCtxSetCurrent(ctx *c) {
    BEGIN(1, 0);
    CHECK(!c || (c >= primary && c < primary + ndev), E_CTX);
    cur = c; END;
}

EXPORT CUresult cuMemGetInfo_v2(size_t *f, size_t *t) { BEGIN(1, 1); *f = memory - cur->used; *t = memory; END; }
EXPORT CUresult cuMemAlloc_v2(CUdeviceptr *d, size_t n) {
    BEGIN(1, 1);
    CHECK(n, E_VALUE); CHECK(n <= memory - cur->used, E_NOMEM);
    void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(p != MAP_FAILED, E_NOMEM);
    *d = (uintptr_t)p | DEVBIT; cur->used += n;
    r_ = add(&cur->memory, *d, n, 1);
    END;
}
EXPORT CUresult cuMemFree_v2(CUdeviceptr d) {
    BEGIN(1, 1);
    drain(cur);
    range *r = find(cur->memory, d, 1);
    CHECK(r && r->base == d, E_VALUE);
    free_memory(cur, r);
    END;
}
EXPORT CUresult cuMemHostAlloc(void **p, size_t n, unsigned flags) {
    BEGIN(1, 1);
    CHECK(n && !flags, E_VALUE); CHECK(!host_limit || (n <= host_limit && locked_bytes <= host_limit - n), E_NOMEM);
    void *m = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    CHECK(m != MAP_FAILED, E_NOMEM);
    locked_bytes += n; *p = m;
    r_ = add(&locked, (uintptr_t)m, n, 1);
    END;
}
static CUresult unlock(void *p, int mapped) {
    for (int d = 0; d < ndev; d++) drain(&primary[d]);
    range *r = find(locked, (uintptr_t)p, 1);
    if (!r || r->base != (uintptr_t)p || r->mapped != mapped) return mapped ? E_VALUE : E_NOTREG;
    free_locked(r);
    return OK;
}
EXPORT CUresult cuMemFreeHost(void *p) { BEGIN(1, 1); r_ = unlock(p, 1); END; }
EXPORT CUresult cuMemHostRegister_v2(void *p, size_t n, unsigned flags) {
    BEGIN(1, 1);
    CHECK(p && n && !flags, E_VALUE); CHECK(!overlaps(locked, (uintptr_t)p, n), E_ALREADYREG);
    CHECK(!host_limit || (n <= host_limit && locked_bytes <= host_limit - n), E_NOMEM);
    locked_bytes += n;
    r_ = add(&locked, (uintptr_t)p, n, 0);
    END;
}
EXPORT CUresult cuMemHostUnregister(void *p) { BEGIN(1, 1); r_ = unlock(p, 0); END; }

static CUresult copy(enum kind k, CUdeviceptr d, void *h, size_t n, void *handle) {
    stream *s = find_stream(handle);
    if (!s) return E_HANDLE;
    if (!n) return OK;
    if (!find(cur->memory, d, n)) return E_VALUE;
    int pageable = !find(locked, (uintptr_t)h, n);
    double gbps = (k == H2D ? h2d_gbps : d2h_gbps)[cur->dev];
    if (pageable && pageable_gbps < gbps) gbps = pageable_gbps;
    void *dev = (void *)(d & ~DEVBIT);
    op *o = new_op(k);
    o->n = n; o->ns = latency_us * 1e3 + n / gbps + .5; // 10^9 B/s is 1 B/ns
    o->dst = k == H2D ? dev : h; o->src = k == H2D ? h : dev;
    if (pageable && k == H2D && n <= STAGED) {
        if (!(o->staged = malloc(n))) abort();
        o->src = memcpy(o->staged, h, n); pageable = 0;
    }
    push(s, o);
    if (pageable) await(o);
    return OK;
}
EXPORT CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr d, const void *h, size_t n, void *s) { BEGIN(1, 1); r_ = copy(H2D, d, (void *)h, n, s); END; }
EXPORT CUresult cuMemcpyDtoHAsync_v2(void *h, CUdeviceptr d, size_t n, void *s) { BEGIN(1, 1); r_ = copy(D2H, d, h, n, s); END; }

EXPORT CUresult cuStreamCreate(stream **s, unsigned flags) {
    BEGIN(1, 1); CHECK(flags == 1, flags ? E_VALUE : E_NOTSUPPORTED);
    CHECK(*s = calloc(1, sizeof **s), E_NOMEM);
    (*s)->tail = &(*s)->head; (*s)->next = cur->streams; cur->streams = *s;
    END;
}
// A real driver returns at once and frees the stream when its work is done.
EXPORT CUresult cuStreamDestroy_v2(void *h) { BEGIN(1, 1); CHECK(find_stream(h), E_HANDLE); free_stream(cur, h); END; }
EXPORT CUresult cuStreamSynchronize(void *h) { BEGIN(1, 1); CHECK(find_stream(h), E_HANDLE); await(((stream *)h)->last); END; }
EXPORT CUresult cuStreamWaitEvent(void *h, void *ev, unsigned flags) {
    BEGIN(1, 1);
    stream *s = find_stream(h); event *e = find_event(ev);
    CHECK(s && e, E_HANDLE); CHECK(!flags, E_VALUE);
    if (!e->last) RETURN(OK);
    op *o = new_op(WAIT); o->dep = e->last; o->dep->refs++;
    push(s, o);
    END;
}
EXPORT CUresult cuEventCreate(event **e, unsigned flags) {
    BEGIN(1, 1); CHECK(flags <= 3, E_VALUE);
    CHECK(*e = calloc(1, sizeof **e), E_NOMEM);
    (*e)->flags = flags; (*e)->next = cur->events; cur->events = *e;
    END;
}
EXPORT CUresult cuEventDestroy_v2(void *e) { BEGIN(1, 1); CHECK(find_event(e), E_HANDLE); free_event(cur, e); END; }
EXPORT CUresult cuEventRecord(void *ev, void *h) {
    BEGIN(1, 1);
    stream *s = find_stream(h); event *e = find_event(ev);
    CHECK(s && e, E_HANDLE);
    op *o = new_op(RECORD);
    push(s, o);
    drop(e->last); e->last = o; o->refs++;
    END;
}
EXPORT CUresult cuEventSynchronize(void *e) { BEGIN(1, 1); CHECK(find_event(e), E_HANDLE); await(((event *)e)->last); END; }
EXPORT CUresult cuEventQuery(void *ev) {
    BEGIN(1, 1);
    event *e = find_event(ev);
    CHECK(e, E_HANDLE);
    advance(now());
    if (e->last && !e->last->done) r_ = E_NOTREADY;
    END;
}
EXPORT CUresult cuEventElapsedTime(float *ms, void *a, void *b) {
    BEGIN(1, 1);
    event *x = find_event(a), *y = find_event(b);
    CHECK(x && y && x->last && y->last && !((x->flags | y->flags) & 2), E_HANDLE);
    advance(now());
    CHECK(x->last->done && y->last->done, E_NOTREADY);
    *ms = (float)(((double)y->last->end - (double)x->last->end) / 1e6);
    END;
}

static CUresult load(mod **m, const char *ptx) {
    if (!strstr(ptx, ".version") || !strstr(ptx, ".target")) return E_PTX;
    mod *x = calloc(1, sizeof *x);
    if (!x) return E_NOMEM;
    x->next = cur->mods; cur->mods = x;
    for (const char *p = ptx; (p = strstr(p, ".entry")); p += 6) {
        func *f = calloc(1, sizeof *f);
        if (!f) abort();
        f->next = x->funcs; x->funcs = f;
        if (sscanf(p, ".entry %63[A-Za-z0-9_$]", f->name) != 1) { free_mod(cur, x); return E_PTX; }
    }
    *m = x;
    return OK;
}
EXPORT CUresult cuModuleLoadDataEx(mod **m, const void *image, unsigned n, int *opt, void **val) {
    BEGIN(1, 1); r_ = load(m, image);
end:;
    char *log = NULL; size_t size = 0;
    for (unsigned i = 0; i < n; i++) {
        if (opt[i] == 5) log = val[i];            // CU_JIT_ERROR_LOG_BUFFER
        if (opt[i] == 6) size = (uintptr_t)val[i]; // its size
    }
    if (r_ && log && size) snprintf(log, size, "fakecuda: the PTX does not compile\n");
    return leave(r_);
}
EXPORT CUresult cuModuleGetFunction(func **f, void *m, const char *name) {
    BEGIN(1, 1); CHECK(find_mod(m), E_HANDLE);
    for (func *x = ((mod *)m)->funcs; x; x = x->next) if (!strcmp(x->name, name)) { *f = x; RETURN(OK); }
    r_ = E_NOTFOUND;
    END;
}
static CUresult spin(op *o, void **params) {
    uint64_t cycles = *(uint64_t *)params[1];
    o->ns = *(uint64_t *)params[0];
    return cycles >= o->ns ? OK : E_VALUE; // else a GPU of 1 GHz would stop early
}
static CUresult normalise(op *o, unsigned threads, unsigned rows, void **params) {
    CUdeviceptr out = *(CUdeviceptr *)params[0], in = *(CUdeviceptr *)params[1];
    struct normalise *k = o->norm = malloc(sizeof *k);
    if (!k) abort();
    *k = (struct normalise){.out = (float *)(out & ~DEVBIT), .in = (uint8_t *)(in & ~DEVBIT), .threads = threads, .rows = rows,
                            .images = *(uint32_t *)params[2], .area = *(uint32_t *)params[3]};
    for (int i = 0; i < 3; i++) k->scale[i] = *(float *)params[4 + i], k->bias[i] = *(float *)params[7 + i];
    uint64_t n = 3ull * k->images * k->area;
    o->ns = 5 * n / 1e3 + .5; // it reads and writes memory of 10^12 B/s
    return n && find(cur->memory, in, n) && find(cur->memory, out, 4 * n) ? OK : E_ILLEGAL;
}
// work lasts 100 ns a round, and 1.25 times that while the device is hot. It computes nothing.
static CUresult work(op *o, void **params, unsigned threads) {
    o->ns = *(uint32_t *)params[1] * 100ull * (hot ? 1.25 : 1);
    return find(cur->memory, *(CUdeviceptr *)params[0], 4 * threads) ? OK : E_ILLEGAL;
}
static void heat(void) {
    launched++;
    if (!hot_path[0] || hot == (launched >= hot_from && launched < hot_to)) return;
    hot = !hot;
    FILE *f = hot ? fopen(hot_path, "w") : NULL;
    if (f) fclose(f); else remove(hot_path);
}
// A kernel is known by its name: dlb_spin lasts as long as its first argument, in ns.
EXPORT CUresult cuLaunchKernel(void *fn, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                               unsigned shared, void *h, void **params, void **extra) {
    BEGIN(1, 1);
    stream *s = find_stream(h); func *f = NULL;
    for (mod *m = cur->mods; m && !f; m = m->next) for (f = m->funcs; f && f != fn; f = f->next) {}
    CHECK(s && f, E_HANDLE);
    CHECK(gx && gy && gz == 1 && gy <= 65535 && bx && bx <= 1024 && by == 1 && bz == 1 && !shared && params && !extra, E_VALUE);
    heat();
    op *o = new_op(KERNEL);
    if (!strcmp(f->name, "dlb_normalise")) r_ = normalise(o, gx * bx, gy, params);
    else if (!strcmp(f->name, "dlb_work")) r_ = work(o, params, bx);
    else r_ = !strcmp(f->name, "dlb_spin") && gx * gy * bx == 1 ? spin(o, params) : E_VALUE;
    if (r_) drop(o); else push(s, o);
    END;
}

static const struct { int code; const char *name, *text; } errors[] = {
    {0, "CUDA_SUCCESS", "no error"}, {1, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {2, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"}, {3, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {34, "CUDA_ERROR_STUB_LIBRARY", "CUDA driver is a stub library"},
    {100, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"}, {101, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {201, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"}, {218, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {400, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"}, {500, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {600, "CUDA_ERROR_NOT_READY", "device not ready"}, {700, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {709, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "context is destroyed"},
    {712, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED", "part or all of the requested memory range is already mapped"},
    {713, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED", "pointer does not correspond to a registered memory region"},
    {719, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"}, {801, "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {802, "CUDA_ERROR_SYSTEM_NOT_READY", "system not yet initialized"},
    {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "system has unsupported display driver / cuda driver combination"},
    {804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE", "forward compatibility was attempted on non supported HW"},
    {999, "CUDA_ERROR_UNKNOWN", "unknown error"}};
EXPORT CUresult cuGetErrorName(int e, const char **s) {
    for (unsigned i = 0; i < sizeof errors / sizeof *errors; i++) if (errors[i].code == e) { *s = errors[i].name; return OK; }
    *s = NULL; return E_VALUE;
}
EXPORT CUresult cuGetErrorString(int e, const char **s) {
    for (unsigned i = 0; i < sizeof errors / sizeof *errors; i++) if (errors[i].code == e) { *s = errors[i].text; return OK; }
    *s = NULL; return E_VALUE;
}
