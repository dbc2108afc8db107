import { statSync } from 'node:fs';
import { InsufficientScopeError, type Lethe, type Schemas } from '@lethe/sdk';
import { outcomeOfCall, whatBecameOf } from './call-outcome';
import { inOneLanguage } from './declarations';
import { isIgnored } from './env-file';
import { failureOf } from './failures';
import { forward, isConfirmed } from './forward';
import type { Session } from './session';

/** The result of one check: whether it is good, and what to do if not. With both it is a warning. */
export interface Check {
  readonly name: string;
  /** null where it could not be checked. */
  readonly ok: boolean | null;
  readonly message: string;
  readonly mend: string;
}

type Bot = Schemas['BotView'];
/** What a check found; a mend makes it a fault or a warning. A text says why it could not be made. */
type Found = readonly [message: string, mend?: string, isWarning?: 'warning'] | string;

const SKEW_MAX_MS = 30_000;
const LANGUAGES = ['de', 'en'];

const OUTCOMES: Readonly<Record<string, string>> = {
  refused:
    'The receiver refuses the call. Does it have the webhook secret of this bot, or its public keys, and verify the raw body?',
  redirected: 'A redirect is no confirmation: set the final address as webhook_url.',
  gone: 'The receiver answers 410, which ends each delivery: does the route still exist?',
  timed_out: 'Answer within 10 seconds: confirm first, then do the work.',
  not_connected_in_time: 'Does the host answer, and does a firewall let the service through?',
  connection_failed: 'Is the bot started, and is the port of webhook_url right?',
  tls_failed: 'Renew or complete the certificate of the host (with its chain).',
  name_not_found: 'Is the host name of webhook_url right?',
  blocked_address:
    'The service calls no private address: use a public one, or WEBHOOK_ALLOW_PRIVATE_NETWORKS.',
};

/** The checks of lethe doctor, in an order in which each rests on the ones before it. */
export async function* checks(session: Session): AsyncGenerator<Check, void, undefined> {
  yield check('settings', settings(session));
  const anyone = session.anonymous();
  const reached = await outcomeOf(session, async () => {
    await anyone.publicKeys();
    return [`${session.url} answers`];
  });
  yield check('service', reached);
  if (isFault(reached)) return;
  yield check('clock', clock(session));
  if (session.key === undefined) return;
  const lethe = session.client();
  let bot: Bot | undefined;
  const known = await outcomeOf(session, async () => {
    bot = await lethe.bots.me();
    return [`LETHE_KEY is a key of ${bot.name}`];
  });
  yield check('key', known);
  if (bot === undefined) return;
  const { webhook_url: url } = bot;
  yield check('scopes', await outcomeOf(session, () => scopes(session, lethe)));
  const called = await outcomeOf(session, () => webhook(lethe, url));
  yield check('webhook', called);
  yield check('signature', await outcomeOf(session, () => signature(session, url, called)));
  yield check('purposes', await outcomeOf(session, () => purposes(lethe)));
  yield check('texts', await outcomeOf(session, () => texts(lethe)));
}

function check(name: string, found: Found): Check {
  if (typeof found === 'string')
    return { name, ok: null, message: `could not be checked: ${found}`, mend: '' };
  const [message, mend = ''] = found;
  return { name, ok: !isFault(found), message, mend };
}

const isFault = (found: Found): boolean =>
  typeof found !== 'string' && found[1] !== undefined && found[2] === undefined;

/** A call that fails is a fault, with what mends it. */
async function outcomeOf({ url }: Session, run: () => Promise<Found>): Promise<Found> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof InsufficientScopeError) return `the key lacks the scope ${error.required}`;
    const { message, mend } = failureOf(error, url);
    return [message, mend || 'See lethe --help.'];
  }
}

function settings(session: Session): Found {
  const { envFile } = session;
  if (session.key === undefined)
    return [
      session.missingKey,
      'Register the bot with lethe init, or set the key in .env or the environment.',
    ];
  const file = statSync(envFile, { throwIfNoEntry: false });
  if (file === undefined) return ['from the environment'];
  if (process.platform !== 'win32' && (file.mode & 0o077) !== 0)
    return [`other users of the machine can read ${envFile}`, `chmod 600 ${envFile}`];
  if (isIgnored(envFile) === false)
    return [`git does not ignore ${envFile}`, 'Add it to .gitignore, before the key is committed.'];
  return [`from ${envFile}`];
}

function clock({ clock: seen }: Session): Found {
  if (seen === undefined) return 'the service names no time';
  const offMs = Math.abs(seen.hereMs - seen.serviceMs);
  const seconds = Math.round(offMs / 1000);
  return offMs <= SKEW_MAX_MS
    ? ['differs by less than 30 seconds from that of the service']
    : [
        `this machine and the service differ by ${seconds} seconds`,
        'Switch time synchronisation on (NTP): from 300 seconds on receivers refuse every call.',
      ];
}

