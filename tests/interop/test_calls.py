# SPDX-License-Identifier: MIT
# timeout: 420
# build: release
"""Calls of real browsers through leatd: what one of them sends, another one shows."""
import colorsys
import sys

from harness.page import Call
from harness.program import until
from harness.stage import URL, mids, perform

RED, BLUE = (255, 0, 0), (0, 0, 255)
AUDIO_ABOVE = 50  # packets: a second of Opus
LONGEST_FREEZE_S = 2.0


def css(rgb):
    return "rgb({} {} {})".format(*rgb)


def from_camera_to_screen(stage, sender, receiver, size):
    """A camera and a microphone by the demo's WHIP, a plain WHEP player at the other end."""
    page = stage.page(sender)
    ann = Call(page, "ann")
    reply = ann.do("http", "POST", "/whip/room?name=Ann", ann.publish(camera=True))
    assert reply["status"] == 201 and reply["location"].startswith("/peer/"), reply
    ann.accept(reply["text"])
    ann.until_connected()
    viewer = Call(stage.page(receiver), "viewer")
    reply = viewer.do("http", "POST", "/whep/room/Ann", viewer.receive("audio", "video"))
    assert reply["status"] == 201, reply
    viewer.accept(reply["text"])
    viewer.until_frames(101)
    until(lambda: viewer.inbound("audio").get("packetsReceived", 0) > AUDIO_ABOVE, "audio arrives")
    seen = viewer.pixels("1")
    assert sum(seen["mean"]) > 60, f"the picture is black: {seen}"
    assert seen["width"] / seen["height"] == size[0] / size[1] and seen["width"] <= size[0], seen
    assert viewer.inbound("video")["frameWidth"] == seen["width"]
    return ann, viewer


def chromium_to_chromium__camera_and_microphone__are_shown(stage):
    from_camera_to_screen(stage, stage.chromium(1), stage.chromium(2), (640, 480))


def firefox_to_chromium__camera_and_microphone__are_shown(stage):
    from_camera_to_screen(stage, stage.firefox, stage.chromium(2), (640, 480))


def chromium_to_firefox__camera_and_microphone__are_shown(stage):
    from_camera_to_screen(stage, stage.chromium(1), stage.firefox, (640, 480))


def late_join__running_publisher__picture_comes_by_a_requested_keyframe(stage):
    ann = stage.publisher(stage.page(stage.chromium(1)), "ann", colour=css(RED))
    ann.until_connected()
    until(lambda: ann.stats("outbound-rtp") and ann.stats("outbound-rtp")[0].get("framesEncoded", 0) > 60, "ann has sent for a while")
    before = ann.stats("outbound-rtp")[0]["keyFramesEncoded"]
    for name in ("bob", "cid"):  # the second one after another while
        late = stage.receiver(stage.page(stage.chromium(2), is_new=True), name, "video")
        stage.rpc.route((name, "0"), ("ann", "0"))
        late.until_colour(RED)
        late.until_frames(15)
    after = ann.stats("outbound-rtp")[0]
    assert before + 2 <= after["keyFramesEncoded"] <= before + 8, (before, after)


def repoint__between_two_publishers__picture_changes_and_numbers_go_on(stage):
    page = stage.page(stage.chromium(1))
    for name, colour in (("ann", RED), ("bob", BLUE)):
        stage.publisher(page, name, colour=css(colour), audio=True).until_connected()
    viewer = stage.receiver(stage.page(stage.chromium(2)), "viewer", "audio", "video")
    stage.rpc.route(("viewer", "0"), ("ann", "0"))
    stage.rpc.route(("viewer", "1"), ("ann", "1"))
    viewer.until_colour(RED, "1")
    viewer.do("watch", "viewer", "1")
    first = {kind: viewer.inbound(kind) for kind in ("audio", "video")}
    for name, colour in (("bob", BLUE), ("ann", RED), ("bob", BLUE), ("ann", RED)):
        stage.rpc.route(("viewer", "0"), (name, "0"))
        stage.rpc.route(("viewer", "1"), (name, "1"))
        viewer.until_colour(colour, "1")
        viewer.until_frames(10, "1")
    gaps = viewer.do("gaps", "viewer")
    assert gaps["longest"] < LONGEST_FREEZE_S and gaps["frames"] > 30, gaps
    for kind, before in first.items():
        now = viewer.inbound(kind)
        assert now["ssrc"] == before["ssrc"], "a re-point changed the SSRC"
        assert now["packetsLost"] == before["packetsLost"], f"{kind} numbers have holes: {before} {now}"
        assert now["packetsReceived"] > before["packetsReceived"] + 20
        assert len([one for one in viewer.stats("inbound-rtp") if one["kind"] == kind]) == 1


