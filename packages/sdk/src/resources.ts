import { statuses, submitted, type SubmitItem, type Submitted } from './batches';
import type { Caller } from './caller';
import { Deadline } from './deadline';
import { requireNumber, TIMER_MAX_MS } from './numbers';
import type { Answer, Given, Id, Subject } from './routes';
import { linesOf, wholeText, withoutEnvelope } from './streams';
import type { CallOptions } from './transport';

// A method is one line: its name in the words of a bot developer, and the route that it calls.

export const botsOf = (call: Caller) => ({
  /** Registers a bot. The answer shows `api_key` and `webhook_secret` this once. */
  register: call.with('POST /bots/register'),
  /** The bot of the key, with the state of its webhook calls. */
  me: call.with('GET /bots/me'),
  get: (id: string, options?: CallOptions) => call.send('GET /bots/{bot_id}', { bot_id: id }, options),
  /** Changes what is given; null clears. */
  change: call.with('PUT /bots/{bot_id}'),
  /** Erases the bot with everything that is stored for it. The key is void at once. */
  delete: call.with('DELETE /bots/{bot_id}'),
  /** What the privacy notice says about the bot: controller, officer, recipients (GDPR Art. 13). */
  noticeSettings: call.with('GET /bots/{bot_id}/notice-settings'),
  /** Changes what is given; null clears. */
  changeNoticeSettings: call.with('PUT /bots/{bot_id}/notice-settings'),
  /** The record of processing activities (GDPR Art. 30). */
  processingRecord: call.with('GET /bots/{bot_id}/processing-record'),
  /** The same as a document for people: Markdown, or HTML to print. */
  processingRecordText: textOf(call, 'GET /bots/{bot_id}/processing-record'),
  /** What a platform asks before it grants privileged intents: storage, encryption, access, erasure on request. */
  reviewDossier: call.with('GET /bots/{bot_id}/review-dossier'),
  /** The same as a document for people: Markdown, or HTML to print. */
  reviewDossierText: textOf(call, 'GET /bots/{bot_id}/review-dossier'),
});

/** A paper about the bot as a document. */
const textOf =
  (call: Caller, route: 'GET /bots/{bot_id}/processing-record' | 'GET /bots/{bot_id}/review-dossier') =>
  async (
    given: { readonly format?: 'markdown' | 'html'; readonly language?: 'de' | 'en' } = {},
    options?: CallOptions,
  ): Promise<string> => {
    const asked = { format: 'markdown', ...given };
    return wholeText(await call.begun(route, asked, options));
  };

export const keysOf = (call: Caller) => ({
  list: call.list('GET /bots/{bot_id}/keys', 'keys'),
  /** Makes a further API key, shown this once. */
  create: call.with('POST /bots/{bot_id}/keys'),
  /** Replaces the key of this client; both work until `overlap_until`. */
  rotate: call.with('POST /bots/{bot_id}/keys/rotate'),
  delete: call.at('DELETE /bots/{bot_id}/keys/{key_id}', 'key_id'),
});

export const serversOf = (call: Caller) => ({
  register: call.with('POST /servers/register'),
  list: call.list('GET /servers', 'servers'),
  /** Erases every user of a guild, at once or after `grace_days`. */
  delete: call.with('DELETE /servers/{guild_id}'),
  cancelDeletion: call.with('POST /servers/{guild_id}/cancel-deletion'),
});

export const usersOf = (call: Caller) => ({
  /** The users about whom anything is held, one item for each user and guild. Pages have no totals and no numbers. */
  list: call.walk('GET /users', 'users'),
});

export const categoriesOf = (call: Caller) => ({
  /** Declares what the bot stores, with a type and labels for each field. */
  register: call.with('POST /data/register'),
  list: call.list('GET /data/categories', 'categories'),
  get: call.at('GET /data/categories/{key}', 'key'),
  change: call.with('PUT /data/categories/{key}'),
  /** Deletes the declaration with all values of the category. */
  delete: call.at('DELETE /data/categories/{key}', 'key'),
});

