# SPDX-License-Identifier: MIT
# timeout: 300
# build: release
"""The demo's own page, as a person meets it: names and pictures appear, come back after a reload, and go."""
import sys

from harness.program import until
from harness.stage import URL, perform

TILES = """async () => [...document.querySelectorAll('.tile')].filter((one) => !one.hidden).map((one) => ({
    name: one.querySelector('.name').textContent, state: one.querySelector('.state').dataset.state,
    numbers: one.querySelector('.numbers').textContent, seconds: one.querySelector('video').currentTime,
    width: one.querySelector('video').videoWidth}))"""
CLICK = "async (id) => document.getElementById(id).click()"
MESSAGE = "async () => document.getElementById('message').textContent"


def visit(stage, where, name, is_new=False):
    """A page that publishes its test picture at once."""
    page = stage.page(where, is_new=is_new)
    page.open(f"{URL}/?room=parlour&name={name}&publish=picture")
    return page


def tiles(page):
    return {one["name"]: one for one in page.evaluate(TILES)}


def publishers(stage, name):
    """The ids of the live peers that publish under this name."""
    return {one["id"] for one in stage.rpc.call("peer.list")["peers"]
            if one["state"] != "ended" and one["data"].get("name") == name}


def until_shown(page, names, more_than_s=1.0):
    """These tiles and no others, each of a connection that is up, with frames that arrive and a player that plays."""
    def is_shown():
        seen = tiles(page)
        return set(seen) == set(names) and all(
            one.get("state") == "connected" and one["width"] > 0 and one["seconds"] > more_than_s and one["numbers"].endswith("fps")
            for one in seen.values())
    until(is_shown, lambda: f"{names}: {tiles(page)} {page.evaluate(MESSAGE)}", timeout=60)


def room__chromium_and_firefox__see_each_other(stage):
    ann, bob = visit(stage, stage.chromium(1), "Ann"), visit(stage, stage.firefox, "Bob")
    until_shown(ann, ["Ann (you)", "Bob"])
    until_shown(bob, ["Bob (you)", "Ann"])


def reload__of_a_page__takes_the_slot_it_had(stage):
    ann, bob = visit(stage, stage.chromium(1), "Ann"), visit(stage, stage.chromium(1), "Bob", is_new=True)
    until_shown(ann, ["Ann (you)", "Bob"])
    was = publishers(stage, "Bob")
    bob.evaluate("async () => setTimeout(() => location.reload(), 50)")
    until(lambda: publishers(stage, "Bob") - was, "Bob publishes anew")
    before = until(lambda: tiles(ann).get("Bob"), "Bob is back")["seconds"]
    until_shown(bob, ["Bob (you)", "Ann"])
    until_shown(ann, ["Ann (you)", "Bob"], before + 1)
    viewers = [one for one in stage.rpc.call("peer.list")["peers"] if one["data"]["role"] == "viewer" and one["state"] != "ended"]
    assert sorted(len(one["senders"]) for one in viewers) == [2, 2], viewers


def buttons__ice_restart_and_stop__do_what_they_say(stage):
    ann, bob = visit(stage, stage.chromium(1), "Ann"), visit(stage, stage.chromium(1), "Bob", is_new=True)
    until_shown(ann, ["Ann (you)", "Bob"])
    bob.evaluate(CLICK, "restart")
    until_shown(ann, ["Ann (you)", "Bob"], tiles(ann)["Bob"]["seconds"] + 2)
    assert bob.evaluate(MESSAGE) == ""
    bob.evaluate(CLICK, "stop")
    until(lambda: set(tiles(ann)) == {"Ann (you)"}, lambda: f"Bob has gone: {tiles(ann)}")
    until(lambda: set(tiles(bob)) == {"Ann"}, lambda: f"Bob still watches: {tiles(bob)}")


def whep_player__by_name__plays(stage):
    visit(stage, stage.chromium(1), "Ann")
    player = stage.page(stage.chromium(1), is_new=True)
    player.open(f"{URL}/whep.html?room=parlour&publisher=Ann")
    until(lambda: player.evaluate("async () => document.getElementById('video').getVideoPlaybackQuality().totalVideoFrames") > 30,
          "the player shows Ann")


if __name__ == "__main__":
    sys.exit(perform((room__chromium_and_firefox__see_each_other, reload__of_a_page__takes_the_slot_it_had,
                      buttons__ice_restart_and_stop__do_what_they_say, whep_player__by_name__plays)))
