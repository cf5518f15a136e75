# SPDX-License-Identifier: MIT
# timeout: 420
# build: release
"""OpenSSL as the library that shakes hands: browsers agree on AEAD GCM in the order of srtp.profiles, others still connect."""
import sys

import test_aiortc
import test_gstreamer
from harness.program import run, until
from harness.stage import Stage

CM_80, GCM_128, GCM_256 = "AES128_CM_SHA1_80", "AEAD_AES_128_GCM", "AEAD_AES_256_GCM"
RED = (255, 0, 0)


def stage_of(profiles, setup="auto"):
    return Stage({"dtls": {"backend": "openssl", "setup": setup}, "srtp": {"profiles": profiles}})


def cipher(call):
    """By getStats of the browser, and leatd says the same."""
    seen = until(lambda: [one["srtpCipher"] for one in call.stats("transport") if one.get("srtpCipher")],
                 f"{call.name} tells its cipher")[0]
    told = call.rpc.stats(call.name, "transport")[0]
    assert (told["srtpCipher"], told["srtpAuthFail"]) == (seen, 0), (told, seen)
    return seen


def call(stage, sender, receiver):
    """@return the ciphers of a browser that sends and one that shows it."""
    ann = stage.publisher(stage.page(sender), "ann", colour="rgb(255 0 0)", audio=True)
    viewer = stage.receiver(stage.page(receiver, is_new=sender is receiver), "viewer", "audio", "video")
    ann.rpc = viewer.rpc = stage.rpc
    stage.rpc.route(("viewer", "0"), ("ann", "0"))
    stage.rpc.route(("viewer", "1"), ("ann", "1"))
    viewer.until_colour(RED, "1")
    viewer.until_frames(30, "1")
    found = cipher(ann), cipher(viewer)
    stage.tidy()
    return found


def in_the_order_of(profiles, setup):
    with stage_of(profiles, setup) as stage:
        expected = "SRTP_" + profiles[0]
        for sender, receiver in ((stage.chromium(1), stage.firefox), (stage.firefox, stage.chromium(1))):
            found = call(stage, sender, receiver)
            assert found == (expected, expected), (found, expected)


def browsers__gcm_128_first__is_what_they_report():
    in_the_order_of([GCM_128, GCM_256, CM_80], "passive")


def browsers__gcm_256_first__is_what_they_report():
    in_the_order_of([GCM_256, GCM_128, CM_80], "passive")


def browsers__cm_first_though_they_can_gcm__is_what_they_report():
    with stage_of([CM_80, GCM_256], "passive") as stage:
        found = call(stage, stage.chromium(1), stage.chromium(1))
        assert found == ("SRTP_AES128_CM_HMAC_SHA1_80",) * 2, found


def browsers__as_dtls_servers__connect_with_gcm():
    """They choose then, from what we offer."""
    with stage_of([GCM_256], "active") as stage:
        found = call(stage, stage.chromium(1), stage.firefox)
        assert found == ("SRTP_AEAD_AES_256_GCM",) * 2, found


def aiortc_and_gstreamer__with_chromium__connect():
    with stage_of([GCM_128, GCM_256, CM_80]) as stage, test_aiortc.Loop(stage.inside) as loop:
        test_aiortc.aiortc_to_chromium__audio_and_video__shown(stage, loop)
        stage.tidy()
        test_gstreamer.chromium_to_gstreamer__audio_and_video__decoded(stage)


if __name__ == "__main__":
    sys.exit(run([browsers__gcm_128_first__is_what_they_report, browsers__gcm_256_first__is_what_they_report,
                  browsers__cm_first_though_they_can_gcm__is_what_they_report, browsers__as_dtls_servers__connect_with_gcm,
                  aiortc_and_gstreamer__with_chromium__connect]))