def ice_restart__from_either_page__media_goes_on(stage):
    ann = stage.publisher(stage.page(stage.chromium(1)), "ann", colour=css(RED))
    viewer = stage.receiver(stage.page(stage.chromium(2)), "viewer", "video")
    stage.rpc.route(("viewer", "0"), ("ann", "0"))
    viewer.until_colour(RED)
    for call in (ann, viewer):
        before, offer = call.made["answer"], call.restart()
        assert call.local_ufrag() not in offer, "the pair of before"
        made = stage.rpc.call("peer.negotiate", id=call.name, offer=offer)
        assert "ice_restart" in made["changed"], made["changed"]
        ufrag, version = (next(line for line in made["answer"].splitlines() if line.startswith(key)) for key in ("a=ice-ufrag", "o="))
        assert ufrag not in before and version not in before
        call.accept(made["answer"])
        viewer.until_frames(30)
        until(lambda: call.local_ufrag() in offer, lambda: f"{call.name} moves to the pair of the restart: {call.local_ufrag()}")
        assert call.state()["connection"] == "connected" and call.state()["ice"] in ("connected", "completed"), call.state()
        viewer.until_frames(30)
        stats = stage.rpc.stats(call.name, "transport")[0]
        assert stats["dtlsState"] == "connected", stats
    assert viewer.inbound("video")["packetsLost"] == 0


def reload__of_the_publishers_page__viewer_sees_the_new_one(stage):
    page = stage.page(stage.chromium(1), "/?room=again&name=Ann&publish=picture")
    viewer = Call(stage.page(stage.chromium(2)), "viewer")
    until(lambda: [p for p in stage.rpc.call("peer.list", group="again", state="connected")["peers"]], "Ann is connected")
    reply = viewer.do("http", "POST", "/whep/again/Ann", viewer.receive("audio", "video"))
    viewer.accept(reply["text"])
    viewer.until_frames(15)
    for _ in range(2):
        before = viewer.inbound("video")
        page.open(page.evaluate("async () => location.href"))
        until(lambda: page.evaluate("async () => leat.made.length && leat.made[0].connectionState === 'connected'"), "Ann is back")
        viewer.until_frames(30)
        now = viewer.inbound("video")
        assert now["ssrc"] == before["ssrc"] and now["packetsLost"] == before["packetsLost"], (before, now)
    publishers = [p for p in stage.rpc.call("peer.list", group="again")["peers"] if p["data"]["role"] == "publisher"]
    assert len(publishers) == 1, f"a reload left a peer: {publishers}"


def room__four_clients_leave_and_rejoin__sections_do_not_pile_up(stage):
    names = ("Ann", "Bob", "Cid", "Dee")
    pages = {}

    def join(name):
        path = f"/?room=party&name={name}&publish=picture"
        if name in pages:
            pages[name].open(URL + path)
        else:
            pages[name] = stage.page(stage.chromium(1), path, is_new=True, max_fps=5)

    def sections():
        """{role: most m= lines} over every connection of every page."""
        return [page.evaluate("""async () => leat.made.filter((pc) => pc.connectionState !== 'closed')
            .map((pc) => (pc.localDescription?.sdp.match(/^m=/gm) ?? []).length)""") for page in pages.values()]

    def shown(page):
        return page.evaluate("""async () => [...document.querySelectorAll('.tile:not(.own)')].filter((tile) => !tile.hidden)
            .map((tile) => [tile.querySelector('.name').textContent, tile.querySelector('video').videoWidth > 0])""")

    def everyone_sees(present):
        def is_complete(name):
            return sorted(shown(pages[name])) == sorted([other, True] for other in present if other != name)
        until(lambda: all(is_complete(name) for name in present),
              lambda: f"all of {present} see one another; {[(name, shown(pages[name])) for name in present]}", 60)

    for name in names:
        join(name)
    everyone_sees(names)
    for i in range(20):
        name = names[i % 4]
        pages[name].open("about:blank")
        rest = [other for other in names if other != name]
        until(lambda: all(len(shown(pages[other])) == 2 for other in rest), f"{name} is gone")
        join(name)
        everyone_sees(names)
        most = max(count for counts in sections() for count in counts)
        assert most <= 6, f"after {i + 1} rejoins a connection has {most} sections; three others need 6"
    for peer in stage.rpc.call("peer.list", group="party")["peers"]:
        assert len(peer["senders"]) <= 6 and len(peer["tracks"]) <= 2, peer
    assert stage.rpc.call("daemon.stats")["workers"][0]["peers"] == 8