export const consentsOf = (call: Caller) => ({
  /** Records that the user is asked. Show your text, or `texts` of the answer. */
  request: call.with('POST /consents/request'),
  /** Records the yes. `receipt` of the answer is for the user. */
  accept: call.with('POST /consents/accept'),
  /** Records the no. All is as before the request. */
  decline: call.with('POST /consents/decline'),
  /** Withdraws the consent, or the one to some categories. */
  revoke: call.with('POST /consents/revoke'),
  status: call.with('GET /consents/status'),
  /** The states of any number of subjects, in their order. */
  statusMany: (subjects: Iterable<Subject> | AsyncIterable<Subject>, options?: CallOptions) =>
    statuses(call, subjects, options),
  history: call.list('GET /consents/history', 'entries'),
  /** The signed receipt of the consent in force. */
  receipt: call.with('GET /consents/receipt'),
  /** Registers the words that users are shown. */
  registerText: call.with('POST /consents/texts'),
  texts: call.list('GET /consents/texts', 'texts'),
  /** The words that a user was shown, by their digest in the history. */
  words: call.at('GET /consents/texts/{digest}', 'digest'),
});

type SubmitData = Omit<Given<'POST /data/submit'>, 'mode'>;
type OfGuild = Subject & { readonly format?: 'full' };
type OfUser = { readonly user_id: Id; readonly format?: 'full' };
type Exported = Answer<'GET /data/export/{user_id}'>;

export const dataOf = (call: Caller) => ({
  /**
   * Replaces the values of a category: a field that is not given is removed.
   * @throws ConsentRequiredError without a consent to the category, ProcessingRefusedError after an objection or restriction;
   * then nothing is stored
   */
  submit: (given: SubmitData, options?: CallOptions) =>
    call.send('POST /data/submit', { ...given, mode: 'replace' }, options),
  /** Changes only the fields that are given; null removes one. */
  merge: (given: SubmitData, options?: CallOptions) =>
    call.send('POST /data/submit', { ...given, mode: 'merge' }, options),
  /** Stores any number of items, in batches. Each is answered by itself: `for await (const { ok, item } of …)`. */
  submitMany: (
    items: Iterable<SubmitItem> | AsyncIterable<SubmitItem>,
    options?: CallOptions,
  ): AsyncGenerator<Submitted, void, undefined> => submitted(call, items, options),
  /** What is stored about a user, by category, under the consent in force. */
  values: call.with('GET /data/values/{user_id}'),
  /** One category of all users of a guild whose consent covers it. */
  valuesOfGuild: call.list('GET /data/values', 'values'),
  /** Erases one category of a user. */
  eraseValues: call.with('DELETE /data/values/{user_id}'),
  /** The user objects to a category, or to all that can be objected to (GDPR Art. 21): it is erased, and submits are refused. */
  object: call.with('POST /data/object'),
  /** The user restricts a category, or everything (GDPR Art. 18): it is kept, and submits and reads are refused. */
  restrict: call.with('POST /data/restrict'),
  /** The user ends the restriction of a category, or every one. */
  unrestrict: call.with('POST /data/unrestrict'),
  /** What the user has objected to or restricted. */
  refusals: call.with('GET /data/refusals/{user_id}'),
  /** Everything about a user in one guild (GDPR Art. 15 and 20). */
  export: (given: OfGuild, options?: CallOptions) =>
    call.send('GET /data/export/{user_id}', given, options) as Promise<Exclude<Exported, AllGuilds>>,
  /** Everything about a user in every guild of the bot. */
  exportEverywhere: (given: OfUser, options?: CallOptions) =>
    call.send('GET /data/export/{user_id}', everywhere(given), options) as Promise<AllGuilds>,
  /** The same JSON as it arrives, for a file: without `guild_id` of every guild. */
  exportStream: async (
    given: OfGuild | OfUser,
    options?: CallOptions,
  ): Promise<ReadableStream<Uint8Array>> => {
    const query = 'guild_id' in given ? given : everywhere(given);
    return withoutEnvelope(await call.begun('GET /data/export/{user_id}', query, options));
  },
});

type AllGuilds = Extract<Exported, { readonly guilds: unknown }>;
type Forgotten = Answer<'POST /gdpr/forget-user'>;
const everywhere = (given: OfUser) => ({ ...given, scope: 'all_guilds' as const });

/** The first pause between two looks at an erasure. It grows, so that a bot of the smallest limit has room for its other calls. */
const LOOK_MS = 1_000;
const LOOK_MAX_MS = 3_000;
const WAIT_MAX_MS = 300_000;

