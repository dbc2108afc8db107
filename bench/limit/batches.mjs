/** Requests that travel together at most. */
const BATCH_MAX = 256;

/**
 * One kind of request over some connections: what waits when a connection is free goes out as one statement and one
 * commit. No two requests of a batch concern the same subject, and each batch is in the order of its subjects, so that
 * two batches lock rows in one order.
 */
export class Batches {
  waiting = [];
  isDue = false;

  constructor(lanes, name, sql) {
    Object.assign(this, { lanes, name, sql });
  }

  /** Answers the rows of `parameters`. */
  run(parameters) {
    return new Promise((resolve, reject) => {
      this.waiting.push({ parameters, resolve, reject });
      if (!this.isDue) setImmediate(() => this.flush());
      this.isDue = true;
    });
  }

  flush() {
    this.isDue = false;
    while (this.waiting.length > 0) {
      const lane = this.lanes.take(this);
      if (lane === undefined) return;
      void this.send(lane, this.nextBatch());
    }
  }

  nextBatch() {
    const batch = new Map();
    const rest = [];
    for (const each of this.waiting) {
      const { guild_id: guildId, user_id: userId } = each.parameters;
      const subject = userId === undefined ? batch.size : `${guildId}${userId}`;
      if (batch.size < BATCH_MAX && !batch.has(subject)) batch.set(subject, each);
      else rest.push(each);
    }
    this.waiting = rest;
    return [...batch].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each);
  }

  async send(lane, batch) {
    const rows = batch.map(({ parameters }, n) => ({ n, ...parameters }));
    const values = [JSON.stringify(rows), ...lane.parameters];
    try {
      const answer = await lane.client.query({ name: this.name, text: this.sql, values });
      const found = batch.map(() => []);
      for (const row of answer.rows) found[row.n].push(row);
      for (const [n, { resolve }] of batch.entries()) resolve(found[n]);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    } finally {
      this.lanes.give(lane);
    }
  }
}

/** Connections, and who waits for one. */
export class Lanes {
  waiting = new Set();

  constructor(lanes) {
    this.free = lanes;
  }

  take(batches) {
    const lane = this.free.pop();
    if (lane === undefined) this.waiting.add(batches);
    return lane;
  }

  give(lane) {
    this.free.push(lane);
    const [next] = this.waiting;
    if (next === undefined) return;
    this.waiting.delete(next);
    next.flush();
  }
}
