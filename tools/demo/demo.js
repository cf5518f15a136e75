// SPDX-License-Identifier: MIT
// One page, two connections at most: one that publishes (WHIP) and one that receives everyone in the room.
// The receiving one has slots, pairs of an audio and a video section. The controller points a slot at another publisher
// whenever it likes, without renegotiation; the page only adds slots when there are more publishers than slots.
//
// Parameters of the address: ?room=lobby&name=Ann&publish=camera|picture

const $ = (id) => document.getElementById(id);
const parameters = new URLSearchParams(location.search);
const room = encodeURIComponent(parameters.get('room') || 'lobby');
// The same after a reload, so that the controller can tell: this replaces what the page had before.
const client = sessionStorage.client ??= Array.from(crypto.getRandomValues(new Uint32Array(3)), (n) => n.toString(36)).join('');

// Send a connection's offer, take the answer; returns the address of what the server made. leatd has a public address and
// answers checks from anywhere, so the offer goes without waiting for candidates.
async function negotiate(pc, method, url) {
  await pc.setLocalDescription();
  const body = pc.localDescription.sdp;
  const reply = await fetch(url, {method, headers: {'Content-Type': 'application/sdp'}, body});
  const text = await reply.text();
  if (!reply.ok) throw new Error(text || `${method} ${url}: ${reply.status}`);
  await pc.setRemoteDescription({type: 'answer', sdp: text});
  return reply.headers.get('Location');
}

class Publisher {
  async start(stream, name) {
    Object.assign(this, {stream, name});
    await this.connect();
  }

  async connect() {
    this.pc?.close();
    const pc = this.pc = new RTCPeerConnection();
    for (const track of this.stream.getTracks()) pc.addTransceiver(track, {direction: 'sendonly', streams: [this.stream]});
    pc.onconnectionstatechange = () => pc.connectionState === 'failed' && this.restartIce().catch(show);
    this.location = await negotiate(pc, 'POST', `/whip/${room}?${new URLSearchParams({client, name: this.name})}`);
  }

  // New addresses on the same connection; a new connection when the server has lost this one.
  async restartIce() {
    this.pc.restartIce();
    await negotiate(this.pc, 'PUT', this.location).catch(() => this.connect());
  }

  stop() {
    this.pc.close();
    this.stream.getTracks().forEach((track) => track.stop());
    if (this.location) leave(this.location);
  }
}

class Viewer {
  slots = []; // {audio, video: RTCRtpTransceiver}
  view = {publishers: [], slots: []}; // what the controller says: whom each slot shows

  constructor(onchange) {
    this.onchange = onchange;
    this.events = new EventSource(`/events/${room}?${new URLSearchParams({client})}`);
    this.events.onmessage = (event) => {
      this.view = JSON.parse(event.data);
      this.onchange();
      this.grow().catch(show);
    };
  }

  // As many slots as there are publishers; they stay when publishers leave, and are used again.
  async grow() {
    if (this.isGrowing) return;
    this.isGrowing = true;
    try {
      while (this.slots.length < this.view.publishers.length) {
        this.pc ??= this.connect();
        for (let n = this.view.publishers.length - this.slots.length; n > 0; n--) {
          const receive = (kind) => this.pc.addTransceiver(kind, {direction: 'recvonly'});
          this.slots.push({audio: receive('audio'), video: receive('video')});
        }
        if (this.location) await negotiate(this.pc, 'PUT', this.location);
        else this.location = await negotiate(this.pc, 'POST', `/watch/${room}?${new URLSearchParams({client})}`);
      }
    } catch (error) {
      this.reset();
      throw error;
    } finally {
      this.isGrowing = false;
    }
  }

  connect() {
    const pc = new RTCPeerConnection();
    pc.onconnectionstatechange = () => {
      if (pc.connectionState !== 'failed') return;
      this.reset(); // the server lost us or was started anew
      this.grow().catch(show);
    };
    return pc;
  }

  reset() {
    this.pc?.close();
    this.pc = this.location = undefined;
    this.slots = [];
    this.onchange();
  }

  stop() {
    this.events.close();
    this.pc?.close();
    if (this.location) leave(this.location);
  }
}

// Say goodbye even while the page is being closed.
function leave(location) {
  fetch(location, {method: 'DELETE', keepalive: true}).catch(() => {});
}

// ---- What to publish

function camera() {
  if (!navigator.mediaDevices) throw new Error('A browser gives its camera to https and localhost only. The test picture works.');
  return navigator.mediaDevices.getUserMedia({audio: true, video: {width: 1280, height: 720}});
}

// A moving picture and a soft beep a second: needs no device and no permission.
function testPicture(name) {
  const canvas = Object.assign(document.createElement('canvas'), {width: 640, height: 360});
  const paint = canvas.getContext('2d');
  const hue = [...name].reduce((sum, letter) => sum * 31 + letter.codePointAt(0), 7) % 360;
  const draw = () => {
    const t = performance.now() / 1000;
    const sky = paint.createLinearGradient(0, 0, 640, 360);
    sky.addColorStop(0, `hsl(${hue} 60% 32%)`);
    sky.addColorStop(1, `hsl(${hue + 60} 60% 16%)`);
    paint.fillStyle = sky;
    paint.fillRect(0, 0, 640, 360);
    for (let i = 0; i < 6; i++) {
      paint.fillStyle = `hsl(${hue + i * 40} 80% 65% / .75)`;
      paint.beginPath();
      paint.arc(320 + 250 * Math.sin(t * (0.5 + i / 9) + i), 180 + 110 * Math.cos(t * (0.7 + i / 7) + i), 16 + 5 * i, 0, 7);
      paint.fill();
    }
    paint.fillStyle = '#fff';
    paint.font = '600 34px system-ui, sans-serif';
    paint.fillText(name, 28, 56);
    paint.font = '26px ui-monospace, monospace';
    paint.fillText(new Date().toISOString().slice(11, 22), 28, 332);
  };
  draw();
  const timer = setInterval(draw, 33);

  const audio = new AudioContext();
  const tone = new OscillatorNode(audio, {frequency: 220 + hue});
  const volume = new GainNode(audio, {gain: 0});
  const out = audio.createMediaStreamDestination();
  tone.connect(volume).connect(out);
  tone.start();
  const beep = setInterval(() => volume.gain.setTargetAtTime(0.15, audio.currentTime, 0.01)
    .setTargetAtTime(0, audio.currentTime + 0.1, 0.03), 1000);

  const [picture] = canvas.captureStream(30).getVideoTracks();
  const stop = picture.stop.bind(picture);
  picture.stop = () => { stop(); clearInterval(timer); clearInterval(beep); audio.close(); };
  return new MediaStream([picture, ...out.stream.getAudioTracks()]);
}

