/* SPDX-License-Identifier: MIT */
/* The stable words of peer states and end reasons, as the control protocol shows them. */
#include <leat/peer.h>

const char *leat_peer_state_text(enum leat_peer_state state)
{
    switch (state) {
    case LEAT_PEER_NEW:
        return "new";
    case LEAT_PEER_CONNECTING:
        return "connecting";
    case LEAT_PEER_CONNECTED:
        return "connected";
    case LEAT_PEER_ENDED:
        return "ended";
    }
    return "";
}

const char *leat_peer_end_text(enum leat_peer_end end)
{
    switch (end) {
    case LEAT_PEER_END_NONE:
        return "";
    case LEAT_PEER_END_CLOSED:
        return "closed";
    case LEAT_PEER_END_CLOSED_BY_REMOTE:
        return "closed_by_remote";
    case LEAT_PEER_END_ICE_TIMEOUT:
        return "ice_timeout";
    case LEAT_PEER_END_CONSENT_EXPIRED:
        return "consent_expired";
    case LEAT_PEER_END_DTLS_TIMEOUT:
        return "dtls_timeout";
    case LEAT_PEER_END_DTLS_FAILED:
        return "dtls_failed";
    case LEAT_PEER_END_DTLS_ALERT:
        return "dtls_alert";
    case LEAT_PEER_END_FINGERPRINT:
        return "fingerprint_mismatch";
    case LEAT_PEER_END_NO_CERTIFICATE:
        return "no_certificate";
    case LEAT_PEER_END_NO_SRTP_PROFILE:
        return "no_srtp_profile";
    case LEAT_PEER_END_INTERNAL:
        return "internal";
    case LEAT_PEER_END_SHUTDOWN:
        return "shutdown";
    }
    return "";
}
