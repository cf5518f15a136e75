/* SPDX-License-Identifier: MIT */
/*
 * The provider over intel-ipsec-mb 1.3 to 2.0: many messages at once in the lanes of the vector
 * unit, one table a CPU level. x86-64 only.
 *
 * The library is loaded at run time, so that a program runs where it is missing, and is refused
 * where it is not of the header's minor version: job structures and GCM key data are the caller's
 * memory, and their sizes change between minor versions.
 *
 * A manager of the library serves one thread at a time, hence what is per thread here: each thread
 * makes one a level on its first operation, and the destructor of a pthread key wipes and frees it
 * when the thread ends. Contexts hold no manager: key schedules, and for GCM the two functions that
 * work on them, which need none. Bursts are synchronous: between two operations a manager holds no
 * job, so a fork or a failure leaves nothing behind.
 *
 * Where the CPU has the SHA extensions, the few HMACs that would leave most lanes empty go to the
 * SSE level's manager, which uses them.
 */
#define NO_COMPAT_IMB_API_053 1 /* the library's old names clash with those of other libraries */
#include <intel-ipsec-mb.h>

#include <assert.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "provider.h"

#define LEVELS (LEAT_CRYPTO_LEVEL_AVX512 + 1)
#define HMAC_LEN_MAX 65534 /* the checks of the library, which bursts leave out, refuse more */
#define JOINED_MAX 2048    /* a packet and what SRTP appends to it */
/* One HMAC takes the vector unit as long as a full set of lanes does: as long as four and a half
 * take by the SHA extensions, at 8 lanes and at 16. */
#define FEW_MAX 4

struct level {
    const char *init_name;
    uint64_t needs; /* CPU features */
    IMB_ARCH arch;
    size_t lanes; /* of SHA-1 */
};

static const struct level levels[LEVELS] = {
    [LEAT_CRYPTO_LEVEL_SSE] = {"init_mb_mgr_sse", IMB_CPUFLAGS_SSE, IMB_ARCH_SSE, 4},
    [LEAT_CRYPTO_LEVEL_AVX2] = {"init_mb_mgr_avx2", IMB_CPUFLAGS_AVX2, IMB_ARCH_AVX2, 8},
    [LEAT_CRYPTO_LEVEL_AVX512] = {"init_mb_mgr_avx512", IMB_CPUFLAGS_AVX512, IMB_ARCH_AVX512, 16},
};

/* What one thread has at one level. */
struct worker {
    IMB_MGR *manager; /* behind this structure, in the same allocation */
    size_t size;      /* of the allocation */
    /* Filled but for what differs between jobs: a burst writes 5 words a job instead of 25. */
    IMB_JOB jobs[LEAT_CRYPTO_BATCH_MAX];
    uint8_t joined[JOINED_MAX];
};

struct aes_state {
    _Alignas(16) uint8_t schedule[16 * 15];
    enum leat_crypto_level level;
    IMB_KEY_SIZE_BYTES key_size;
};

struct gcm_state {
    _Alignas(16) struct gcm_key_data key;
    aes_gcm_enc_dec_t seal, open;
};

struct chachapoly_state {
    uint8_t key[32];
    chacha_poly_init_t begin;
    chacha_poly_enc_dec_update_t seal, open;
    chacha_poly_finalize_t end;
};

static_assert(sizeof(struct aes_state) <= sizeof(((struct leat_aes *)0)->state),
              "struct leat_aes has no room for intel-ipsec-mb");
static_assert(sizeof(struct gcm_state) <= sizeof(((struct leat_gcm *)0)->state),
              "struct leat_gcm has no room for intel-ipsec-mb");
static_assert(sizeof(struct chachapoly_state) <= sizeof(((struct leat_chachapoly *)0)->state),
              "struct leat_chachapoly has no room for intel-ipsec-mb");
