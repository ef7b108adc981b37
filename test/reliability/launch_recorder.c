// Stands between a program and its OpenCL library: writes the shape of every kernel launch to the
// file that LAUNCH_RECORD names, one line each: kernel, global sizes, local sizes, bytes of shared
// memory. With LAUNCH_DRY=1 nothing is run.
//
// It exports these two functions only. A program that loads it as libOpenCL.so finds all others in
// the library that it is linked with.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

// Kernels are used by one thread; their arguments are set before each launch.
static size_t shared_bytes;

static void *next(const char *name) {
    return dlsym(RTLD_NEXT, name);
}

int32_t clSetKernelArg(void *kernel, uint32_t index, size_t size, const void *value) {
    typedef int32_t (*Function)(void *, uint32_t, size_t, const void *);
    if (value == NULL) {
        shared_bytes += size;
    }
    return ((Function)next("clSetKernelArg"))(kernel, index, size, value);
}

static void record(void *kernel, uint32_t dims, const size_t *global, const size_t *local) {
    typedef int32_t (*Info)(void *, uint32_t, size_t, void *, size_t *);
    const uint32_t function_name = 0x1190;
    char name[256] = "?";
    ((Info)next("clGetKernelInfo"))(kernel, function_name, sizeof name, name, NULL);
    FILE *file = fopen(getenv("LAUNCH_RECORD"), "a");
    if (file == NULL) {
        return;
    }
    fprintf(file, "%s", name);
    for (uint32_t i = 0; i < 6; i++) {
        const size_t *sizes = i < 3 ? global : local;
        fprintf(file, " %zu", i % 3 < dims ? sizes[i % 3] : (size_t)1);
    }
    fprintf(file, " %zu\n", shared_bytes);
    fclose(file);
}

int32_t clEnqueueNDRangeKernel(void *queue, void *kernel, uint32_t dims, const size_t *offset,
                               const size_t *global, const size_t *local, uint32_t num_events,
                               const void *events, void *event) {
    typedef int32_t (*Function)(void *, void *, uint32_t, const size_t *, const size_t *,
                                const size_t *, uint32_t, const void *, void *);
    if (getenv("LAUNCH_RECORD") != NULL) {
        record(kernel, dims, global, local);
    }
    shared_bytes = 0;
    if (getenv("LAUNCH_DRY") != NULL) {
        return 0;
    }
    return ((Function)next("clEnqueueNDRangeKernel"))(queue, kernel, dims, offset, global, local,
                                                      num_events, events, event);
}
