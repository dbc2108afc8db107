import { isDeepStrictEqual } from 'node:util';
import { ERRORS, type ErrorCode } from '@app/kernel';
import { type Answer, faultsOf } from '../../support/client';
import { engine } from '../../support/database';
import type { Service } from '../../support/service';
import { until } from '../../support/until';
import type { Operation } from './grammar';
import { type Asked, messageOf } from './requests';
import { differences } from './seen-again';
import { Tenant } from './tenant';
import { type Exchange, exchange } from '../../support/exchange';

/** Statuses of requests that are no HTTP, which are not in the table of errors. What is no HEAD has a body in its answer. */
const BEFORE_THE_ROUTES = [400, 408, 431];

/** The types of answers without the envelope. */
const DOCUMENTS = ['application/x-ndjson', 'text/markdown; charset=utf-8', 'text/html; charset=utf-8'];

/** When so many readings of the rows, 20 ms apart, are equal, no request of a cut connection is running. */
const EQUAL_READINGS = 25;
/** When no statement and no unit is found so often, 20 ms apart, a request of a cut connection is not between two of them. */
const IDLE_READINGS = 3;
/** The sessions that work, of the service and its jobs. On SQLite nothing outlasts the turn of its process. */
const WORKING = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()
  AND backend_type = 'client backend' AND state <> 'idle'`;

interface Sent {
  readonly exchanged: Exchange;
  readonly faults: string[];
}

/** Sends requests of a tenant and checks what holds for all of them. */
export class Play {
  private before: readonly string[] | undefined;
  /** Whether the last connection was cut. */
  private cut = false;

  private constructor(
    private readonly service: Service,
    readonly tenant: Tenant,
    private readonly answered: (operation: Operation, status: number) => void,
  ) {}

  static async begin(service: Service, answered: Play['answered'] = () => undefined): Promise<Play> {
    return new Play(service, await Tenant.begin(service), answered);
  }

  /** Sends one request. False when it has deleted the bot. @throws Error that names every broken promise */
  async ask(asked: Asked): Promise<boolean> {
    const { operation, method, target } = asked;
    const { bytes, body, complete } = messageOf(asked, this.tenant.fill);
    const name = `${operation.method} ${operation.template}`;
    const isUnchanged = method === operation.method && isOf(operation, target);
    const { exchanged, faults } = await this.send(bytes, complete, method === 'HEAD');
    const [answer] = exchanged.answers;
    if (complete && exchanged.answers.length !== 1) faults.push(`${exchanged.answers.length} answers`);
    if (answer !== undefined && isUnchanged) {
      this.answered(operation, answer.status);
      if (!operation.statuses.includes(answer.status) && answer.status !== 431)
        faults.push(`${name} does not declare ${answer.status}`);
      if (answer.status < 300) {
        const wrong = await differences(name, this.tenant, body, answer);
        if (Object.keys(wrong).length > 0) faults.push(`not seen again: ${JSON.stringify(wrong)}`);
        this.before = undefined;
      }
    }
    requireNone(faults, bytes);
    // Without an answer too the bot may be deleted.
    return (complete && method !== 'DELETE') || this.tenant.isServed();
  }

  /** Sends bytes that may be any number of requests. */
  async sendRaw(bytes: Buffer, complete: boolean): Promise<Exchange> {
    const { exchanged, faults } = await this.send(bytes, complete, false);
    requireNone(faults, bytes);
    return exchanged;
  }

  private async send(bytes: Buffer, complete: boolean, isHead: boolean): Promise<Sent> {
    const { service, tenant } = this;
    const before = (this.before ??= await tenant.state());
    const logged = service.logLines.length;
    const exchanged = await exchange(service.port, bytes, complete, isHead);
    if (!complete) await this.idle();
    const faults = exchanged.answers.flatMap((answer) => answerFaults(answer, isHead));
    if (!exchanged.closed) faults.push('the connection is not closed');
    if (exchanged.rest !== '') faults.push(`no answer: ${exchanged.rest.slice(0, 200)}`);
    const log = service.logLines.slice(logged).join('');
    faults.push(
      ...tenant.secrets.filter((secret) => log.includes(secret)).map((secret) => `the log has ${secret}`),
    );
    // The answer to what was no whole message can be lost with its connection, or be that of its end.
    const mayChange =
      exchanged.answers.length === 0 ||
      exchanged.answers.some((answer) => answer.status < 300 || (!complete && isOfItsEnd(answer)));
    this.before = mayChange ? undefined : await tenant.state();
    const changes = this.before === undefined ? [] : changed(before, this.before);
    const isAfterCut = this.cut;
    this.cut = !complete;
    if (changes.length === 0 || !isAfterCut) return { exchanged, faults: [...faults, ...changes] };
    // A request of the connection before, whose answer was lost, may have been running: this one is sent again.
    await this.settle();
    [this.before, this.cut] = [undefined, false];
    return this.send(bytes, complete, isHead);
  }

  /** Resolves when what a cut connection has begun is over: its request can outlast the next ones. */
  private async idle(): Promise<void> {
    if (engine === 'sqlite') return;
    let readings = 0;
    await until(async () => {
      readings = (await this.service.database.rows(WORKING)).length === 0 ? readings + 1 : 0;
      return readings >= IDLE_READINGS;
    });
  }

  private async settle(): Promise<void> {
    await this.idle();
    let state: readonly string[] = [];
    let equal = 0;
    await until(async () => {
      const next = await this.tenant.state();
      equal = isDeepStrictEqual(next, state) ? equal + 1 : 0;
      state = next;
      return equal >= EQUAL_READINGS;
    });
  }
}

/** Whether a target leads to this operation. */
function isOf({ template }: Operation, target: string): boolean {
  const pattern = template.replace(/\{\w+\}/g, '[\\w%.~-]+');
  return new RegExp(`^${pattern}(\\?.*)?$`).test(target);
}

/** The refusal of bytes that end too early, before any route: it says nothing about a request that is running. */
function isOfItsEnd(answer: Answer<unknown>): boolean {
  return answer.status === 400 && answer.text.includes('The request is not valid HTTP/1.1');
}

function answerFaults(answer: Answer<unknown>, isHead: boolean): string[] {
  const { status } = answer;
  const type = answer.header('content-type') ?? '';
  const faults = faultsOf(answer, {
    isHead,
    isCounted: BEFORE_THE_ROUTES.includes(status) || answer.header('x-ratelimit-limit') !== undefined,
    ...(status === 200 && DOCUMENTS.includes(type) && { document: type }),
  });
  if (isHead && answer.text !== '' && !BEFORE_THE_ROUTES.includes(status)) faults.push('a body of HEAD');
  if (status >= 500) faults.push(`${status} ${answer.text.slice(0, 300)}`);
  if (status < 400 || isHead || faults.length > 0) return faults;
  const { error } = answer.body as { error: { code: ErrorCode } };
  const expected = (ERRORS as Readonly<Record<string, { status: number } | undefined>>)[error.code]?.status;
  const isEarly = error.code === 'invalid_request' && BEFORE_THE_ROUTES.includes(status);
  if (expected !== status && !isEarly) faults.push(`${status} with the code ${error.code}`);
  return faults;
}

function changed(before: readonly string[], after: readonly string[]): string[] {
  const added = after.filter((line) => !before.includes(line));
  const removed = before.filter((line) => !after.includes(line));
  if (added.length + removed.length === 0 && before.length === after.length) return [];
  return [`a refused request has changed rows: ${JSON.stringify({ removed, added })}`];
}

/** @throws Error with the request and the faults */
function requireNone(faults: readonly string[], bytes: Buffer): void {
  if (faults.length === 0) return;
  throw new Error(`${faults.join('\n')}\n${JSON.stringify(bytes.toString('latin1').slice(0, 2_000))}`);
}
