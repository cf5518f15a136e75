// SPDX-License-Identifier: MIT
// The inside of page.py: named RTCPeerConnections in a browser's page. Evaluated before the page's own scripts, so that
// connections which the page makes are in leat.made.
window.leat ??= (() => {
  const calls = {}; // name -> {pc, streams, videos}
  const made = [];
  const Native = window.RTCPeerConnection;
  window.RTCPeerConnection = class extends Native {
    constructor(...parameters) {
      super(...parameters);
      made.push(this);
    }
  };
  const capture = HTMLCanvasElement.prototype.captureStream;
  HTMLCanvasElement.prototype.captureStream = function (fps) {
    return capture.call(this, Math.min(fps, window.leatMaxFps));
  };

  // A picture of one colour with a square that moves, so that every frame differs.
  function paint(colour, {width = 320, height = 180, fps = 15} = {}) {
    const canvas = Object.assign(document.createElement('canvas'), {width, height});
    const context = canvas.getContext('2d');
    let n = 0;
    const timer = setInterval(() => {
      context.fillStyle = colour;
      context.fillRect(0, 0, width, height);
      context.fillStyle = '#888';
      context.fillRect(n++ * 3 % width, 0, 8, 8);
    }, 1000 / fps);
    const stream = canvas.captureStream(fps);
    const [track] = stream.getTracks();
    const stop = track.stop.bind(track);
    track.stop = () => { clearInterval(timer); stop(); };
    return track;
  }

  function tone() {
    const audio = new AudioContext();
    const source = new OscillatorNode(audio, {frequency: 440});
    const out = audio.createMediaStreamDestination();
    source.connect(out);
    source.start();
    return out.stream.getTracks()[0];
  }

  async function tracksOf({camera, colour, audio, ...size}) {
    if (camera) return (await navigator.mediaDevices.getUserMedia({audio: true, video: {width: 640, height: 480}})).getTracks();
    return [...(audio ? [tone()] : []), ...(colour ? [paint(colour, size)] : [])];
  }

  async function offer(name) {
    const {pc} = calls[name];
    await pc.setLocalDescription();
    return pc.localDescription.sdp;
  }

  return {
    calls, made,

    async publish(name, what) {
      const call = calls[name] = {pc: new RTCPeerConnection(), videos: {}, tracks: await tracksOf(what)};
      const stream = new MediaStream(call.tracks);
      for (const track of call.tracks) call.pc.addTransceiver(track, {direction: 'sendonly', streams: [stream]});
      return offer(name);
    },

    async receive(name, kinds) {
      const call = calls[name] ??= {pc: new RTCPeerConnection(), videos: {}, tracks: []};
      for (const kind of kinds) call.pc.addTransceiver(kind, {direction: 'recvonly'});
      return offer(name);
    },

    // The page's own connection becomes a named one.
    adopt(name, index) {
      calls[name] = {pc: made[index], videos: {}, tracks: []};
    },

    offer,

    async restart(name) {
      calls[name].pc.restartIce();
      return offer(name);
    },

    async accept(name, sdp) {
      const call = calls[name];
      await call.pc.setRemoteDescription({type: 'answer', sdp});
      for (const {mid, receiver, direction} of call.pc.getTransceivers()) {
        if (direction !== 'recvonly' || receiver.track.kind !== 'video' || call.videos[mid]) continue;
        const video = Object.assign(document.createElement('video'), {muted: true, autoplay: true, width: 160});
        video.srcObject = new MediaStream([receiver.track]);
        document.body.append(video);
        video.play().catch(() => {});
        call.videos[mid] = video;
      }
    },

    state(name) {
      const {pc} = calls[name];
      return {connection: pc.connectionState, ice: pc.iceConnectionState, signaling: pc.signalingState,
        sections: (pc.localDescription?.sdp.match(/^m=/gm) ?? []).length,
        mids: pc.getTransceivers().map((one) => [one.mid, one.receiver.track.kind, one.currentDirection])};
    },

    async stats(name, type) {
      const found = [];
      for (const report of (await calls[name].pc.getStats()).values()) if (!type || report.type === type) found.push({...report});
      return found;
    },

    // Size and mean colour of the picture of a section, and how much its points differ.
    pixels(name, mid) {
      const video = calls[name].videos[mid];
      if (!video || !video.videoWidth) return null;
      const canvas = Object.assign(document.createElement('canvas'), {width: 32, height: 32});
      const context = canvas.getContext('2d', {willReadFrequently: true});
      context.drawImage(video, 0, 0, 32, 32);
      const {data} = context.getImageData(0, 0, 32, 32);
      const mean = [0, 1, 2].map((c) => data.filter((_, i) => i % 4 === c).reduce((a, b) => a + b, 0) / 1024);
      return {width: video.videoWidth, height: video.videoHeight, mean};
    },

    // Watch the times between shown frames; stopped by gaps(), which returns the longest in seconds.
    watch(name, mid) {
      const call = calls[name], video = call.videos[mid];
      const seen = call.seen = {last: performance.now(), longest: 0, frames: 0};
      const shown = (now) => {
        seen.longest = Math.max(seen.longest, now - seen.last);
        seen.last = now;
        seen.frames++;
        if (call.seen === seen) video.requestVideoFrameCallback(shown);
      };
      video.requestVideoFrameCallback(shown);
    },

    gaps(name) {
      const {seen} = calls[name];
      delete calls[name].seen;
      return {longest: Math.max(seen.longest, performance.now() - seen.last) / 1000, frames: seen.frames};
    },

    close(name) {
      const call = calls[name];
      call.tracks.forEach((track) => track.stop());
      call.pc.close();
      Object.values(call.videos).forEach((video) => video.remove());
      delete calls[name];
    },

    // HTTP with an SDP offer: WHIP, WHEP and the demo's PUT.
    async http(method, url, sdp) {
      const reply = await fetch(url, {method, headers: {'Content-Type': 'application/sdp'}, body: sdp});
      return {status: reply.status, text: await reply.text(), location: reply.headers.get('Location')};
    },
  };
})();
