import { createHash, createPublicKey, randomUUID, verify } from 'node:crypto';
import { Lethe } from '@lethe/sdk';
import { FakeLethe } from '@lethe/sdk/testing';
import { snowflake, type SubjectIds } from './snowflakes';

export interface FakeTask extends SubjectIds {
  readonly task_id: string;
  act: string;
  created_at: string;
  result: string | null;
  readonly answers: Answer[];
}

interface Answer {
  readonly result: string;
  readonly counts?: Readonly<Record<string, number>>;
  readonly kept?: { readonly basis: string; readonly until: string };
  readonly statement?: string;
  readonly data?: Plain;
}

type Plain = Readonly<Record<string, unknown>>;
const PAGE_MAX = 2;

/** As the service: of the data, and of a request. */
const DATA_MAX_BYTES = 229_376;
const BODY_MAX_BYTES = 262_144;
const RESULTS: Readonly<Record<string, readonly string[]>> = {
  erase: ['erased', 'nothing', 'kept', 'failed'],
  export: ['exported', 'nothing', 'failed'],
};

/** The routes of holders in memory, before those of FakeLethe. An erasure there makes a task here, and `asks` an export. */
export class FakeHolders {
  readonly lethe = new FakeLethe();
  readonly holders = new Map<string, Plain>();
  readonly tasks: FakeTask[] = [];
  /** Each call as `POST /holders`. */
  readonly calls: string[] = [];
  /** Answers the next calls of a route with a status. */
  readonly refused = new Map<string, number>();
  private bot: { id: string; api_key: string };

  async start(): Promise<this> {
    this.bot = await Lethe.register(this.lethe, { platform_bot_id: snowflake(), name: 'Greeter' });
    return this;
  }

  client(fetch: typeof globalThis.fetch = this.fetch): Lethe {
    return new Lethe({ url: this.lethe.url, key: this.bot.api_key, fetch, retries: 0 });
  }

  get botId(): string {
    return this.bot.id;
  }

  /** What the client calls in place of the network. */
  readonly fetch = (async (address: string, init: RequestInit): Promise<Response> => {
    const url = new URL(address);
    const path = url.pathname.replace('/api/v1', '');
    const called = `${init.method} ${path.replace(/^(\/holders\/)[^/]+/, '$1{key}').replace(/[0-9a-f-]{36}/, '{id}')}`;
    this.calls.push(called);
    const status = this.refused.get(called);
    if (status !== undefined) return refused(status, 'The test refuses this call.');
    if (typeof init.body === 'string' && Buffer.byteLength(init.body) > BODY_MAX_BYTES)
      return refused(413, 'The body is too large.');
    const body = typeof init.body === 'string' ? (JSON.parse(init.body) as Plain) : {};
    if (path.startsWith('/holders'))
      return this.holder(called, path.split('/').slice(2), url.searchParams, body);
    const answer = await this.lethe.fetch(address, init);
    if (called === 'POST /gdpr/forget-user' && answer.ok) await this.erased(answer.clone(), body);
    return answer;
  }) as unknown as typeof globalThis.fetch;

  private async erased(answer: Response, { user_id, guild_id }: Plain): Promise<void> {
    const { data } = (await answer.json()) as { data: { request_id: string } };
    this.made(data.request_id, 'erase', { user_id: String(user_id), guild_id: String(guild_id) });
  }

  /** A user who asks for an export. */
  asks({ user_id, guild_id }: SubjectIds, act = 'export'): FakeTask {
    return this.made(randomUUID(), act, { user_id, guild_id });
  }

  private made(task_id: string, act: string, subject: SubjectIds): FakeTask {
    const created_at = new Date(Date.UTC(2026, 0, 1, 0, 0, this.tasks.length)).toISOString();
    const task = { task_id, act, ...subject, created_at, result: null, answers: [] };
    this.tasks.push(task);
    return task;
  }

