import { type Attributes, failed, KIND, type Span, type Tracing } from '@app/tracing';
import type { DataSource } from 'typeorm';
import type { Engine } from './tx';

/** Statements of one unit that get a span. Further ones are only counted: an export can have thousands. */
const SPANS_MAX = 100;
/** The texts whose attributes are kept; those of Lethe are fewer. */
const KNOWN_MAX = 1_000;

const OPERATION = /^\s*(?:WITH\b[\s\S]*?\)\s*(?=SELECT|INSERT|UPDATE|DELETE))?([A-Z]+)/i;
const NAME = String.raw`"?([a-z_]+(?:"?\."?[a-z_]+)?)\b"?`;
/** The first table; what is called like a function is none. */
const TABLE = new RegExp(String.raw`\b(?:(?:INTO|UPDATE)\s+${NAME}|(?:FROM|JOIN)\s+${NAME}(?!\s*\())`, 'i');

/** The first table that a statement names. */
function tableOf(sql: string): string | undefined {
  const [, written, read] = TABLE.exec(sql) ?? [];
  return (written ?? read)?.replaceAll('"', '');
}

/**
 * Spans of statements: their text, which has a placeholder for every value, with operation and table. What is bound to the
 * placeholders never gets here.
 */
export class TracedStatements {
  private readonly known = new Map<string, Attributes>();
  private readonly observed = new WeakSet<DataSource>();

  constructor(
    private readonly tracing: Tracing,
    private readonly engine: Engine,
  ) {}

  /** Runs one statement of the work of `parent`, the `place`th. */
  async run<T>(parent: Span, place: number, sql: string, statement: () => Promise<T>): Promise<T> {
    if (place > SPANS_MAX) return statement();
    const span = this.begin(parent, sql);
    try {
      return await statement();
    } catch (error) {
      failed(span, error);
      throw error;
    } finally {
      span.end();
    }
  }

  /** Records the statements that TypeORM makes on `source` too. It reports them when they have ended. */
  observe(source: DataSource): void {
    if (this.observed.has(source)) return;
    this.observed.add(source);
    source.subscribers.push({
      afterQuery: ({ query, executionTime = 0, error }) => {
        const parent = this.tracing.current;
        if (parent === undefined) return;
        const span = this.begin(parent, query, Date.now() - executionTime);
        if (error !== undefined) failed(span, error);
        span.end();
      },
    });
  }

  private begin(parent: Span, sql: string, startedMs?: number): Span {
    const attributes = this.attributesOf(sql);
    const { 'db.operation.name': operation, 'db.collection.name': table } = attributes;
    const name = [operation, table].filter((word) => word !== undefined).join(' ');
    return this.tracing.inside(parent, { name, kind: KIND.client, attributes, startedMs });
  }

  private attributesOf(sql: string): Attributes {
    const known = this.known.get(sql);
    if (known !== undefined) return known;
    const made: Attributes = {
      'db.system.name': this.engine === 'postgres' ? 'postgresql' : 'sqlite',
      'db.query.text': sql,
      'db.operation.name': OPERATION.exec(sql)?.[1]?.toUpperCase() ?? 'SQL',
      'db.collection.name': tableOf(sql),
    };
    if (this.known.size < KNOWN_MAX) this.known.set(sql, made);
    return made;
  }
}
