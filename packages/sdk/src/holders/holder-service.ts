import type { Lethe } from '../lethe';
import type { Answered, Task } from './answer';
import { HolderError } from './answer';
import type { Signer } from './statement';

/** The client of a bot, with any categories. */
export type HolderClient = Pick<Lethe, 'request' | 'bots' | 'users'>;

/** How a holder is declared. */
export interface Declared {
  readonly key: string;
  readonly label_de: string;
  readonly label_en: string;
  readonly covers: readonly string[];
  readonly public_key: string | null;
}

interface View extends Declared {
  readonly kind: string;
}

interface TaskPage {
  readonly tasks: readonly Task[];
  readonly pagination: { readonly next: string | null };
}

type Send = (route: string, given: object, options: object) => Promise<unknown>;

const PAGE = 100;

/** The part of the service that one holder speaks to. Every call ends with `signal`. */
export class HolderService {
  private readonly send: (route: string, given: object) => Promise<unknown>;
  private botId?: string;

  constructor(
    private readonly lethe: HolderClient,
    private readonly key: string,
    private readonly signal: AbortSignal,
    private readonly signer: Signer | undefined,
  ) {
    const request = lethe.request.bind(lethe) as unknown as Send;
    this.send = (route, given) => request(route, given, { signal });
  }

  /** Declares the holder, or changes what differs. @throws HolderError where the key may not */
  async declare(wanted: Declared): Promise<void> {
    const there = await this.declared();
    try {
      if (there === undefined) await this.send('POST /holders', { kind: 'pull', ...given(wanted) });
      else if (isOther(there, wanted)) await this.send('PUT /holders/{key}', wanted);
    } catch (error) {
      // Another process of the bot was faster.
      if (statusOf(error) === 409 && (await this.declared()) !== undefined) return;
      if (statusOf(error) !== 403) throw error;
      throw new HolderError(
        `The holder ${this.key} is ${there === undefined ? 'not declared' : 'declared otherwise'}, and the API key lacks ` +
          'the scope admin: start the bot once with a key that has it, or run lethe holders push.',
      );
    }
  }

  /** The tasks without a final answer, oldest first. */
  open(): AsyncGenerator<Task, void, undefined> {
    return this.tasks({});
  }

  /** All tasks from a time on, answered ones too. */
  since(time: string): AsyncGenerator<Task, void, undefined> {
    return this.tasks({ since: time });
  }

  async acknowledge({ task_id }: Task, answer: Answered): Promise<void> {
    const { key, signer } = this;
    const about = { holder: key, task_id, at: new Date().toISOString() };
    const statement =
      signer === undefined
        ? {}
        : { statement: signer.statement({ ...answer, ...about, bot_id: await this.ownId() }) };
    try {
      await this.send('POST /holders/{key}/tasks/{task_id}/acknowledge', {
        ...{ key, task_id, ...answer },
        ...statement,
      });
    } catch (error) {
      // Another process of the bot has answered, or the evidence of the erasure has ended.
      if (statusOf(error) === 404 || reasonOf(error) === 'task_answered') return;
      throw error;
    }
  }

  /** The guilds in which a consent of the user is in force. */
  async guildsOf(user_id: string): Promise<ReadonlySet<string>> {
    const guilds = new Set<string>();
    for await (const { guild_id } of this.lethe.users.list(
      { user_id, status: 'accepted' },
      { signal: this.signal },
    ))
      guilds.add(guild_id);
    return guilds;
  }

  private async declared(): Promise<View | undefined> {
    try {
      return (await this.send('GET /holders/{key}', { key: this.key })) as View;
    } catch (error) {
      if (statusOf(error) === 404) return undefined;
      throw error;
    }
  }

  private async *tasks(filter: object): AsyncGenerator<Task, void, undefined> {
    for (let after: string | null | undefined; after !== null;) {
      const place = { ...(after !== undefined && { after }), limit: PAGE };
      const page = (await this.send('GET /holders/{key}/tasks', {
        key: this.key,
        ...filter,
        ...place,
      })) as TaskPage;
      yield* page.tasks;
      after = page.pagination.next;
    }
  }

  private async ownId(): Promise<string> {
    this.botId ??= (await this.lethe.bots.me({}, { signal: this.signal })).id;
    return this.botId;
  }
}

/** The status of a refusal. Each entry of the package has a LetheError of its own, so that `instanceof` is of no use. */
export const statusOf = (error: unknown): unknown => (error as { status?: unknown } | undefined)?.status;
const reasonOf = (error: unknown): unknown => (error as { reason?: unknown } | undefined)?.reason;

/** A registration takes no null. */
const given = ({ public_key, ...rest }: Declared): object => ({
  ...rest,
  ...(public_key !== null && { public_key }),
});

const isOther = (there: View, wanted: Declared): boolean =>
  there.label_de !== wanted.label_de ||
  there.label_en !== wanted.label_en ||
  there.public_key !== wanted.public_key ||
  JSON.stringify([...there.covers].sort()) !== JSON.stringify([...wanted.covers].sort());
