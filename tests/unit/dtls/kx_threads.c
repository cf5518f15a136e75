/* SPDX-License-Identifier: MIT */
/*
 * kx_threads openssl|mbedtls: eight threads sign and verify at once with a key that never signed,
 * and exchange keys. Exit status 0: all signatures are good. Run by the unit tests with "openssl";
 * test_kx_tsan.py runs both under ThreadSanitizer, together with the library.
 */
#include <pthread.h>
#include <stdio.h>

#include <mbedtls/ecdh.h>

#include "library.h"

#define THREADS 8
#define ROUNDS 16

static mbedtls_pk_context key;
static pthread_barrier_t barrier;

static int exchange(struct leat_rng *rng)
{
    mbedtls_ecp_group group;
    mbedtls_ecp_point q;
    mbedtls_mpi d, z;
    mbedtls_ecp_group_init(&group);
    mbedtls_ecp_point_init(&q);
    mbedtls_mpi_init(&d);
    mbedtls_mpi_init(&z);
    int ret = mbedtls_ecp_group_load(&group, MBEDTLS_ECP_DP_SECP256R1);
    if (ret == 0) {
        ret = mbedtls_ecdh_gen_public(&group, &d, &q, leat_rng_callback, rng);
    }
    if (ret == 0) {
        ret = mbedtls_ecdh_compute_shared(&group, &z, &q, &d, leat_rng_callback, rng);
    }
    mbedtls_mpi_free(&z);
    mbedtls_mpi_free(&d);
    mbedtls_ecp_point_free(&q);
    mbedtls_ecp_group_free(&group);
    return ret;
}

static void *work(void *failures)
{
    struct leat_rng *rng = leat_rng_thread();
    pthread_barrier_wait(&barrier);
    for (unsigned i = 0; i < ROUNDS; i++) {
        uint8_t hash[32];
        unsigned char signature[MBEDTLS_PK_SIGNATURE_MAX_SIZE];
        size_t len = 0;
        leat_rng_fill(rng, hash, sizeof(hash));
        if (leat__dtls_sign(&key, hash, signature, &len, rng) != 0 ||
            mbedtls_pk_verify(&key, MBEDTLS_MD_SHA256, hash, sizeof(hash), signature, len) != 0 ||
            exchange(rng) != 0) {
            ++*(unsigned *)failures;
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    unsigned failures[THREADS] = {0}, failed = 0;
    struct leat_rng *rng = leat_rng_thread();
    if (argc != 2 || leat_dtls_key_exchange_start(strcmp(argv[1], "openssl") == 0, rng) != 0 ||
        strcmp(leat_dtls_key_exchange(), argv[1]) != 0) {
        fprintf(stderr, "usage: kx_threads openssl|mbedtls, or it is not to be had\n");
        return 2;
    }
    mbedtls_pk_init(&key);
    if (pthread_barrier_init(&barrier, NULL, THREADS) != 0 ||
        mbedtls_pk_setup(&key, mbedtls_pk_info_from_type(MBEDTLS_PK_ECDSA)) != 0 ||
        mbedtls_ecp_gen_key(MBEDTLS_ECP_DP_SECP256R1, mbedtls_pk_ec(key), leat_rng_callback, rng) !=
            0) {
        return 2;
    }
    for (size_t i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, work, &failures[i]) != 0) {
            return 2;
        }
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        failed += failures[i];
    }
    mbedtls_pk_free(&key);
    printf("%u of %d failed\n", failed, THREADS * ROUNDS);
    return failed == 0 ? 0 : 1;
}
