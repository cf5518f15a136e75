/* SPDX-License-Identifier: MIT */
/**
 * @file  Our ciphers and our HMAC in the shape that libsrtp2 asks for.
 *
 * Key lengths are libsrtp2's: they count the salt (ICM 30 and 46 octets, GCM 28 and 44).
 */
#ifndef LEAT_SRTP_GLUE_H
#define LEAT_SRTP_GLUE_H

#include <srtp2/auth.h>
#include <srtp2/cipher.h>

#define LEAT__SRTP_GCM_TAG_LEN 16

extern const srtp_cipher_type_t leat__srtp_icm_128, leat__srtp_icm_256;
extern const srtp_cipher_type_t leat__srtp_gcm_128, leat__srtp_gcm_256;
extern const srtp_auth_type_t leat__srtp_hmac_sha1;

/* Known answers that libsrtp2 runs when a type is installed. */
extern const srtp_cipher_test_case_t leat__srtp_icm_128_known, leat__srtp_icm_256_known;
extern const srtp_cipher_test_case_t leat__srtp_gcm_128_known, leat__srtp_gcm_256_known;
extern const srtp_auth_test_case_t leat__srtp_hmac_sha1_known;

/** Replace libsrtp2's own types, process-wide: after srtp_init and before the first session. Each
 * must pass its own known answers and the library's. */
srtp_err_status_t leat__srtp_glue_install(void);

#endif
