import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { ENGINES } from '../bench/engines.mjs';
import { Load } from '../bench/load.mjs';
import { startServer, WORKER } from '../scripts/server.mjs';

const PROBE = join(import.meta.dirname, 'probe.mjs');
const SETTINGS = {
  RATE_LIMIT_TIERS: 'free=100000000',
  RATE_LIMIT_ANONYMOUS: '100000000',
  LOG_LEVEL: 'error',
};
let databases = 0;

/** What a scenario needs and the machine lacks: the scenario is skipped. */
export class Missing extends Error {}

/** What a scenario starts; all of it ends with the scenario. */
export class Stage {
  masterKey = randomBytes(32).toString('base64');
  endings = [];

  constructor(engine, options) {
    this.engine = engine;
    this.options = options;
  }

  /** Calls `end` at the end of the scenario, the last one first. */
  defer(end) {
    this.endings.unshift(end);
  }

  async end() {
    for (const end of this.endings.splice(0)) await end();
  }

  /** The URL of a new database. */
  async database() {
    // Files of keys and of data are beside each other: each SQLite database has a directory of its own.
    const engine = this.engine.name === 'sqlite' ? await ENGINES.sqlite() : this.engine;
    return engine.createDatabase(`soak_${++databases}`);
  }

  /** The built service on a new database or a given one. With `watched` its loop and memory can be measured. */
  async service(settings = {}, { database, watched = false, worker = false, stdout, flags = [] } = {}) {
    const url = database ?? (await this.database());
    const server = await startServer({
      environment: { ...SETTINGS, DATABASE_URL: url, LETHE_MASTER_KEY: this.masterKey, ...settings },
      stdout,
      channel: watched,
      flags: [...flags, ...(watched ? ['--expose-gc', '--import', PROBE] : [])],
      ...(worker && { program: [WORKER] }),
    });
    this.defer(() => {
      server.child.kill('SIGKILL');
      return server.child.exitCode === null && server.child.signalCode === null
        ? once(server.child, 'exit')
        : undefined;
    });
    return new Watched(server, url);
  }

  /** The load generator, a process of its own. */
  load() {
    const load = new Load();
    this.defer(() => load.stop());
    return load;
  }

  /** A receiver of webhooks; `answer` ends the response, at once if nothing is said. */
  async receiver(answer = (response) => response.end()) {
    const receiver = new Receiver(answer);
    await receiver.start();
    this.defer(() => receiver.close());
    return receiver;
  }
}

class Watched {
  constructor(server, database) {
    Object.assign(this, server, { database });
  }

  ask(message) {
    const answered = once(this.child, 'message').then(([reading]) => reading);
    this.child.send(message);
    return answered;
  }

  /** The longest stop of the event loop during `work`, and how much more the process held than before, garbage included. */
  async costOf(work) {
    const before = await this.ask('begin');
    await work();
    const { stopMs, peakBytes } = await this.ask('end');
    return { stopMs, growth: peakBytes - before.peakBytes };
  }

  /** What the process holds more after `work` than before, without garbage, in bytes. */
  async heldAfter(work) {
    const before = await this.ask('begin');
    await work();
    return (await this.ask('begin')).peakBytes - before.peakBytes;
  }

  /** Anonymous memory in bytes: without the pages of files, which the system can take back at any time. */
  get anonymous() {
    return Number(/RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${this.pid}/status`, 'utf8'))[1]) * 1024;
  }

  /** A value of `/metrics`; `name` includes the labels. */
  async metric(name) {
    const text = await (await fetch(`${this.url}/metrics`)).text();
    const line = text.split('\n').find((each) => each.startsWith(`${name} `));
    return Number(line?.split(' ')[1]);
  }
}

class Receiver {
  /** When the call about an erasure began, by the id of the request. */
  begunMs = new Map();
  calls = 0;

  constructor(answer) {
    this.server = createServer((request, response) => {
      const nowMs = performance.now();
      let body = '';
      request.setEncoding('utf8').on('data', (text) => (body += text));
      request.on('end', () => {
        this.calls++;
        this.begunMs.set(JSON.parse(body).request_id, nowMs);
        answer(response);
      });
    });
  }

  async start() {
    await once(this.server.listen(0, '127.0.0.1'), 'listening');
    this.url = `http://127.0.0.1:${this.server.address().port}/`;
  }

  close() {
    this.server.closeAllConnections();
    this.server.close();
  }
}
