import { DOCUMENT_PATHS, UNCOUNTED_PATHS } from './routes';
import { sent } from './sent';

export type Json = Record<string, unknown>;

/** The `error` of a refused request. */
export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly details?: Json;
}

/** One answer of the service with its envelope. */
export class Answer<T = Json> {
  constructor(
    readonly status: number,
    readonly headers: Headers,
    readonly text: string,
  ) {}

  get body(): unknown {
    return JSON.parse(this.text) as unknown;
  }

  /** The `data` of a success; throws for a refused request. */
  get data(): T {
    const body = this.body as { success: boolean; data: T };
    if (!body.success) throw new Error(`a success was expected, not ${this.status} ${this.text}`);
    return body.data;
  }

  get error(): Failure {
    const body = this.body as { success: boolean; error: Failure };
    if (body.success) throw new Error(`a refusal was expected, not ${this.status} ${this.text}`);
    return body.error;
  }

  header(name: string): string | undefined {
    return this.headers.get(name) ?? undefined;
  }
}

export interface RequestOptions {
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent without a change; an object in `body` is sent as JSON instead. */
  readonly raw?: string | Uint8Array;
}

/** The prefix of every path of the interface. */
export const PREFIX = '/api/v1';

/** Sends requests like a bot. Every answer is checked against the contract for all answers. */
export class Client {
  constructor(
    readonly baseUrl: string,
    readonly key?: string,
  ) {}

  get<T = Json>(path: string, headers?: Record<string, string>): Promise<Answer<T>> {
    return this.send('GET', PREFIX + path, { headers });
  }

  post<T = Json>(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer<T>> {
    return this.send('POST', PREFIX + path, { ...asJson(body, headers) });
  }

  put<T = Json>(path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer<T>> {
    return this.send('PUT', PREFIX + path, { ...asJson(body, headers) });
  }

  delete<T = Json>(path: string, headers?: Record<string, string>): Promise<Answer<T>> {
    return this.send('DELETE', PREFIX + path, { headers });
  }

  /** Any method on any path, outside the prefix too. */
  async send<T = Json>(method: string, path: string, options: RequestOptions = {}): Promise<Answer<T>> {
    const credential: Record<string, string> =
      this.key === undefined ? {} : { authorization: `Bearer ${this.key}` };
    const { status, headers, text } = await sent(this.baseUrl + path, {
      method,
      headers: { ...credential, ...options.headers },
      body: options.raw,
    });
    const answer = new Answer<T>(status, headers, text);
    const isDocument = answer.status === 200 && DOCUMENT_PATHS.test(path) && !answer.text.startsWith('{');
    const faults = faultsOf(answer, {
      isHead: method === 'HEAD',
      isCounted: !UNCOUNTED_PATHS.test(path),
      ...(isDocument && {
        document: `text/${answer.text.startsWith('<') ? 'html' : 'markdown'}; charset=utf-8`,
      }),
    });
    if (faults.length > 0) throw new Error(`${method} ${path} (${answer.status}): ${faults.join('; ')}`);
    return answer;
  }
}

function asJson(body: unknown, headers: Record<string, string> = {}): RequestOptions {
  if (body === undefined) return { headers };
  return { headers: { 'content-type': 'application/json', ...headers }, raw: JSON.stringify(body) };
}

const UNIX_TIME = /^\d{10}$/;
const COUNT = /^\d+$/;
const ENVELOPE_TYPE = 'application/json; charset=utf-8';

interface AnswerKind {
  readonly isHead: boolean;
  readonly isCounted: boolean;
  /** The content type of an answer without the envelope. */
  readonly document?: string;
}

/**
 * What an answer has against the contract for all answers: envelope (except documents), no caching or sniffing, request
 * id, rate limit headers.
 */
export function faultsOf(
  answer: Answer<unknown>,
  { isHead, isCounted, document = ENVELOPE_TYPE }: AnswerKind,
): string[] {
  const faults: string[] = [];
  if (answer.header('content-type') !== document)
    faults.push(`content-type: ${answer.header('content-type')}`);
  const expected: Record<string, RegExp> = {
    'x-request-id': /^[A-Za-z0-9._-]{1,64}$/,
    'cache-control': /^no-store$/,
    'x-content-type-options': /^nosniff$/,
  };
  if (isCounted) {
    expected['x-ratelimit-limit'] = COUNT;
    expected['x-ratelimit-remaining'] = COUNT;
    expected['x-ratelimit-reset'] = UNIX_TIME;
  }
  for (const [name, pattern] of Object.entries(expected)) {
    const value = answer.header(name);
    if (value === undefined || !pattern.test(value)) faults.push(`${name}: ${value ?? 'missing'}`);
  }
  for (const name of ['x-powered-by', 'etag', 'access-control-allow-origin']) {
    if (answer.header(name) !== undefined) faults.push(`${name} is sent`);
  }
  if (!isHead && document === ENVELOPE_TYPE && !isEnvelope(answer))
    faults.push(`not the envelope: ${answer.text.slice(0, 200)}`);
  return faults;
}

function isEnvelope({ body, status }: Answer<unknown>): boolean {
  const envelope = body as Json;
  const keys = Object.keys(envelope).join();
  if (status < 300)
    return envelope['success'] === true && keys === 'success,data' && isObject(envelope['data']);
  const failure = envelope['error'] as Json;
  return (
    envelope['success'] === false &&
    keys === 'success,error' &&
    Object.keys(failure).every((key) => ['code', 'message', 'details'].includes(key)) &&
    typeof failure['code'] === 'string' &&
    typeof failure['message'] === 'string' &&
    failure['message'] !== '' &&
    !/sqlite|select |insert |\/libs\/|node_modules|\bat .+:\d+:\d+/i.test(failure['message']) &&
    (failure['details'] === undefined || isObject(failure['details']))
  );
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
