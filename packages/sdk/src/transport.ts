import { Deadline } from './deadline';
import { LetheError, NetworkError } from './errors';
import { type Attempted, type Hooks, report } from './hooks';
import { envelopeOf, refusalOf, unexpected } from './refusals';
import { requireNumber, TIMER_MAX_MS } from './numbers';
import { bodyOf, queryOf, requireKey, sendable } from './request-parts';
import { Completed, HARMLESS_TWICE, isRunning, mayBeDone, waitMsAfter, WITHOUT_KEY } from './retries';
import { onTheWire, type Route } from './routes';
import type { Begun } from './streams';
import { newUuid } from './web-crypto';

const DEFAULT_TIMEOUT_MS = 30_000;
const DEFAULT_RETRIES = 3;
const RETRIES_MAX = 1_000;

export interface LetheOptions extends Hooks {
  /** Where the service is, for example `https://lethe.example`. */
  readonly url: string;
  /** The API key, or a function that answers the present one. */
  readonly key?: string | (() => string | Promise<string>);
  readonly fetch?: typeof globalThis.fetch;
  /** The time of a call with all its attempts and waits; 30 seconds by default. */
  readonly timeoutMs?: number;
  /** How often a request is repeated; 3 by default. */
  readonly retries?: number;
}

export interface CallOptions {
  readonly timeoutMs?: number;
  readonly retries?: number;
  readonly signal?: AbortSignal;
  /** In place of a new one: the act is done once, also when your program repeats the call after a crash. */
  readonly idempotencyKey?: string;
  /** Further headers, for example `X-Registration-Token`. */
  readonly headers?: Readonly<Record<string, string>>;
  /** @internal Of this call, beside that of the client. */
  readonly onRetry?: NonNullable<Hooks['onRetry']>;
}

function requireLimits({ timeoutMs, retries }: Pick<CallOptions, 'timeoutMs' | 'retries'>): void {
  requireNumber('timeoutMs', timeoutMs, 0, TIMER_MAX_MS);
  requireNumber('retries', retries, 0, RETRIES_MAX);
}

type Read<T> = (response: Response) => Promise<T>;

