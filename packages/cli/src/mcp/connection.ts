import { randomUUID } from 'node:crypto';
import type { Confirmation } from './tool';
import type { Line } from './lines';

/** The versions of the protocol, newest first. In 2025-03-26 a server must take batches, so it is not offered. */
export const VERSIONS = ['2025-11-25', '2025-06-18', '2024-11-05'] as const;
const LATEST = VERSIONS[0];
/** The first one in which a server asks the user of its client something. */
const ASKING = '2025-06-18';

const CALLS_MAX = 4;
const WAITING_MAX = 60;
export const ANSWER_MS = 5 * 60_000;

const CODES = {
  parse: -32700,
  invalid: -32600,
  method: -32601,
  params: -32602,
  internal: -32603,
  busy: -32000,
};

export type Id = string | number;
type Message = Readonly<Record<string, unknown>>;

/** A failure of the protocol, as which a request is answered. */
export class ProtocolError extends Error {
  constructor(
    readonly kind: keyof typeof CODES,
    message: string,
  ) {
    super(message);
  }
}

export interface Call {
  readonly signal: AbortSignal;
  readonly canAsk: boolean;
  confirm(question: string, phrase: string): Promise<Confirmation>;
}

export interface Server {
  readonly info: { readonly name: string; readonly title: string; readonly version: string };
  readonly instructions: string;
  readonly tools: readonly object[];
  /** Answers a call of a tool; rejects with a {@link ProtocolError} or never. */
  call(name: string, given: Message, call: Call): Promise<object>;
}

const isObject = (value: unknown): value is Message =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isId = (value: unknown): value is Id => typeof value === 'string' || Number.isSafeInteger(value);

/**
 * One client of the Model Context Protocol: JSON-RPC 2.0, one message a line. A line that is no message is answered with an error
 * and the next one is read. At most four calls run, and sixty wait.
 */
export class Connection {
  private version: string | undefined;
  private asks = false;
  private isAsking = false;
  private readonly running = new Map<Id, AbortController>();
  private readonly waiting: (() => void)[] = [];
  private readonly questions = new Map<Id, (answer: Message) => void>();
  private readonly calls = new Set<Promise<void>>();
  private active = 0;

  constructor(
    private readonly server: Server,
    /** Resolves once the client can be sent more. */
    private readonly write: (message: object) => Promise<void>,
    private readonly answerMs = ANSWER_MS,
  ) {}

  /** Serves the client until its lines end. Calls that read are then given up; an erasure that has begun is waited for. */
  async serve(lines: AsyncIterable<Line>): Promise<void> {
    // Answers are written before the next line is read, so that they do not pile up for a client that reads none.
    for await (const line of lines) await this.received(line);
    for (const call of this.running.values()) call.abort();
    await Promise.all(this.calls);
  }

  private async received(line: Line): Promise<void> {
    if ('fault' in line) return this.fails(null, new ProtocolError('invalid', line.fault));
    let message: unknown;
    try {
      message = JSON.parse(line.text);
    } catch {
      return this.fails(null, new ProtocolError('parse', 'The line is no JSON. Send one message a line.'));
    }
    if (Array.isArray(message))
      return this.fails(
        null,
        new ProtocolError('invalid', 'Batches are not taken: send each message on a line of its own.'),
      );
    if (!isObject(message) || message['jsonrpc'] !== '2.0')
      return this.fails(
        null,
        new ProtocolError('invalid', 'A message is an object of JSON-RPC with "jsonrpc": "2.0".'),
      );
    const { id, method } = message;
    if (typeof method !== 'string') return this.answered(message);
    const params = isObject(message['params']) ? message['params'] : {};
    if (id === undefined) return this.notified(method, params);
    if (!isId(id) || this.running.has(id))
      return this.fails(
        null,
        new ProtocolError('invalid', 'id must be a text or a whole number that no running request has.'),
      );
    if (method !== 'tools/call') return this.answer(id, method, params);
    if (this.calls.size >= CALLS_MAX + WAITING_MAX)
      return this.fails(
        id,
        new ProtocolError('busy', `${this.calls.size} calls run or wait: send it later.`),
      );
    const done = this.answer(id, method, params).finally(() => this.calls.delete(done));
    this.calls.add(done);
  }

  /** An answer of the client to a question; an unknown one is none. */
  private async answered(message: Message): Promise<void> {
    if (!('result' in message) && !('error' in message))
      return this.fails(null, new ProtocolError('invalid', 'A message without a method is an answer.'));
    const { id } = message;
    if (isId(id)) this.questions.get(id)?.(message);
  }

  private async notified(method: string, { requestId }: Message): Promise<void> {
    if (method === 'notifications/cancelled' && isId(requestId)) this.running.get(requestId)?.abort();
  }