  private holder(
    called: string,
    [key = '', , id = '']: string[],
    query: URLSearchParams,
    body: Plain,
  ): Response {
    const there = this.holders.get(key);
    if (called === 'POST /holders') {
      if (this.holders.has(String(body['key'])))
        return refused(409, 'It exists.', { reason: 'holder_exists' });
      this.holders.set(String(body['key']), { public_key: null, ...body });
      return answered({ public_key: null, ...body });
    }
    if (there === undefined) return refused(404, 'No such holder.');
    if (called === 'GET /holders/{key}') return answered(there);
    if (called === 'PUT /holders/{key}') {
      this.holders.set(key, { ...there, ...body });
      return answered(this.holders.get(key));
    }
    return id === ''
      ? this.page(query)
      : this.acknowledged(there, this.taskOf(id), body as unknown as Answer);
  }

  private taskOf = (id: string): FakeTask | undefined => this.tasks.find(({ task_id }) => task_id === id);

  /** Pages of two, so that every test walks. A cursor is the id of the last task of its page. */
  private page(query: URLSearchParams): Response {
    const since = query.get('since');
    const after = this.taskOf(query.get('after') ?? '');
    const fitting = this.tasks
      .filter(({ result, created_at }) =>
        since === null ? result === null || result === 'failed' : created_at >= since,
      )
      .sort((one, other) => (one.created_at < other.created_at ? -1 : 1))
      .filter(({ created_at }) => after === undefined || created_at > after.created_at);
    const tasks = fitting.slice(0, PAGE_MAX).map((task) => ({ ...task, answers: undefined }));
    const next = fitting.length > PAGE_MAX ? (tasks.at(-1)?.task_id ?? null) : null;
    return answered({ tasks, pagination: { next } });
  }

  private acknowledged(holder: Plain, task: FakeTask | undefined, { ...answer }: Answer): Response {
    if (task === undefined) return refused(404, 'No such task.');
    const { public_key: key } = holder;
    if (RESULTS[task.act]?.includes(answer.result) !== true) return refused(400, 'The result.');
    if (task.act === 'export' && !isExport(answer)) return refused(400, 'The data.');
    if ((key === null) !== (answer.statement === undefined)) return refused(400, 'The statement.');
    if (typeof key === 'string' && !isSigned(answer.statement ?? '', key))
      return refused(400, 'The signature.');
    if (task.result !== null && task.result !== 'failed' && task.result !== answer.result)
      return refused(409, 'It is answered.', { reason: 'task_answered' });
    if (answer.kept !== undefined && Date.parse(answer.kept.until) <= Date.now())
      return refused(400, 'The kept.');
    task.result = answer.result;
    task.answers.push(answer);
    return answered(task);
  }
}

/** An answer to an export: data with `exported` alone, no counts, and a statement over the digest of the data. */
function isExport({ result, data, statement, ...more }: Answer): boolean {
  if ((result === 'exported') !== (data !== undefined) || Object.keys(more).length > 0) return false;
  if (data !== undefined && Buffer.byteLength(JSON.stringify(data)) > DATA_MAX_BYTES) return false;
  if (statement === undefined) return true;
  const payload = Buffer.from(statement.split('.')[1] ?? '', 'base64url').toString();
  const { data_digest, counts, kept } = JSON.parse(payload) as Plain;
  const digest = data && createHash('sha256').update(JSON.stringify(data)).digest('base64url');
  return data_digest === digest && counts === null && kept === null;
}

/** Whether a compact JWS is signed by the key (RFC 8037). */
function isSigned(statement: string, x: string): boolean {
  const [head = '', payload = '', signature = ''] = statement.split('.');
  const key = createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
  return verify(null, Buffer.from(`${head}.${payload}`), key, Buffer.from(signature, 'base64url'));
}

const answered = (data: unknown): Response => Response.json({ success: true, data });

const CODES: Readonly<Record<number, string>> = {
  ...{ 400: 'invalid_request', 403: 'insufficient_scope', 404: 'not_found', 409: 'conflict' },
  503: 'service_unavailable',
};

const refused = (status: number, message: string, details: Plain = {}): Response =>
  Response.json(
    { success: false, error: { code: CODES[status] ?? 'internal_error', message, details } },
    { status },
  );