/** The address without the path of the interface. @throws TypeError that says how it is written */
function baseOf(url: unknown): string {
  try {
    // Node.js before 18.17 has no URL.canParse.
    if (typeof url === 'string' && /^https?:\/\//i.test(url))
      return String(new URL(url))
        .replace(/(?<!\/)\/+$/, '')
        .replace(/\/api\/v1$/, '');
  } catch {
    // It is no address.
  }
  throw new TypeError(
    `url must be the address of Lethe with its scheme, like http://127.0.0.1:3000, not ${JSON.stringify(url) ?? 'undefined'}. ` +
      'Is the environment variable set?',
  );
}

/** Sends requests: deadline, repetitions, errors. */
export class Transport {
  readonly base: string;
  private readonly fetch: typeof globalThis.fetch;

  constructor(private readonly options: LetheOptions) {
    requireLimits(options);
    this.base = baseOf(options.url);
    // A method of another object would lose its `this`.
    const given = options.fetch ?? globalThis.fetch;
    this.fetch = (...args) => given(...args);
  }

  /** `data` of the answer. */
  async json(route: Route, path: string, given: object, options?: CallOptions): Promise<unknown> {
    const { answer, end } = await this.send(route, path, given, options, dataOf);
    end();
    return answer;
  }

  /** The answer as soon as its headers are there. The time limit ends with them. */
  async begun(route: Route, path: string, given: object, options?: CallOptions): Promise<Begun> {
    const { answer, end } = await this.send<Response>(route, path, given, options);
    return { response: answer, end };
  }

  /** A document of the service outside of the interface. */
  async document(path: `/.well-known/${string}`): Promise<Readonly<Record<string, unknown>>> {
    const deadline = new Deadline(this.options.timeoutMs ?? DEFAULT_TIMEOUT_MS);
    // It is no operation, by which hooks count and name: they do not see it.
    const request = {
      url: this.base + path,
      init: { redirect: 'manual' as const },
      isRepeatable: true,
      hooks: {},
    };
    try {
      return await this.attempts(`GET ${path}`, request, deadline, {}, async (response) => {
        const found = envelopeOf(await response.text());
        if (found === undefined) throw unexpected(response.status);
        return found;
      });
    } finally {
      deadline.end();
    }
  }

  private async send<T>(
    route: Route,
    path: string,
    given: object,
    options: CallOptions = {},
    read?: Read<T>,
  ): Promise<{ readonly answer: T; readonly end: () => void }> {
    requireLimits(options);
    const deadline = new Deadline(
      options.timeoutMs ?? this.options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
      options.signal,
    );
    const end = (): void => deadline.end();
    let running: Promise<T> | undefined;
    try {
      // The function that answers the key may ask a server that does not answer.
      deadline.awaitsKey = typeof this.options.key === 'function';
      const request = await deadline.race(this.requestOf(route, path, given, options));
      deadline.awaitsKey = false;
      const run = (): Promise<T> => {
        running ??= this.attempts(route, request, deadline, options, read);
        // A trace that does not await it may still fail first.
        running.catch(() => undefined);
        return running;
      };
      await this.options.trace?.(route, run);
      // A trace that returns nothing, or runs it twice, sends nothing twice.
      const answer = await run();
      deadline.begun();
      return { answer, end };
    } catch (error) {
      end();
      throw error;
    }
  }

  private async attempts<T>(
    route: string,
    request: Prepared,
    deadline: Deadline,
    options: CallOptions,
    read?: Read<T>,
  ): Promise<T> {
    const retries = options.retries ?? this.options.retries ?? DEFAULT_RETRIES;
    const completed = new Completed();
    let [failures, mayRun] = [0, false];
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.once({ route, attempt }, request, deadline, read);
      } catch (error) {
        if (!(error instanceof LetheError)) throw completed.endOf(error);
        completed.noteIn(error);
        // While the own act runs, its repeats are limited by the time alone.
        if (retries === 0 || (!isRunning(error, { route, mayRun }) && ++failures > retries)) throw error;
        const waitMs = waitMsAfter(error, { route, attempt, mayRun }, request.isRepeatable);
        mayRun ||= mayBeDone(error);
        if (waitMs === undefined || waitMs >= deadline.leftMs) throw error;
        for (const { hooks } of [request, { hooks: options }])
          report({ hooks }, 'onRetry', { route, attempt, waitMs, error });
        await deadline.sleep(waitMs).catch((reason: unknown) => {
          throw completed.endOf(reason);
        });
      }
    }
  }

  private async once<T>(
    attempt: Attempted,
    request: Prepared,
    deadline: Deadline,
    read?: Read<T>,
  ): Promise<T> {
    const startedMs = performance.now();
    try {
      deadline.signal.throwIfAborted();
      report(request, 'onRequest', attempt);
      const { url, init } = request;
      const response = await deadline.race(this.fetch(url, { ...init, signal: deadline.signal }));
      const { status, headers } = response;
      const requestId = headers.get('x-request-id') ?? undefined;
      const durationMs = Math.round(performance.now() - startedMs);
      report(request, 'onResponse', { ...attempt, status, durationMs, requestId });
      if (!response.ok) throw refusalOf(response, await deadline.race(response.text()));
      return await (read === undefined ? (response as T) : deadline.race(read(response)));
    } catch (error) {
      if (error instanceof LetheError) throw error;
      if (deadline.signal.aborted) throw deadline.signal.reason;
      throw new NetworkError(`${attempt.route}: no complete answer came (${String(error)}).`, {
        code: 'network_error',
        cause: error,
      });
    }
  }

  private async requestOf(
    route: Route,
    path: string,
    given: object,
    options: CallOptions,
  ): Promise<Prepared> {
    const method = route.slice(0, route.indexOf(' '));
    const wire = onTheWire(given);
    const hasBody = method === 'POST' || method === 'PUT';
    const isKeyed = method === 'POST' && !WITHOUT_KEY.includes(route);
    const headers: Record<string, string> = { ...options.headers };
    const key = typeof this.options.key === 'function' ? await this.options.key() : this.options.key;
    if (key !== undefined) {
      requireKey(key);
      headers['authorization'] = `Bearer ${key}`;
    }
    if (hasBody) headers['content-type'] = 'application/json';
    if (isKeyed) headers['idempotency-key'] = options.idempotencyKey ?? (await newUuid());
    return {
      url: `${this.base}/api/v1${path}${hasBody ? '' : queryOf(wire)}`,
      // A redirect would turn a POST into a GET, or lose the key.
      init: {
        method,
        headers: sendable(headers),
        redirect: 'manual',
        ...(hasBody && { body: bodyOf(wire) }),
      },
      isRepeatable: method === 'GET' || method === 'PUT' || isKeyed || HARMLESS_TWICE.includes(route),
      hooks: this.options,
    };
  }
}

interface Prepared {
  readonly url: string;
  readonly init: RequestInit;
  readonly isRepeatable: boolean;
  readonly hooks: Hooks;
}

async function dataOf(response: Response): Promise<unknown> {
  const envelope = envelopeOf(await response.text());
  if (envelope?.['success'] === true) return envelope['data'];
  throw unexpected(response.status, response.headers.get('x-request-id') ?? undefined);
}
