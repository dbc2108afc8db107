import { randomInt, randomUUID } from 'node:crypto';
import {
  InsufficientScopeError,
  InvalidRequestError,
  type Lethe,
  LetheError,
  RateLimitedError,
  SuspendedError,
  UnauthorizedError,
  UnavailableError,
} from '@lethe/sdk';
import { failureOf, refused, wrongUsage } from '../failures';
import { scope } from '../output';
import { PATIENT, type Session } from '../session';
import { type Confirmation, FailedResult, type Given, GUILD, type Tool, type ToolCall, USER } from './tool';
import { type Summary, summaryOf } from './user-summary';

interface Prepared {
  readonly user_id: string;
  /** Every guild without it. */
  readonly guild_id?: string;
  readonly expiresMs: number;
  readonly preview: readonly Summary[];
  readonly hasMore: boolean;
}

const PREPARED_MAX = 16;
const PREPARED_MS = 5 * 60_000;
/** Without characters that are taken for others. */
const LETTERS = 'ACDEFGHJKLMNPQRTUVWXY34679';
const BOOLEAN = { type: 'boolean' } as const;
const TEXT = { type: 'string' } as const;

/**
 * The two steps of an erasure. The phrase that confirms it is made in the second step and shown by the client to its user alone:
 * no argument and no result has it, so that a model cannot give it. A preparation is for one try.
 */
export class Erasures {
  private readonly prepared = new Map<string, Prepared>();

  constructor(
    private readonly session: Session,
    private readonly now: () => number = Date.now,
  ) {}

  tools(): Tool[] {
    return [
      {
        name: 'prepare_erasure',
        description:
          'The first step of an erasure (GDPR Art. 17): answers what would be erased, and erases nothing. ' +
          'Give guild_id, or everywhere: true.',
        input: {
          ...{ user_id: USER, guild_id: GUILD },
          everywhere: { type: 'boolean', description: 'true for every guild of the bot' },
        },
        ...{ required: ['user_id'], output: { erased: BOOLEAN, user_id: TEXT, next_step: TEXT } },
        run: (given, call) => this.prepare(given, call),
      },
      {
        name: 'confirm_erasure',
        description:
          'The second step: the human at the client is asked to type a phrase, and only then the user is erased, for ever. ' +
          'Only erased: true means that it is done.',
        input: {
          erasure_id: { type: 'string', description: 'the erasure_id that prepare_erasure has answered' },
        },
        ...{ required: ['erasure_id'], output: { erased: BOOLEAN }, effect: 'erases' },
        run: (given, call) => this.confirm(String(given['erasure_id']), call),
      },
    ];
  }

  private async prepare(given: Given, { lethe, signal, canAsk }: ToolCall): Promise<object> {
    const { user_id, guild_id, everywhere } = given as {
      user_id: string;
      guild_id?: string;
      everywhere?: boolean;
    };
    if ((guild_id === undefined) === (everywhere !== true))
      throw wrongUsage('Where?', 'Give guild_id for one guild, or everywhere: true.');
    const where = { user_id, ...(guild_id !== undefined && { guild_id }) };
    const { guilds, next } = await summaryOf(lethe, where, undefined, signal);
    const preview = { ...where, would_be_erased: guilds, has_more_guilds: next !== null };
    if (!canAsk) return { erased: false, ...preview, ...this.byHand(where) };
    const erasure_id = randomUUID();
    const expiresMs = this.now() + PREPARED_MS;
    this.prepared.set(erasure_id, { ...where, expiresMs, preview: guilds, hasMore: next !== null });
    for (const oldest of this.prepared.keys())
      if (this.prepared.size > PREPARED_MAX) this.prepared.delete(oldest);
    return {
      ...{ erased: false, ...preview, erasure_id, expires_at: new Date(expiresMs).toISOString() },
      next_step:
        'Call confirm_erasure with this erasure_id: the human at the client is asked to type a phrase.',
    };
  }

  /** Where the client cannot ask its user: the command that asks. */
  private byHand({ user_id, guild_id }: Pick<Prepared, 'user_id' | 'guild_id'>): {
    command: string;
    next_step: string;
  } {
    const { url, envFile } = this.session;
    const place = guild_id === undefined ? '--everywhere' : `--guild ${guild_id}`;
    return {
      command: `lethe --url ${quoted(url)} --dotenv ${quoted(envFile)} forget ${user_id} ${place}`,
      next_step:
        'This client cannot ask its user, so nothing can be erased from here. A human runs the command at a terminal, ' +
        'where it asks for the id.',
    };
  }