static_assert(sizeof(((struct leat_hmac_sha1 *)0)->inner) == 20, "HMAC states must be octets");

static struct {
    void *handle;
    unsigned (*get_version)(void);
    size_t (*get_manager_size)(void);
    IMB_MGR *(*set_pointers)(void *memory, uint64_t flags, unsigned is_cleared);
    void (*init[LEVELS])(IMB_MGR *manager);
    bool is_usable;
} library;

static pthread_once_t load_once = PTHREAD_ONCE_INIT;
static pthread_key_t thread_end;
static _Thread_local struct worker *workers[LEVELS];

/* ---- the library ---- */

/* The function pointer at `function`, by name. ISO C has no conversion from what dlsym gives. */
static bool resolve(const char *name, void *function)
{
    void *symbol = dlsym(library.handle, name);
    memcpy(function, &symbol, sizeof(symbol));
    return symbol != NULL;
}

static void free_worker(struct worker *w)
{
    if (w != NULL) {
        leat_wipe(w, w->size);
        free(w);
    }
}

static void free_workers(void *unused)
{
    (void)unused;
    for (size_t i = 0; i < LEVELS; i++) {
        free_worker(workers[i]);
        workers[i] = NULL;
    }
}

static bool has_fitting_version(void)
{
    unsigned version = library.get_version();
    return version >> 8 == IMB_VERSION_NUM >> 8 && version >= IMB_VERSION_NUM;
}

static void load(void)
{
    char file[32];

    snprintf(file, sizeof(file), "libIPSec_MB.so.%d", IMB_VERSION_NUM >> 16);
    library.handle = dlopen(file, RTLD_NOW | RTLD_LOCAL); /* stays: contexts point into it */
    if (library.handle == NULL || !resolve("imb_get_version", &library.get_version) ||
        !has_fitting_version() || !resolve("imb_get_mb_mgr_size", &library.get_manager_size) ||
        !resolve("imb_set_pointers_mb_mgr", &library.set_pointers)) {
        return;
    }
    for (size_t i = LEAT_CRYPTO_LEVEL_SSE; i < LEVELS; i++) {
        if (!resolve(levels[i].init_name, &library.init[i])) {
            return;
        }
    }
    library.is_usable = pthread_key_create(&thread_end, free_workers) == 0;
}

static void version(char *out, size_t cap)
{
    unsigned v = library.get_version(); /* of the library that runs: 0xMMNNPP */
    snprintf(out, cap, "intel-ipsec-mb %u.%u.%u", v >> 16, (v >> 8) & 0xff, v & 0xff);
}

/* ---- a thread's managers ---- */

static void fill_jobs(struct worker *w)
{
    for (size_t i = 0; i < LEAT_CRYPTO_BATCH_MAX; i++) {
        IMB_JOB *job = &w->jobs[i];
        job->cipher_mode = IMB_CIPHER_CNTR;
        job->cipher_direction = IMB_DIR_ENCRYPT;
        job->chain_order = IMB_ORDER_CIPHER_HASH;
        job->hash_alg = IMB_AUTH_HMAC_SHA_1;
        job->iv_len_in_bytes = 16;
        job->auth_tag_output_len_in_bytes = 20;
    }
}

static bool init_manager(IMB_MGR *manager, enum leat_crypto_level level)
{
    const struct level *l = &levels[level];

    if (manager == NULL || (manager->features & l->needs) != l->needs) {
        return false;
    }
    library.init[level](manager); /* which runs the library's own test too */
    return manager->imb_errno == 0 && manager->used_arch == (uint32_t)l->arch;
}

static struct worker *make_worker(enum leat_crypto_level level)
{
    size_t head = (sizeof(struct worker) + 63) / 64 * 64;
    size_t size = head + (library.get_manager_size() + 63) / 64 * 64;
    struct worker *w = aligned_alloc(64, size);