export const privacyOf = (call: Caller) => ({
  /** Erases a user in one guild. Keep `certificate_salt`: it ties the certificate to the user. */
  forget: (given: Subject, options?: CallOptions) =>
    call.send('POST /gdpr/forget-user', given, options) as Promise<
      Exclude<Forgotten, { readonly scope: unknown }>
    >,
  /** Erases a user in every guild of the bot. */
  forgetEverywhere: (given: { readonly user_id: Id }, options?: CallOptions) =>
    call.send('POST /gdpr/forget-user', everywhere(given), options) as Promise<
      Extract<Forgotten, { readonly scope: unknown }>
    >,
  /** A link to the page on which the user sees, exports and erases what is stored. Give it to this user alone. */
  link: call.with('POST /privacy-links'),
  /** Ends a link before its time. */
  endLink: call.at('DELETE /privacy-links/{id}', 'id'),
  status: call.at('GET /gdpr/forget-status/{id}', 'id'),
  /** The signed certificate of a completed erasure, for `verifyCertificate` of `@lethe/sdk/evidence`. */
  certificate: call.at('GET /gdpr/forget-status/{id}/certificate', 'id'),
  /** The signed final certificate once every holder has answered, for `verifyFinalCertificate` of `@lethe/sdk/evidence`. */
  finalCertificate: call.at('GET /gdpr/forget-status/{id}/final-certificate', 'id'),
  /** The erasure once it is completed or failed; 5 minutes at most by default. */
  waitFor: async (id: string, { timeoutMs = WAIT_MAX_MS, ...options }: CallOptions = {}) => {
    requireNumber('timeoutMs', timeoutMs, 0, TIMER_MAX_MS - LOOK_MS);
    const deadline = new Deadline(timeoutMs, options.signal);
    try {
      for (let pauseMs = LOOK_MS; ; pauseMs = Math.min(LOOK_MAX_MS, pauseMs + LOOK_MS)) {
        const left = {
          ...options,
          signal: deadline.signal,
          timeoutMs: Math.max(1, deadline.leftMs + LOOK_MS),
        };
        const found = await call.send('GET /gdpr/forget-status/{id}', { id }, left);
        if (found.status !== 'processing') return found;
        await deadline.sleep(pauseMs);
      }
    } finally {
      deadline.end();
    }
  },
});

export const holdersOf = (call: Caller) => ({
  /** Registers a store of your bot. From then on every erasure makes a task for it. */
  register: call.with('POST /holders'),
  list: call.list('GET /holders', 'holders'),
  get: call.at('GET /holders/{key}', 'key'),
  /** Changes what is given; null clears `public_key`. */
  change: call.with('PUT /holders/{key}'),
  /** Deletes a holder without open tasks; with `abandon` it gives them up. */
  delete: call.with('DELETE /holders/{key}'),
  /** The open tasks, oldest first; with `since` those that were answered since follow. Pages have no totals and no numbers. */
  tasks: call.walk('GET /holders/{key}/tasks', 'tasks'),
  /** Answers a task once your store is clear of the user. */
  acknowledge: call.with('POST /holders/{key}/tasks/{task_id}/acknowledge'),
});

export const auditOf = (call: Caller) => ({
  /** Writes an event of your own beside those of the service. */
  write: call.with('POST /audit/event'),
  /** The events, newest first. */
  events: call.list('GET /audit/events', 'events'),
  /** An event with its path to a signed checkpoint, for `verifyAuditProof`. */
  proof: call.at('GET /audit/proof/{event_id}', 'event_id'),
  checkpoints: call.list('GET /audit/checkpoints', 'checkpoints'),
  /** The sealed log line by line, for `verifyAuditExport`. */
  export: async function* (given: Given<'GET /audit/export'> = {}, options?: CallOptions) {
    yield* linesOf(await call.begun('GET /audit/export', given, options));
  },
  /** Who and what was affected in a period (GDPR Art. 33). */
  breachScope: call.with('GET /audit/breach-scope'),
});

export const statsOf = (call: Caller) => call.with('GET /stats');

export const webhooksOf = (call: Caller) => ({
  /** Sends a signed `ping` to the receiver. */
  test: call.with('POST /webhooks/test'),
  deliveries: call.list('GET /webhooks/deliveries', 'deliveries'),
  /** One delivery with its attempts. */
  delivery: call.at('GET /webhooks/deliveries/{id}', 'id'),
  redeliver: call.at('POST /webhooks/deliveries/{id}/redeliver', 'id'),
  /** Sends every event since a time again, after you have restored a backup of your bot. */
  replay: call.with('POST /webhooks/replay'),
  /** Makes a new webhook secret, shown this once. Give both to `createWebhookHandler` until `overlap_until`. */
  rotateSecret: call.with('POST /bots/{bot_id}/webhook-secret/rotate'),
});