async function scopes(session: Session, lethe: Lethe): Promise<Found> {
  const own = (await lethe.keys.list().toArray()).find(({ api_key_prefix: begin }) =>
    session.key?.startsWith(begin),
  );
  if (own === undefined) return 'no key of the bot begins like LETHE_KEY';
  const lacking = (['read', 'write', 'erase'] as const).filter((scope) => !own.scopes.includes(scope));
  if (lacking.length > 0)
    return [
      `the key lacks ${lacking.join(', ')}`,
      'A bot needs read, write and erase: lethe keys create --scopes read,write,erase --save-as NAME.',
    ];
  return [own.scopes.join(', ')];
}

async function webhook(lethe: Lethe, url: string | null): Promise<Found> {
  if (url === null) return withoutWebhook(lethe);
  const { id } = await lethe.webhooks.test();
  const ping = await outcomeOfCall(lethe, id, 0);
  if (ping.status === 'delivered') return [`${url} confirms the calls of the service`];
  return [
    `${url} does not confirm a ping (${whatBecameOf(ping, 0)})`,
    OUTCOMES[ping.last_outcome ?? ''] ?? `lethe deliveries ${id} shows its attempts.`,
  ];
}

/** A holder that asks for its tasks learns of erasures without a call, and of no withdrawal. */
async function withoutWebhook(lethe: Lethe): Promise<Found> {
  const mend = 'On a laptop use lethe listen; in production lethe bot set --webhook-url URL.';
  const asking = (await lethe.holders.list().toArray()).filter(({ kind }) => kind === 'pull');
  if (asking.length === 0) return ['the bot has no webhook_url, so it learns of no erasure', mend];
  const keys = asking.map(({ key }) => key).join(', ');
  return [
    `the bot has no webhook_url: it learns of no withdrawal; its holders (${keys}) learn of erasures while they run`,
    mend,
    'warning',
  ];
}

/** Makes one call with a wrong signature and one with the right one, straight from here. */
async function signature(session: Session, url: string | null, called: Found): Promise<Found> {
  if (url === null) return 'the bot has no webhook URL';
  const event = { event: 'ping', sent_at: new Date().toISOString() } as const;
  const forged = await forward(url, `whsec_${Buffer.alloc(32, 'forged').toString('base64')}`, event);
  if (forged.status === null) return `${url} is not reached from this machine`;
  if (isConfirmed(forged))
    return [
      `${url} confirms a call with a wrong signature`,
      'Verify each call (createWebhookHandler of @lethe/sdk): otherwise everybody can make your bot delete data.',
    ];
  if (!session.hasSecret) return 'LETHE_WEBHOOK_SECRET is missing';
  const signed = await forward(url, session.secret, event);
  if (isConfirmed(signed))
    return ['the receiver takes calls of LETHE_WEBHOOK_SECRET and refuses forged ones'];
  const refusal = `the receiver refuses a call that is signed with LETHE_WEBHOOK_SECRET (${signed.status ?? signed.answer})`;
  if (typeof called !== 'string' && called[1] === undefined)
    return [
      `${refusal}, and confirms those of the service`,
      'With public keys that is right: no call from here has their signature. Else this .env has another secret.',
      'warning',
    ];
  return [
    refusal,
    'Give the receiver the same secret as this .env, and the body as it arrived, before any JSON parser.',
  ];
}

async function purposes(lethe: Lethe): Promise<Found> {
  const categories = await lethe.categories.list().toArray();
  const partial = inOneLanguage({ categories });
  if (partial.length === 0) return ['no purpose is in one language only'];
  return [
    `not in both German and English: ${partial.join(', ')}`,
    'Write description_de and description_en into lethe.yaml, then lethe categories push.',
    'warning',
  ];
}

async function texts(lethe: Lethe): Promise<Found> {
  const categories = (await lethe.categories.list().toArray()).filter((one) => one.legal_basis === 'consent');
  if (categories.length === 0)
    return ['no category rests on a consent', 'Declare what the bot stores: lethe categories push.'];
  const all = await lethe.consents.texts().toArray();
  const latest = all.toSorted((one, other) => one.created_at.localeCompare(other.created_at)).at(-1);
  if (latest === undefined)
    return [
      'no text is registered, so users are asked in words that are made from the declarations',
      'For words of your own write texts into lethe.yaml, then lethe categories push.',
      'warning',
    ];
  const version = latest.consent_version;
  const own = all.filter((one) => one.consent_version === version);
  const languages = own.map(({ language }) => language);
  const missing = LANGUAGES.filter((one) => !languages.includes(one)).map((one) => `no text in ${one}`);
  const unexplained = own.flatMap(({ language, categories: named }) =>
    categories
      .filter(({ key }) => !named.some((one) => one.key === key))
      .map(({ key }) => `the text in ${language} does not explain ${key}`),
  );
  const faults = [...missing, ...unexplained];
  if (faults.length === 0) return [`version ${version} explains every category in ${languages.join(', ')}`];
  return [
    `version ${version}: ${faults.join('; ')}`,
    `Complete the texts in lethe.yaml under ${unexplained.length === 0 ? 'the same' : 'a new'} consent_version.`,
  ];
}