    if (w == NULL) {
        return NULL;
    }
    memset(w, 0, head);
    w->size = size;
    fill_jobs(w);
    w->manager = library.set_pointers((uint8_t *)w + head, 0, 1);
    if (!init_manager(w->manager, level) || pthread_setspecific(thread_end, workers) != 0) {
        free_worker(w);
        return NULL;
    }
    workers[level] = w;
    return w;
}

/* The calling thread's. NULL: no memory for it. */
static inline struct worker *worker_of(enum leat_crypto_level level)
{
    struct worker *w = workers[level];
    return w != NULL ? w : make_worker(level);
}

static bool is_available(const struct leat_crypto_provider *self)
{
    pthread_once(&load_once, load);
    return library.is_usable && worker_of(self->level) != NULL;
}

/* There may be more keys than the caches hold, in no order that the CPU could guess: with 4096
 * keys a batch of 16 takes half as long (GCM) to four fifths (CTR and HMAC) when those of the next
 * messages are fetched while one is worked on. */
static inline void fetch(const void *key, size_t len)
{
    for (size_t at = 0; at < len; at += 64) {
        __builtin_prefetch((const uint8_t *)key + at);
    }
}

/* ---- AES ---- */

static int aes_init(const struct leat_crypto_provider *self, void *state, const uint8_t *key,
                    size_t key_len)
{
    _Alignas(16) uint8_t for_decryption[sizeof(((struct aes_state *)0)->schedule)];
    struct aes_state *a = state;
    const struct worker *w = worker_of(self->level);

    if (w == NULL) {
        return LEAT_E_CRYPTO;
    }
    a->level = self->level;
    if (key_len == 16) {
        a->key_size = IMB_KEY_128_BYTES;
        IMB_AES_KEYEXP_128(w->manager, key, a->schedule, for_decryption);
    } else {
        a->key_size = IMB_KEY_256_BYTES;
        IMB_AES_KEYEXP_256(w->manager, key, a->schedule, for_decryption);
    }
    leat_wipe(for_decryption, sizeof(for_decryption));
    return 0;
}

static void aes_deinit(void *state)
{
    (void)state; /* all of it is the caller's memory, which the caller wipes */
}

static inline void set_cipher_job(IMB_JOB *job, const struct aes_state *a, const uint8_t *iv,
                                  const uint8_t *in, size_t len, uint8_t *out)
{
    job->enc_keys = a->schedule;
    job->key_len_in_bytes = (uint64_t)a->key_size;
    job->iv = iv;
    job->src = in;
    job->dst = out;
    job->msg_len_to_cipher_in_bytes = len;
}

static int cipher_burst(struct worker *w, size_t count, IMB_KEY_SIZE_BYTES key_size)
{
    uint32_t done = IMB_SUBMIT_CIPHER_BURST_NOCHECK(w->manager, w->jobs, (uint32_t)count,
                                                    IMB_CIPHER_CNTR, IMB_DIR_ENCRYPT, key_size);
    return done == count ? 0 : LEAT_E_CRYPTO;
}

static int aes_ctr(const void *state, const uint8_t iv[static 16], const uint8_t *in, size_t len,
                   uint8_t *out)
{
    const struct aes_state *a = state;
    struct worker *w = worker_of(a->level);

    if (w == NULL) {
        return LEAT_E_CRYPTO;
    }
    if (len == 0) { /* no job for the library */
        return 0;
    }
    set_cipher_job(&w->jobs[0], a, iv, in, len, out);
    return cipher_burst(w, 1, a->key_size);
}

/* The key stream's block for a counter is the counter's encryption. */
static int aes_block(const void *state, const uint8_t in[static 16], uint8_t out[static 16])
{
    static const uint8_t zeros[16];
    uint8_t counter[16]; /* in may be out */

    memcpy(counter, in, sizeof(counter));
    return aes_ctr(state, counter, zeros, sizeof(zeros), out);
}