  private async confirm(id: string, call: ToolCall): Promise<object> {
    const found = this.prepared.get(id);
    this.prepared.delete(id);
    if (found === undefined || found.expiresMs <= this.now())
      throw refused(
        'This erasure is not prepared, or was tried already, or its 5 minutes are over. Nothing was erased.',
        'Call prepare_erasure again.',
      );
    if (!call.canAsk) return { erased: false, ...this.byHand(found) };
    const phrase = `erase ${Array.from({ length: 6 }, () => LETTERS[randomInt(LETTERS.length)]).join('')}`;
    const answer = await call.confirm(questionOf(found, this.session.url, phrase), phrase);
    call.signal.throwIfAborted();
    if (answer !== 'confirmed')
      throw refused(`${SAID[answer]} Nothing was erased.`, 'Ask the human what to do.');
    return this.erase(found);
  }

  private async erase(prepared: Prepared): Promise<object> {
    const { user_id, guild_id } = prepared;
    let isLost = false;
    const lethe = this.session.client({
      // What the limiter refuses was not carried out. Any other attempt that is repeated may have been.
      onRetry: ({ error }) => (isLost ||= !(error instanceof RateLimitedError)),
    });
    const answered = await forgotten(lethe, prepared).catch((error: unknown) => {
      throw failedErasure(error, isLost, prepared, this.session.url);
    });
    if (!('requests' in answered)) return outcomeOf([answered], { user_id, guild_id, ...answered });
    return outcomeOf(answered.requests, { user_id, requests: answered.requests });
  }
}

const SAID: Readonly<Record<Exclude<Confirmation, 'confirmed'>, string>> = {
  declined: 'The human has declined.',
  'wrong phrase': 'The human has typed another phrase.',
  'no answer': 'The human has not answered.',
  busy: 'The human is asked about another erasure already.',
};

const quoted = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

const placeOf = ({ guild_id }: Pick<Prepared, 'guild_id'>): string =>
  guild_id === undefined ? 'in every guild of the bot' : `in ${scope(guild_id)}`;

/** Made of ids, keys of categories and numbers: no text of a user and none of the model is shown to the human as a reason. */
function questionOf(prepared: Prepared, url: string, phrase: string): string {
  const { preview, hasMore, user_id } = prepared;
  const guilds = preview.map(({ guild_id, status, stored, left_out }) => {
    const held = stored.map(({ category, bytes }) => `${category} (${bytes} bytes)`).join(', ');
    return `${scope(guild_id)}: consent ${status}; ${held || 'no values that can be read'}${left_out === null ? '' : '; and what cannot be read'}`;
  });
  return [
    `Everything about user ${user_id} ${placeOf(prepared)} is erased for ever at ${new URL(url).host}.`,
    ...(guilds.length === 0 ? ['Nothing is held now.'] : guilds),
    ...(hasMore ? ['And in further guilds.'] : []),
    `To confirm, type: ${phrase}`,
  ].join('\n');
}

/** Refusals of a request before it does anything. */
const REFUSALS = [
  ...[InvalidRequestError, UnauthorizedError, InsufficientScopeError],
  ...[SuspendedError, RateLimitedError],
];

const IN_ONE_GUILD = 'erasure_status with this request_id shows what became of it.';
const IN_FIRST_GUILD =
  'That is one guild alone, and the others may not have begun: once erasure_status says completed or failed, ' +
  'call prepare_erasure again.';

/** What is known after a failure: which guilds are done, that nothing was done, which guild is not finished, or nothing. */
function failedErasure(error: unknown, isLost: boolean, { user_id, guild_id }: Prepared, url: string): Error {
  const { message, mend } = failureOf(error, url);
  const requests = error instanceof LetheError ? error.details['requests'] : undefined;
  if (Array.isArray(requests) && requests.length > 0)
    return new FailedResult({
      ...{ erased: false, user_id, requests: requests as object[] },
      next_step:
        'The guilds in requests are done: keep each certificate_salt, which is not answered again. ' +
        'The others are not done: call prepare_erasure again.',
    });
  if (!isLost && REFUSALS.some((refusal) => error instanceof refusal))
    return refused(`${message} Nothing was erased.`, mend);
  // The service has answered what became of it.
  if (error instanceof UnavailableError && typeof error.details['request_id'] === 'string')
    return refused(message, guild_id === undefined ? IN_FIRST_GUILD : IN_ONE_GUILD);
  return refused(
    `${message} It is not known whether the user was erased.`,
    'user_summary shows what is held now, and audit_events the acts.',
  );
}

const forgotten = (lethe: Lethe, { user_id, guild_id }: Prepared) =>
  guild_id === undefined
    ? lethe.privacy.forgetEverywhere({ user_id }, PATIENT)
    : lethe.privacy.forget({ user_id, guild_id }, PATIENT);

/** `erased` only where the service says so of each guild. */
function outcomeOf(requests: readonly { readonly status: string }[], answer: object): object {
  if (requests.some(({ status }) => status === 'failed'))
    throw new FailedResult({
      erased: false,
      ...answer,
      next_step: 'An erasure has failed: ask the operator.',
    });
  const erased = requests.every(({ status }) => status === 'completed');
  return {
    erased,
    ...answer,
    ...(!erased && { next_step: 'Look with erasure_status until it is completed.' }),
  };
}
