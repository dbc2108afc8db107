import { EXAMPLE } from '@app/http';

type Answer = Readonly<Record<string, unknown>>;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const HASH = /^[\w-]{43}$/;
const DIGEST = /^sha256:[0-9a-f]{64}$/;
/** Values that differ in every run, by their shape, and what is recorded for a new one in place of its own text. */
const VOLATILE: readonly (readonly [shape: RegExp, text?: string])[] = [
  [/^\d{4}-\d\d-\d\d$/, EXAMPLE.time.slice(0, 10)],
  [/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/, EXAMPLE.time],
  [/^(key:)?sk_live_/],
  [/^whsec_/],
  [/^https?:\/\/[\w.:]+\/p\/[\w-]+$/],
  [/^v?\d+\.\d+\.\d+$/],
  [/^[\w-]+\.[\w-]+\.[\w-]+$/, EXAMPLE.jws],
  [DIGEST, EXAMPLE.digest],
  [HASH, EXAMPLE.hash],
  [/^[\w-]{22}$|^[\w-]{28}$/],
];

/** What the lives of a run are answered, by operation and example. */
export class Recording {
  private readonly answers: Record<string, Record<string, unknown>> = {};
  private ended = 0;

  constructor(private readonly lives: number) {}

  add(operationId: string, example: string, answer: unknown): void {
    (this.answers[operationId] ??= {})[example] = answer;
  }

  endLife(): void {
    this.ended += 1;
  }

  /** The text of the record. A record of some lives would replace that of all. */
  text(): string {
    if (this.ended !== this.lives) throw new Error(`${this.ended} of ${this.lives} lives have ended`);
    return `${JSON.stringify(this.answers, null, 2)}\n`;
  }
}

/** Puts the documented values in place of those of one service, and the other way round. */
export class DocumentedValues {
  /** Ids of the document, and the ids of the service for them. */
  private readonly ids: Map<string, string>;

  /** `record` is the text of the record so far: a new id is none of its ids. */
  constructor(
    ids: Readonly<Record<string, string>>,
    private readonly record: string,
  ) {
    this.ids = new Map(Object.entries(ids));
  }

  /** A text of the document with the ids of this service. */
  real(text: string): string {
    return [...this.ids].reduce((so, [documented, real]) => so.replaceAll(documented, real), text);
  }

  /**
   * What is documented for `real`, where `known` was: texts, fields and the order of fields are the real ones. Ids, times, numbers and secrets
   * remain as they were, and so does the length of a list, which may be the beginning of the real one.
   */
  kept(known: unknown, real: unknown): unknown {
    if (Array.isArray(real)) {
      const before: unknown[] = Array.isArray(known) ? known : [];
      // The path of a proof is as long as its batch makes it: it is empty for an event that is alone.
      if (before.length > 0 && [...before, ...real].every(isHash)) return before;
      return before.length === 0
        ? real.slice(0, 2).map((each) => this.kept(undefined, each))
        : before.slice(0, real.length).map((each, at) => this.kept(each, real[at]));
    }
    if (typeof real === 'object' && real !== null) {
      const before = (known ?? {}) as Answer;
      return Object.fromEntries(
        Object.entries(real).map(([key, value]) => [key, this.kept(before[key], value)]),
      );
    }
    if (typeof real === 'string') return this.keptText(typeof known === 'string' ? known : '', real);
    const isLike = typeof known === 'number' && Number.isInteger(known) === Number.isInteger(real);
    return typeof real === 'number' && isLike ? known : real;
  }

  private keptText(known: string, real: string): string {
    if (UUID.test(real)) return this.keptId(known, real);
    const shape = shapeOf(real);
    if (shape === undefined) return this.documented(real);
    const text = shape === shapeOf(known) ? known : (shape[1] ?? real);
    // The first digest is that of the registered text.
    if (DIGEST.test(text) && !this.ids.has(text)) this.ids.set(text, real);
    return text;
  }

  /** An id is documented in every place as in the first one. */
  private keptId(known: string, real: string): string {
    const isFree = UUID.test(known) && (this.ids.get(known) ?? real) === real;
    const id = isFree ? known : ([...this.ids].find(([, each]) => each === real)?.[0] ?? this.newId());
    this.ids.set(id, real);
    return id;
  }

  private newId(): string {
    for (let number = 100; ; number += 1) {
      const id = EXAMPLE.bot_id.replace(/\d+$/, String(number).padStart(12, '0'));
      if (!this.ids.has(id) && !this.record.includes(id)) return id;
    }
  }

  /** A text of this service with the ids of the document. */
  private documented(text: string): string {
    return [...this.ids].reduce((so, [documented, real]) => so.replaceAll(real, documented), text);
  }
}

function shapeOf(value: unknown): (typeof VOLATILE)[number] | undefined {
  return typeof value === 'string' ? VOLATILE.find(([shape]) => shape.test(value)) : undefined;
}

function isHash(value: unknown): boolean {
  return typeof value === 'string' && HASH.test(value);
}