static int aes_ctr_batch(const struct leat_crypto_provider *self,
                         const struct leat_aes_ctr_job *jobs, size_t count)
{
    struct worker *w = worker_of(self->level);
    const struct aes_state *a = NULL;
    size_t n = 0;

    if (w == NULL) {
        return LEAT_E_CRYPTO;
    }
    for (size_t i = 0; i < count; i++) {
        const struct leat_aes_ctr_job *j = &jobs[i];
        if (j->len != 0) {
            a = (const struct aes_state *)j->aes->state;
            fetch(a->schedule, sizeof(a->schedule));
            set_cipher_job(&w->jobs[n++], a, j->iv, j->in, j->len, j->out);
        }
    }
    return n == 0 ? 0 : cipher_burst(w, n, a->key_size);
}

static int key_stream(const struct leat_crypto_provider *self, const uint8_t key[static 32],
                      uint8_t *out, size_t len)
{
    static const uint8_t counter[16];
    struct aes_state a;
    int error = aes_init(self, &a, key, 32);

    if (error == 0) {
        memset(out, 0, len);
        error = aes_ctr(&a, counter, out, len, out);
    }
    leat_wipe(&a, sizeof(a));
    return error;
}

/* ---- HMAC-SHA1 ---- */

static inline void set_hash_job(IMB_JOB *job, const struct leat_hmac_sha1 *h,
                                struct leat_span message, uint8_t *tag)
{
    job->src = message.data;
    job->msg_len_to_hash_in_bytes = message.len;
    job->auth_tag_output = tag;
    job->u.HMAC._hashed_auth_key_xor_ipad = (const uint8_t *)h->inner;
    job->u.HMAC._hashed_auth_key_xor_opad = (const uint8_t *)h->outer;
}

static bool is_for_lanes(size_t len)
{
    return len > 0 && len <= HMAC_LEN_MAX;
}

static int hash_burst(struct worker *w, IMB_JOB *jobs, size_t count)
{
    uint32_t done =
        IMB_SUBMIT_HASH_BURST_NOCHECK(w->manager, jobs, (uint32_t)count, IMB_AUTH_HMAC_SHA_1);
    return done == count ? 0 : LEAT_E_CRYPTO;
}

/* The worker's first `count` jobs: full sets of lanes here, a few that remain at the SSE level. */
static int hash(struct worker *w, enum leat_crypto_level level, size_t count)
{
    size_t few = count % levels[level].lanes;
    int error = 0;

    if (few > FEW_MAX || (w->manager->features & IMB_FEATURE_SHANI) == 0) {
        few = 0;
    }
    if (count > few) {
        error = hash_burst(w, w->jobs, count - few);
    }
    if (few > 0 && error == 0) {
        struct worker *other = worker_of(LEAT_CRYPTO_LEVEL_SSE);
        error = other == NULL ? LEAT_E_CRYPTO : hash_burst(other, w->jobs + count - few, few);
    }
    return error;
}

static int hmac_batch(const struct leat_crypto_provider *self,
                      const struct leat_hmac_sha1_job *jobs, size_t count)
{
    struct worker *w = worker_of(self->level);
    size_t n = 0;
    int error = 0;

    if (w == NULL) {
        return LEAT_E_CRYPTO;
    }
    for (size_t i = 0; i < count && error == 0; i++) {
        const struct leat_hmac_sha1_job *j = &jobs[i];
        if (is_for_lanes(j->message.len)) {
            fetch(j->h, sizeof(*j->h));
            set_hash_job(&w->jobs[n++], j->h, j->message, j->tag);
        } else {
            error = leat__hmac_sha1(&leat__crypto_mbedtls, j->h, &j->message, 1, j->tag);
        }
    }
    return error != 0 || n == 0 ? error : hash(w, self->level, n);
}