  private async answer(id: Id, method: string, params: Message): Promise<void> {
    const control = new AbortController();
    this.running.set(id, control);
    try {
      const result = await this.resultOf(method, params, control.signal);
      this.running.delete(id);
      await this.write({ jsonrpc: '2.0', id, result });
    } catch (error) {
      this.running.delete(id);
      // A cancelled request has no answer.
      if (control.signal.aborted) return;
      await this.fails(
        id,
        error instanceof ProtocolError ? error : new ProtocolError('internal', 'lethe mcp has failed.'),
      );
    }
  }

  private fails(id: Id | null, { kind, message }: ProtocolError): Promise<void> {
    return this.write({ jsonrpc: '2.0', id, error: { code: CODES[kind], message } });
  }

  private async resultOf(method: string, params: Message, signal: AbortSignal): Promise<object> {
    if (method === 'ping') return {};
    if (method === 'initialize') return this.initialized(params);
    if (this.version === undefined && /^tools\/(list|call)$/.test(method))
      throw new ProtocolError('invalid', 'The first request is initialize.');
    if (method === 'tools/list') return { tools: this.server.tools };
    if (method === 'tools/call') return this.called(params, signal);
    throw new ProtocolError('method', 'There is no such method: initialize, ping, tools/list, tools/call.');
  }

  private initialized({ protocolVersion, capabilities }: Message): object {
    if (this.version !== undefined)
      throw new ProtocolError('invalid', 'The connection is initialized already.');
    if (typeof protocolVersion !== 'string')
      throw new ProtocolError('params', `protocolVersion is missing, for example ${LATEST}.`);
    this.version = VERSIONS.find((each) => each === protocolVersion) ?? LATEST;
    const { elicitation } = isObject(capabilities) ? capabilities : {};
    // An empty capability is that of forms.
    const hasForms =
      isObject(elicitation) && (Object.keys(elicitation).length === 0 || isObject(elicitation['form']));
    this.asks = hasForms && this.version >= ASKING;
    const { info: serverInfo, instructions } = this.server;
    return { protocolVersion: this.version, capabilities: { tools: {} }, serverInfo, instructions };
  }

  private async called({ name, arguments: given = {} }: Message, signal: AbortSignal): Promise<object> {
    if (typeof name !== 'string' || !isObject(given))
      throw new ProtocolError('params', 'tools/call has name, a text, and arguments, an object.');
    await this.turn(signal);
    try {
      const confirm = (question: string, phrase: string): Promise<Confirmation> =>
        this.confirm(question, phrase, signal);
      return await this.server.call(name, given, { signal, canAsk: this.asks, confirm });
    } finally {
      this.leave();
    }
  }

  /** Waits for one of the four places. */
  private async turn(signal: AbortSignal): Promise<void> {
    if (this.active < CALLS_MAX) this.active += 1;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
    if (!signal.aborted) return;
    this.leave();
    signal.throwIfAborted();
  }

  /** Hands the place on: were it free for a moment, a call that has just arrived would take it beside the one that waits. */
  private leave(): void {
    const next = this.waiting.shift();
    if (next === undefined) this.active -= 1;
    else next();
  }

  /** Has the client ask its user for the phrase. Whatever is no exact answer of the user is no confirmation. */
  private async confirm(question: string, phrase: string, cancelled: AbortSignal): Promise<Confirmation> {
    if (this.isAsking) return 'busy';
    cancelled.throwIfAborted();
    this.isAsking = true;
    const id = randomUUID();
    let timer: NodeJS.Timeout | undefined;
    try {
      const answered = new Promise<Message | undefined>((resolve) => {
        this.questions.set(id, resolve);
        cancelled.addEventListener('abort', () => resolve(undefined), { once: true });
        timer = setTimeout(() => resolve(undefined), this.answerMs);
      });
      const typed = { type: 'string', title: 'Phrase', description: 'As the question has it' };
      const requestedSchema = { type: 'object', properties: { phrase: typed }, required: ['phrase'] };
      await this.asked(id, 'elicitation/create', { message: question, requestedSchema });
      const answer = await answered;
      if (answer === undefined)
        await this.asked(undefined, 'notifications/cancelled', { requestId: id, reason: 'It was given up.' });
      return confirmationIn(answer, phrase);
    } finally {
      clearTimeout(timer);
      this.questions.delete(id);
      this.isAsking = false;
    }
  }

  private asked(id: Id | undefined, method: string, params: object): Promise<void> {
    return this.write({ jsonrpc: '2.0', ...(id !== undefined && { id }), method, params });
  }
}

function confirmationIn(answer: Message | undefined, phrase: string): Confirmation {
  const result = answer?.['result'];
  if (!isObject(result) || result['action'] === 'cancel') return 'no answer';
  if (result['action'] !== 'accept') return 'declined';
  const content = isObject(result['content']) ? result['content'] : {};
  const { phrase: typed } = content;
  return typeof typed === 'string' && typed.trim() === phrase ? 'confirmed' : 'wrong phrase';
}
