// The extern stage of the corpus: out(x, y) = 2 * in(x, y) + in(x + 1, y).
#include "HalideRuntime.h"

static int is_query(const halide_buffer_t *b) {
    return b->host == 0 && b->device == 0;
}

static int *at(const halide_buffer_t *b, int x, int y) {
    return (int *)b->host + (x - b->dim[0].min) * b->dim[0].stride +
           (y - b->dim[1].min) * b->dim[1].stride;
}

// Reads the region that it writes, and a column more.
int corpus_double(halide_buffer_t *in, halide_buffer_t *out) {
    const halide_dimension_t *w = &out->dim[0], *h = &out->dim[1];
    if (is_query(in) || is_query(out)) {
        if (is_query(in)) {
            in->dim[0].min = w->min;
            in->dim[0].extent = w->extent + 1;
            in->dim[1].min = h->min;
            in->dim[1].extent = h->extent;
        }
        return 0;
    }
    // Halide leaves it to a function where it reads what a kernel has written.
    if (in->flags & halide_buffer_flag_device_dirty) {
        in->device_interface->copy_to_host(0, in);
    }
    for (int y = h->min; y < h->min + h->extent; y++) {
        for (int x = w->min; x < w->min + w->extent; x++) {
            *at(out, x, y) = 2 * *at(in, x, y) + *at(in, x + 1, y);
        }
    }
    out->flags |= halide_buffer_flag_host_dirty;
    return 0;
}