/* One after the other into `joined`. False: there is no room. */
static bool join(uint8_t joined[static JOINED_MAX], const struct leat_span *parts,
                 size_t part_count, size_t *len)
{
    *len = 0;
    for (size_t i = 0; i < part_count; i++) {
        if (parts[i].len > JOINED_MAX - *len) {
            return false;
        }
        if (parts[i].len != 0) {
            memcpy(joined + *len, parts[i].data, parts[i].len);
            *len += parts[i].len;
        }
    }
    return true;
}

static int hmac_tag(const struct leat_crypto_provider *self, const struct leat_hmac_sha1 *h,
                    const struct leat_span *parts, size_t part_count, uint8_t out[static 20])
{
    struct worker *w = worker_of(self->level);
    struct leat_span message;
    size_t len;

    if (w == NULL) {
        return LEAT_E_CRYPTO;
    }
    if (part_count == 1) {
        message = parts[0];
    } else if (join(w->joined, parts, part_count, &len)) {
        message = leat_span(w->joined, len);
    } else { /* seldom, and not for lanes: in pieces */
        return leat__hmac_sha1(&leat__crypto_mbedtls, h, parts, part_count, out);
    }
    if (!is_for_lanes(message.len)) {
        return leat__hmac_sha1(&leat__crypto_mbedtls, h, &message, 1, out);
    }
    set_hash_job(&w->jobs[0], h, message, out);
    return hash(w, self->level, 1);
}

/* ---- GCM ---- */

static int gcm_init(const struct leat_crypto_provider *self, void *state, const uint8_t *key,
                    size_t key_len)
{
    struct gcm_state *g = state;
    const struct worker *w = worker_of(self->level);

    if (w == NULL) {
        return LEAT_E_CRYPTO;
    }
    if (key_len == 16) {
        IMB_AES128_GCM_PRE(w->manager, key, &g->key);
        g->seal = w->manager->gcm128_enc;
        g->open = w->manager->gcm128_dec;
    } else {
        IMB_AES256_GCM_PRE(w->manager, key, &g->key);
        g->seal = w->manager->gcm256_enc;
        g->open = w->manager->gcm256_dec;
    }
    return 0;
}

static void gcm_deinit(void *state)
{
    (void)state;
}

static int gcm_seal(const void *state, const uint8_t iv[static 12], struct leat_span aad,
                    const uint8_t *in, size_t len, uint8_t *out, uint8_t tag[static 16])
{
    const struct gcm_state *g = state;
    struct gcm_context_data running;

    g->seal(&g->key, &running, out, in, len, iv, aad.data, aad.len, tag, 16);
    leat_wipe(&running, sizeof(running));
    return 0;
}

static int gcm_open(const void *state, const uint8_t iv[static 12], struct leat_span aad,
                    const uint8_t *in, size_t len, const uint8_t tag[static 16], uint8_t *out)
{
    const struct gcm_state *g = state;
    struct gcm_context_data running;
    uint8_t computed[16] = {0};

    g->open(&g->key, &running, out, in, len, iv, aad.data, aad.len, computed, sizeof(computed));
    leat_wipe(&running, sizeof(running));
    return leat_equal_ct(computed, tag, sizeof(computed)) ? 0 : LEAT_E_INVALID;
}

static int gcm_seal_batch(const struct leat_crypto_provider *self, const struct leat_gcm_job *jobs,
                          size_t count)
{
    struct gcm_context_data running;

    (void)self;
    for (size_t i = 0; i < count; i++) {
        const struct leat_gcm_job *j = &jobs[i];
        const struct gcm_state *g = (const struct gcm_state *)j->gcm->state;
        if (i + 1 < count) {
            fetch(jobs[i + 1].gcm->state, sizeof(g->key));
        }
        g->seal(&g->key, &running, j->out, j->in, j->len, j->iv, j->aad.data, j->aad.len, j->tag,
                16);
    }
    leat_wipe(&running, sizeof(running));
    return 0;
}

/* ---- ChaCha20-Poly1305 ---- */