def controller__killed_and_started_again__call_goes_on_and_can_be_joined(stage):
    ann = stage.page(stage.chromium(1), "/?room=crash&name=Ann&publish=picture", is_new=True)
    bob = stage.page(stage.chromium(1), "/?room=crash&name=Bob&publish=picture", is_new=True)
    viewer = Call(stage.page(stage.chromium(2)), "viewer")
    until(lambda: len(stage.rpc.call("peer.list", group="crash", state="connected")["peers"]) == 4, "Ann and Bob are connected")
    reply = viewer.do("http", "POST", "/watch/crash", viewer.receive("audio", "video"))
    viewer.accept(reply["text"])
    viewer.until_frames(15)
    peer = reply["location"].removeprefix("/peer/")

    def world():
        routes = stage.rpc.call("route.list", peer=peer)["routes"]
        return sorted(one["id"] for one in stage.rpc.call("peer.list")["peers"]), [one["from"]["peer"] for one in routes if one["from"]]

    before, lost = world(), viewer.inbound("video")["packetsLost"]
    viewer.do("watch", "viewer", "1")
    stage.demo.kill()
    viewer.until_frames(30)  # without a controller
    stage.demo.__enter__()
    viewer.until_frames(30)
    gaps = viewer.do("gaps", "viewer")
    assert gaps["longest"] < LONGEST_FREEZE_S and viewer.inbound("video")["packetsLost"] == lost, gaps
    assert world() == before, "the new controller changed what it found"
    first = before[1][0]  # when this one leaves, the other takes the slot: the new controller knows the slots
    {"Ann": ann, "Bob": bob}[stage.rpc.peer(first)["data"]["name"]].evaluate("async () => document.getElementById('stop').click()")
    until(lambda: world()[1] and first not in world()[1], "the slot shows the other publisher")
    viewer.until_frames(30)


def slots__four_sections_see_twenty_publishers__without_renegotiation(stage):
    viewer = stage.receiver(stage.page(stage.chromium(2)), "viewer", *["video"] * 4)
    slots = mids(viewer.made)["video"]
    assert len(slots) == 4
    page = stage.page(stage.chromium(1))
    for turn in range(5):
        colours = [tuple(round(255 * part) for part in colorsys.hsv_to_rgb((turn * 4 + i) / 20 * 7 % 1, 1, 1)) for i in range(4)]
        publishers = [stage.publisher(page, f"p{turn * 4 + i}", colour=css(colour), width=160, height=96, fps=8)
                      for i, colour in enumerate(colours)]
        stage.rpc.call("route.set", routes=[{"to": {"peer": "viewer", "mid": slot}, "from": {"peer": one.name, "mid": "0"}}
                                            for slot, one in zip(slots, publishers)])
        for slot, colour in zip(slots, colours):
            viewer.until_colour(colour, slot)
        for one in publishers:
            one.close()
            stage.rpc.call("peer.close", id=one.name)
    assert viewer.state()["sections"] == 4
    assert len(stage.rpc.peer("viewer")["senders"]) == 4
    received = viewer.stats("inbound-rtp")
    assert len(received) == 4 and all(one["packetsLost"] == 0 for one in received), received


def close__of_the_connection__ends_the_peer_at_once(stage):
    """A page that is just gone says nothing: its peer ends when consent runs out."""
    stage.rpc.call("events.subscribe", filter={"types": ["peer.state"]})
    gone = stage.page(stage.chromium(1), is_new=True)
    stage.publisher(gone, "gone", colour=css(RED)).until_connected()
    gone.close()
    stage.pages.remove(gone)
    for name, where in (("ann", stage.chromium(1)), ("eve", stage.firefox)):
        call = stage.publisher(stage.page(where), name, colour=css(RED))
        call.until_connected()
        call.close()
        event = stage.rpc.event("peer.state", peer=name, state="ended", timeout=10)
        assert event["reason"] == "closed_by_remote", event
        assert stage.rpc.peer(name)["reason"] == "closed_by_remote"
    assert stage.rpc.event("peer.state", peer="gone", state="ended", timeout=60)["reason"] == "consent_expired"
    stage.rpc.call("events.unsubscribe")


TESTS = (
    chromium_to_chromium__camera_and_microphone__are_shown,
    firefox_to_chromium__camera_and_microphone__are_shown,
    chromium_to_firefox__camera_and_microphone__are_shown,
    late_join__running_publisher__picture_comes_by_a_requested_keyframe,
    repoint__between_two_publishers__picture_changes_and_numbers_go_on,
    ice_restart__from_either_page__media_goes_on,
    reload__of_the_publishers_page__viewer_sees_the_new_one,
    room__four_clients_leave_and_rejoin__sections_do_not_pile_up,
    controller__killed_and_started_again__call_goes_on_and_can_be_joined,
    slots__four_sections_see_twenty_publishers__without_renegotiation,
    close__of_the_connection__ends_the_peer_at_once,
)


if __name__ == "__main__":
    sys.exit(perform(TESTS))
