/* SPDX-License-Identifier: MIT */
/*
 * Counts what a program has of the heap by standing in front of the C library's allocator: every
 * library of the process comes here. A sanitizer's allocator stands there itself, so nothing is
 * counted with one.
 */
#include "dtls_records.h"

#include <malloc.h>
#include <stdlib.h>

#ifndef __has_feature
#define __has_feature(x) 0
#endif

#if !defined(__GLIBC__) || defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)

size_t records_heap(void)
{
    return 0;
}

#else

#define HEADER sizeof(size_t) /* of a chunk */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void *__libc_memalign(size_t alignment, size_t size);
void __libc_free(void *p);

static size_t in_use; /* one thread allocates here */

size_t records_heap(void)
{
    return in_use;
}

static size_t size_of(void *p)
{
    return p != NULL ? malloc_usable_size(p) + HEADER : 0;
}

static void *add(void *p)
{
    in_use += size_of(p);
    return p;
}

void *malloc(size_t size)
{
    return add(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
    return add(__libc_calloc(count, size));
}

void *realloc(void *old, size_t size)
{
    size_t before = size_of(old);
    void *p = __libc_realloc(old, size);
    if (p != NULL || size == 0) { /* else the old one stays */
        in_use -= before;
    }
    return add(p);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return add(__libc_memalign(alignment, size));
}

void free(void *p)
{
    in_use -= size_of(p);
    __libc_free(p);
}

#endif