static int chachapoly_init(const struct leat_crypto_provider *self, void *state,
                           const uint8_t key[static 32])
{
    struct chachapoly_state *c = state;
    const struct worker *w = worker_of(self->level);

    if (w == NULL) {
        return LEAT_E_CRYPTO;
    }
    memcpy(c->key, key, sizeof(c->key));
    c->begin = w->manager->chacha20_poly1305_init;
    c->seal = w->manager->chacha20_poly1305_enc_update;
    c->open = w->manager->chacha20_poly1305_dec_update;
    c->end = w->manager->chacha20_poly1305_finalize;
    return 0;
}

static void chachapoly_deinit(void *state)
{
    (void)state;
}

/* The library refuses a message of nothing where it checks, and is not asked to work on one. */
static void chachapoly_run(const struct chachapoly_state *c, chacha_poly_enc_dec_update_t update,
                           const uint8_t iv[static 12], struct leat_span aad, const uint8_t *in,
                           size_t len, uint8_t *out, uint8_t tag[static 16])
{
    struct chacha20_poly1305_context_data running;

    c->begin(c->key, &running, iv, aad.data, aad.len);
    if (len != 0) {
        update(c->key, &running, out, in, len);
    }
    c->end(&running, tag, 16);
    leat_wipe(&running, sizeof(running));
}

static int chachapoly_seal(const void *state, const uint8_t iv[static 12], struct leat_span aad,
                           const uint8_t *in, size_t len, uint8_t *out, uint8_t tag[static 16])
{
    const struct chachapoly_state *c = state;
    chachapoly_run(c, c->seal, iv, aad, in, len, out, tag);
    return 0;
}

static int chachapoly_open(const void *state, const uint8_t iv[static 12], struct leat_span aad,
                           const uint8_t *in, size_t len, const uint8_t tag[static 16],
                           uint8_t *out)
{
    const struct chachapoly_state *c = state;
    uint8_t computed[16];

    chachapoly_run(c, c->open, iv, aad, in, len, out, computed);
    return leat_equal_ct(computed, tag, sizeof(computed)) ? 0 : LEAT_E_INVALID;
}

/* ---- the tables ---- */

#define TABLE(level_of_cpu)                                                                        \
    {                                                                                              \
        .name = "ipsecmb", .level = (level_of_cpu), .is_available = is_available,                  \
        .version = version, .hmac_sha1 = {.tag = hmac_tag, .batch = hmac_batch},                   \
        .aes = {.state_size = sizeof(struct aes_state),                                            \
                .init = aes_init,                                                                  \
                .deinit = aes_deinit,                                                              \
                .block = aes_block,                                                                \
                .ctr = aes_ctr,                                                                    \
                .ctr_batch = aes_ctr_batch},                                                       \
        .gcm = {.state_size = sizeof(struct gcm_state),                                            \
                .init = gcm_init,                                                                  \
                .deinit = gcm_deinit,                                                              \
                .seal = gcm_seal,                                                                  \
                .open = gcm_open,                                                                  \
                .seal_batch = gcm_seal_batch},                                                     \
        .chachapoly = {.state_size = sizeof(struct chachapoly_state),                              \
                       .init = chachapoly_init,                                                    \
                       .deinit = chachapoly_deinit,                                                \
                       .seal = chachapoly_seal,                                                    \
                       .open = chachapoly_open},                                                   \
        .key_stream = key_stream                                                                   \
    }

const struct leat_crypto_provider leat__crypto_ipsecmb_sse = TABLE(LEAT_CRYPTO_LEVEL_SSE);
const struct leat_crypto_provider leat__crypto_ipsecmb_avx2 = TABLE(LEAT_CRYPTO_LEVEL_AVX2);
const struct leat_crypto_provider leat__crypto_ipsecmb_avx512 = TABLE(LEAT_CRYPTO_LEVEL_AVX512);