// ---- What is on the screen

const tiles = new Map(); // key -> tile; the receiving tiles belong to slots, so a video element keeps its tracks

function tile(key, tracks) {
  let found = tiles.get(key);
  if (found && found.tracks[0] === tracks[0]) return found;
  found?.element.remove();
  const element = $('tile').content.firstElementChild.cloneNode(true);
  const part = (name) => element.querySelector(name);
  found = {element, tracks, video: part('video'), name: part('.name'), state: part('.state'), numbers: part('.numbers'),
    whep: part('.whep'), sound: part('.sound'), last: null};
  found.video.srcObject = new MediaStream(tracks);
  found.video.onvolumechange = () => found.sound.classList.toggle('on', !found.video.muted);
  found.sound.onclick = () => { found.video.muted = !found.video.muted; };
  tiles.set(key, found);
  $('grid').append(element);
  return found;
}

function play(found) {
  found.sound.classList.toggle('on', !found.video.muted);
  found.video.play().catch(() => { // no sound before the first click on a page: play without
    found.video.muted = true;
    found.video.play().catch(() => {});
  });
}

function draw() {
  const used = new Set();
  if (publisher) {
    const own = tile('own', publisher.stream.getTracks());
    own.element.classList.add('own');
    own.video.muted = true;
    own.name.textContent = `${$('name').value} (you)`;
    used.add('own');
  }
  viewer.slots.forEach((slot, i) => {
    const id = viewer.view.slots[i];
    const who = viewer.view.publishers.find((one) => one.id === id);
    if (!who) return;
    const found = tile(i, [slot.audio.receiver.track, slot.video.receiver.track]);
    found.slot = slot;
    found.element.dataset.publisher = id;
    found.name.textContent = who.name;
    found.whep.href = `whep.html?${new URLSearchParams({room: decodeURIComponent(room), publisher: id})}`;
    used.add(i);
    if (found.video.paused) play(found);
  });
  for (const [key, {element}] of tiles) element.hidden = !used.has(key);
  if (!publisher && tiles.has('own')) {
    tiles.get('own').element.remove();
    tiles.delete('own');
  }
  $('empty').hidden = used.size > 0;
  for (const id of ['camera', 'picture', 'name']) $(id).disabled = Boolean(publisher);
  for (const id of ['restart', 'stop']) $(id).disabled = !publisher;
}

// Once a second: connection state, bitrate, size and frame rate of each tile, from W3C statistics.
async function measure() {
  for (const [key, found] of tiles) {
    const pc = key === 'own' ? publisher?.pc : viewer.pc;
    if (!pc || found.element.hidden) continue;
    found.state.dataset.state = found.state.title = pc.connectionState;
    const reports = key === 'own' ? await pc.getStats() : await found.slot.video.receiver.getStats();
    for (const report of reports.values()) {
      if (report.kind !== 'video' || !/^(in|out)bound-rtp$/.test(report.type)) continue;
      const now = {time: report.timestamp, bytes: report.bytesReceived ?? report.bytesSent};
      const kbps = found.last ? Math.round(8 * (now.bytes - found.last.bytes) / (now.time - found.last.time)) : 0;
      found.last = now;
      const size = report.frameWidth ? ` ${report.frameWidth}×${report.frameHeight}` : '';
      const rate = report.framesPerSecond ? ` ${Math.round(report.framesPerSecond)} fps` : '';
      found.numbers.textContent = `${Math.max(kbps, 0)} kbit/s${size}${rate}`;
    }
  }
}

function show(error) {
  $('message').textContent = error.message;
  $('message').hidden = false;
  setTimeout(() => { $('message').hidden = true; }, 8000);
}

// ---- Buttons

let publisher = null;
const viewer = new Viewer(draw);

async function publish(source) {
  try {
    const starting = new Publisher();
    sessionStorage.name = $('name').value;
    await starting.start(await source($('name').value), $('name').value);
    publisher = starting;
    draw();
  } catch (error) {
    show(error);
  }
}

function stop() {
  publisher?.stop();
  publisher = null;
  draw();
}

$('room').textContent = decodeURIComponent(room);
$('invite').href = `?room=${room}`;
$('name').value = parameters.get('name') || sessionStorage.name || `guest ${Math.floor(Math.random() * 900 + 100)}`;
$('camera').onclick = () => publish(camera);
$('picture').onclick = () => publish(testPicture);
$('restart').onclick = () => publisher.restartIce().catch(show);
$('stop').onclick = stop;
addEventListener('pagehide', () => { publisher?.stop(); viewer.stop(); });
setInterval(() => measure().catch(() => {}), 1000);
draw();
if (parameters.get('publish')) publish(parameters.get('publish') === 'camera' ? camera : testPicture);
