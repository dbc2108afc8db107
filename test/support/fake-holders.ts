import { createPublicKey, verify } from 'node:crypto';
import { Lethe } from '@lethe/sdk';
import { FakeLethe } from '@lethe/sdk/testing';
import { snowflake, type SubjectIds } from './snowflakes';

export interface FakeTask extends SubjectIds {
  readonly task_id: string;
  created_at: string;
  result: string | null;
  readonly answers: Answer[];
}

interface Answer {
  readonly result: string;
  readonly counts?: Readonly<Record<string, number>>;
  readonly kept?: { readonly basis: string; readonly until: string };
  readonly statement?: string;
}

type Plain = Readonly<Record<string, unknown>>;
const PAGE_MAX = 2;

/** The routes of holders in memory, before those of FakeLethe. An erasure there makes a task here. */
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
    const body = typeof init.body === 'string' ? (JSON.parse(init.body) as Plain) : {};
    if (path.startsWith('/holders'))
      return this.holder(called, path.split('/').slice(2), url.searchParams, body);
    const answer = await this.lethe.fetch(address, init);
    if (called === 'POST /gdpr/forget-user' && answer.ok) await this.erased(answer.clone(), body);
    return answer;
  }) as unknown as typeof globalThis.fetch;

  private async erased(answer: Response, { user_id, guild_id }: Plain): Promise<void> {
    const { data } = (await answer.json()) as { data: { request_id: string } };
    const created_at = new Date(Date.UTC(2026, 0, 1, 0, 0, this.tasks.length)).toISOString();
    const subject = { user_id: String(user_id), guild_id: String(guild_id) };
    this.tasks.push({ task_id: data.request_id, ...subject, created_at, result: null, answers: [] });
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
    if ((key === null) !== (answer.statement === undefined)) return refused(400, 'The statement.');
    if (typeof key === 'string' && !isSigned(answer.statement ?? '', key))
      return refused(400, 'The signature.');
    if (task.result !== null && task.result !== 'failed' && task.result !== answer.result)
      return refused(409, 'It is answered.', { reason: 'task_answered' });
    task.result = answer.result;
    task.answers.push(answer);
    return answered(task);
  }
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
