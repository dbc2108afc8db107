import { readFileSync, writeFileSync } from 'node:fs';
import { type Answer, type Client, type Json, PREFIX, type RequestOptions } from './client';

/** What differs by run. */
const VARYING: readonly (readonly [kind: string, pattern: RegExp])[] = [
  ['jws', /\b[\w-]{20,}\.[\w-]{20,}\.[\w-]{86}\b/],
  ['key', /\bsk_live_[0-9A-Za-z]{49}\b/],
  ['key prefix', /\bsk_live_[0-9A-Za-z]{8}\b/],
  ['secret', /\bwhsec_[0-9A-Za-z+/]{43}=/],
  ['digest', /\bsha256:[0-9a-f]{64}\b/],
  ['uuid', /\b[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\b/],
  ['time', /\b\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z/],
  ['salt', /(?<="certificate_salt":")[\w-]{22}(?=")/],
  ['cursor', /(?<="next":")[\w.-]+(?=")/],
  ['place', /\bhttp:\/\/127\.0\.0\.1:\d+/],
];
/** What a job sets, or a call takes. */
const MOMENTS = /("(?:last_used_at|duration_ms)":)(?:null|\d+|"[^"]+")/g;
const ANY = new RegExp(VARYING.map(([, pattern]) => `(${pattern.source})`).join('|'), 'g');

/** Headers of the connection, and of the moment. */
const OF_HTTP = ['connection', 'content-length', 'date', 'keep-alive', 'transfer-encoding'];
const OF_MOMENT = ['retry-after', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'x-request-id'];

/** One exchange or one webhook call, as a line of JSON. */
export type Line = string;

/**
 * Records what a service answers: status, headers and the text of the body, in which what differs by run has a name by its
 * first appearance (`<uuid 1>`). Everything else is literal, the order of keys too.
 */
export class Recorder {
  readonly lines: Line[] = [];
  /** Of most answers: a line has the headers that differ from them, and null for one that is missing. */
  private usual: Readonly<Record<string, string>> | undefined;
  private readonly names = new Map<string, string>();
  private readonly counts = new Map<string, number>();

  /** Called before each exchange. */
  constructor(private readonly begins: () => void = () => undefined) {}

  async ask<T = Json>(client: Client, method: string, path: string, given: Given = {}): Promise<Answer<T>> {
    this.begins();
    const { body, headers, raw, shown } = given;
    const options: RequestOptions =
      body === undefined
        ? { ...(headers && { headers }), ...(raw !== undefined && { raw }) }
        : { headers: { 'content-type': 'application/json', ...headers }, raw: JSON.stringify(body) };
    const answer = await client.send<T>(method, PREFIX + path, options);
    this.line({
      ask: `${method} ${path}`,
      ...(body !== undefined && { body }),
      ...((raw ?? shown) !== undefined && { raw: shown ?? raw }),
      status: answer.status,
      headers: this.headersOf(answer.headers),
      answer: bodyOf(answer.text),
    });
    return answer;
  }

  /** Anything else that was sent. */
  line(told: object): void {
    this.lines.push(this.named(JSON.stringify(told)));
  }

  private headersOf(all: Headers): Readonly<Record<string, string | null>> {
    const told = Object.fromEntries(
      [...all]
        .filter(([name]) => !OF_HTTP.includes(name))
        .map(([name, value]) => [name, OF_MOMENT.includes(name) ? '…' : value]),
    );
    if (this.usual === undefined) return (this.usual = told);
    const usual = this.usual;
    const names = [...new Set([...Object.keys(usual), ...Object.keys(told)])];
    const differing = names.filter((name) => usual[name] !== told[name]);
    return Object.fromEntries(differing.map((name) => [name, told[name] ?? null]));
  }

  private named(text: string): string {
    return text.replace(MOMENTS, '$1"…"').replace(ANY, (found: string, ...groups: unknown[]) => {
      const kind = VARYING[groups.findIndex((group) => group !== undefined)]?.[0] ?? '';
      let name = this.names.get(found);
      if (name === undefined) {
        const count = (this.counts.get(kind) ?? 0) + 1;
        this.counts.set(kind, count);
        this.names.set(found, (name = `<${kind} ${count}>`));
      }
      return name;
    });
  }
}

export interface Given {
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as it is. */
  readonly raw?: string;
  /** What the record says in the place of `raw`. */
  readonly shown?: string;
}

/** The body as JSON where that has the same text, else its text. */
function bodyOf(text: string): unknown {
  try {
    const body = JSON.parse(text) as unknown;
    return JSON.stringify(body) === text ? body : text;
  } catch {
    return text;
  }
}

/** The lines of a record, by section. With `TEST_RECORD=write` the given ones become the record. */
export function recorded(
  file: string,
  sections: Readonly<Record<string, readonly Line[]>>,
): Readonly<Record<string, readonly Line[]>> {
  if (process.env['TEST_RECORD'] === 'write') {
    const texts = Object.entries(sections).map(
      ([name, lines]) => `${JSON.stringify(name)}:[\n${lines.join(',\n')}\n]`,
    );
    writeFileSync(file, `{${texts.join(',\n')}}\n`);
  }
  const stored = JSON.parse(readFileSync(file, 'utf8')) as Record<string, object[]>;
  return Object.fromEntries(
    Object.entries(stored).map(([name, lines]) => [name, lines.map((line) => JSON.stringify(line))]),
  );
}
