import { type Attributes, ended, type Span, type Tracing } from '@app/tracing';
import { CommitSpans } from './commit-spans';
import { TracedStatements } from './traced.statements';
import { TracedTx } from './traced.tx';
import type { Tx } from './tx';
import { type SharedAct, UnitOfWork } from './unit-of-work';

type Work<T> = (tx: Tx) => Promise<T>;
type Mode = 'write' | 'read' | 'snapshot' | 'get';

/** One input of a shared act, with the span of its caller. */
interface Carried<Input> {
  readonly input: Input;
  readonly span: Span | undefined;
  readonly askedMs: number;
}

/** Whether the end of a run is a commit of its unit. */
type Ends = 'commit' | 'otherwise';

/**
 * The units of `inner`, recorded inside the trace of their caller. A unit whose caller has no trace, such as a job that looks
 * for work, is not recorded. Transactions and answers are those of `inner`.
 */
export class TracedUnitOfWork extends UnitOfWork {
  private readonly statements: TracedStatements;
  private readonly commits: CommitSpans;
  /** By the act: callers share transactions by its identity. */
  private readonly acts = new WeakMap<object, unknown>();

  constructor(
    private readonly inner: UnitOfWork,
    private readonly tracing: Tracing,
  ) {
    super();
    this.statements = new TracedStatements(tracing, inner.engine);
    this.commits = new CommitSpans(tracing);
    inner.watchCommits((units, durationMs) => this.commits.note(units, durationMs));
  }

  get engine() {
    return this.inner.engine;
  }

  write<T>(work: Work<T>): Promise<T> {
    return this.unit('write', (span) => this.inner.write(this.timed(span, work)));
  }

  override destroyKeys<Destroyed, T>(
    destroy: Work<Destroyed>,
    then: (tx: Tx, destroyed: Destroyed, isScrubbed: boolean) => Promise<T>,
  ): Promise<T> {
    return this.unit('write', (span) =>
      this.inner.destroyKeys(this.timed(span, destroy, 'otherwise'), (given, destroyed, isScrubbed) =>
        this.run(span, given, (tx) => then(tx, destroyed, isScrubbed)),
      ),
    );
  }

  override share<Input, Output>(act: SharedAct<Input, Output>, input: Input): Promise<Output> {
    return this.unit('write', (span) =>
      this.inner.share(this.carrying(act), { input, span, askedMs: performance.now() }),
    );
  }

  override shareAll<Input, Output>(
    act: SharedAct<Input, Output>,
    inputs: readonly Input[],
  ): Promise<PromiseSettledResult<Output>[]> {
    const askedMs = performance.now();
    return this.unit('write', (span) =>
      this.inner.shareAll(
        this.carrying(act),
        inputs.map((input) => ({ input, span, askedMs })),
      ),
    );
  }

  read<T>(work: Work<T>): Promise<T> {
    return this.unit('read', (span) => this.inner.read(this.timed(span, work, 'otherwise')));
  }

  override readAnywhere<T>(work: Work<T>): Promise<T> {
    return this.unit('read', (span) => this.inner.readAnywhere(this.timed(span, work, 'otherwise')));
  }

  snapshot<T>(work: Work<T>): Promise<T> {
    return this.unit('snapshot', (span) => this.inner.snapshot(this.timed(span, work, 'otherwise')));
  }

  async get<Row>(sql: string, ...values: readonly string[]): Promise<Row | undefined> {
    const parent = this.tracing.current;
    if (parent === undefined) return this.inner.get<Row>(sql, ...values);
    return this.statements.run(parent, 0, sql, () => this.inner.get<Row>(sql, ...values));
  }

  scrubKeys(): Promise<void> {
    return this.inner.scrubKeys();
  }

  vacuum(table: string, stopping: AbortSignal): Promise<string | undefined> {
    return this.inner.vacuum(table, stopping);
  }

  ping(): Promise<void> {
    return this.inner.ping();
  }

  private unit<T>(mode: Mode, run: (span: Span | undefined) => Promise<T>): Promise<T> {
    const parent = this.tracing.current;
    if (parent === undefined) return run(undefined);
    const attributes: Attributes = { 'lethe.unit.mode': mode, 'lethe.unit.engine': this.engine };
    const span = this.tracing.inside(parent, { name: `unit ${mode}`, attributes });
    return ended(span, run(span));
  }

  /** `work` with the time that it has waited for its turn or connection. A unit that collided has several runs. */
  private timed<T>(span: Span | undefined, work: Work<T>, ends: Ends = 'commit'): Work<T> {
    if (span === undefined) return (given) => this.run(span, given, work, ends);
    const askedMs = performance.now();
    let runs = 0;
    return (given) => {
      if (++runs === 1) span.setAttribute(WAIT, since(askedMs));
      else span.setAttribute('lethe.unit.runs', runs);
      return this.run(span, given, work, ends);
    };
  }

  /** One run of a unit as the work of `span`, whichever caller's turn has begun it. */
  private async run<T>(span: Span | undefined, given: Tx, work: Work<T>, ends: Ends = 'commit'): Promise<T> {
    const { tracing } = this;
    if (span === undefined) return tracing.within(undefined, () => work(given));
    const tx = new TracedTx(given, span, this.statements, (callback) => tracing.within(undefined, callback));
    if (ends === 'commit') given.afterCommit(() => this.commits.link(span));
    try {
      return await tracing.within(span, () => work(tx));
    } finally {
      tx.close();
      span.setAttribute('lethe.unit.statements', tx.statements);
    }
  }

  /** The act for inputs that carry the span of their caller. */
  private carrying<Input, Output>(act: SharedAct<Input, Output>): SharedAct<Carried<Input>, Output> {
    const known = this.acts.get(act) as SharedAct<Carried<Input>, Output> | undefined;
    if (known !== undefined) return known;
    const made: SharedAct<Carried<Input>, Output> = {
      fewest: act.fewest,
      alone: (tx, { input, span, askedMs }) => {
        span?.setAttribute(WAIT, since(askedMs));
        return this.run(span, tx, (own) => act.alone(own, input));
      },
      together: (tx, carried) => this.together(act, tx, carried),
    };
    this.acts.set(act, made);
    return made;
  }

  /**
   * Several callers share the statements, which are inside the trace of the first of them that is recorded; the others are
   * linked to them.
   */
  private async together<Input, Output>(
    act: SharedAct<Input, Output>,
    tx: Tx,
    carried: readonly Carried<Input>[],
  ): Promise<readonly (Output | undefined)[]> {
    const inputs = carried.map(({ input }) => input);
    for (const { span, askedMs } of carried) span?.setAttribute(WAIT, since(askedMs));
    const [first, ...others] = new Set(carried.flatMap(({ span }) => span ?? []));
    if (first === undefined) return act.together(tx, inputs);
    const attributes: Attributes = { 'lethe.unit.callers': inputs.length };
    const shared = this.tracing.inside(first, {
      name: 'unit shared',
      attributes,
      links: others.map(contextOf),
    });
    for (const span of others) span.addLink({ context: contextOf(shared) });
    return ended(
      shared,
      this.run(shared, tx, (own) => act.together(own, inputs)),
    );
  }
}

const contextOf = (span: Span) => span.spanContext();

const WAIT = 'lethe.unit.wait_ms';

function since(ms: number): number {
  return Math.round((performance.now() - ms) * 100) / 100;
}
