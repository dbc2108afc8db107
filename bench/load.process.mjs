// The load generator: plain sockets and prepared requests, so that it costs far less than any server.
import { connect } from 'node:net';
import { KEY_MARK } from './load.mjs';

/** The number of idempotency keys that were sent. */
let keys = 0;

const HEAD_END = '\r\n\r\n';
const LAST_CHUNK = '0\r\n\r\n';
const LENGTH = /\r\ncontent-length: *(\d+)/i;
const CLOSES = /\r\nconnection: *close/i;

/** Whether `buffer` holds one complete answer; a connection has at most one open request. */
function isWhole(buffer) {
  const head = buffer.indexOf(HEAD_END);
  if (head < 0) return false;
  const length = LENGTH.exec(buffer.latin1Slice(0, head))?.[1];
  if (length !== undefined) return buffer.length >= head + 4 + Number(length);
  return buffer.latin1Slice(-LAST_CHUNK.length) === LAST_CHUNK;
}

class Run {
  constructor({ url, requests, connections, durationMs, count }) {
    this.target = new URL(url);
    this.requests = requests.map((text) => Buffer.from(text));
    this.keyAt = this.requests[0].indexOf(KEY_MARK);
    this.connections = connections;
    this.durationMs = durationMs ?? Infinity;
    this.count = count ?? Infinity;
    this.sent = 0;
    this.latenciesMs = [];
    this.statuses = new Map();
    this.broken = 0;
  }

  async measure() {
    this.startMs = performance.now();
    const cpu = process.cpuUsage();
    await Promise.all(Array.from({ length: this.connections }, () => this.drive()));
    const elapsedMs = performance.now() - this.startMs;
    const { user, system } = process.cpuUsage(cpu);
    const sorted = Float64Array.from(this.latenciesMs).sort();
    const percentile = (share) =>
      sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
    return {
      answers: sorted.length,
      perSecond: (sorted.length / elapsedMs) * 1000,
      p50: percentile(0.5),
      p95: percentile(0.95),
      p99: percentile(0.99),
      statuses: Object.fromEntries(this.statuses),
      broken: this.broken,
      generatorCpu: (user + system) / 1000 / elapsedMs,
    };
  }

  nextRequest() {
    const request = this.requests[this.sent++ % this.requests.length];
    if (this.keyAt >= 0) request.write(String(keys++).padStart(12, '0'), this.keyAt + KEY_MARK.length);
    return request;
  }

  get isOver() {
    return this.sent >= this.count || performance.now() - this.startMs >= this.durationMs;
  }

  /** One connection, a request at a time, until the run is over; a closed connection is opened again. */
  async drive() {
    while (!this.isOver) await this.connected();
  }

  connected() {
    return new Promise((resolve) => {
      let received;
      let sentMs = 0;
      let waiting = false;
      const socket = connect(Number(this.target.port), this.target.hostname);
      socket.setNoDelay(true);
      const next = () => {
        if (this.isOver) return socket.end();
        sentMs = performance.now();
        waiting = true;
        socket.write(this.nextRequest());
      };
      socket.on('connect', next);
      socket.on('data', (chunk) => {
        received = received === undefined ? chunk : Buffer.concat([received, chunk]);
        if (!isWhole(received)) return;
        this.latenciesMs.push(performance.now() - sentMs);
        const status = received.latin1Slice(9, 12);
        this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
        const closes = CLOSES.test(received.latin1Slice(0, received.indexOf(HEAD_END)));
        received = undefined;
        waiting = false;
        if (!closes) next();
      });
      socket.on('error', () => undefined);
      socket.on('close', () => {
        if (waiting) this.broken++;
        resolve();
      });
    });
  }
}

process.on('message', async (job) => process.send(await new Run(job).measure()));
