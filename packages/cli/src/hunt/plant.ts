import { spawnSync } from 'node:child_process';
import { isIPv4 } from 'node:net';
import type { Lethe } from '@lethe/sdk';
import { refused } from '../failures';
import { many } from '../output';
import { PATIENT, type Session } from '../session';
import { canaryId, canaryWord, type Person, unusual, valuesOf } from './canaries';
import { changeState, createState, type HuntState, newState } from './hunt-state';

export interface PlantOptions {
  readonly guild?: string;
  readonly people: number;
  readonly state: string;
  readonly run?: string;
  readonly yes?: boolean;
}

const NEEDED = ['read', 'write', 'erase'] as const;
export const MESSAGE = 'a message';

/** Makes people in Lethe. The state is on disk before the first call that changes something. */
export async function plant(session: Session, options: PlantOptions): Promise<void> {
  const { output } = session;
  const lethe = session.client();
  const bot = await lethe.bots.me();
  await requireScopes(session, lethe);
  await requireStaging(session, bot.name, options.yes);
  const categories = await lethe.categories.list().toArray();
  const person = (): Person => ({
    user_id: canaryId(),
    canaries: [MESSAGE, ...categories.map(({ key }) => aboutOf(key))].map((about) => ({
      ...{ about, word: canaryWord() },
    })),
    requests: [],
  });
  const state = newState({
    ...{ url: session.url, bot_id: bot.id, guild_id: options.guild ?? canaryId() },
    ...{ planted_at: new Date().toISOString(), people: Array.from({ length: options.people }, person) },
  });
  createState(options.state, state);
  const left = await planted(lethe, state, categories).catch((error: unknown) => {
    output.note('Users may be planted in part: lethe hunt erase cleans up.');
    throw error;
  });
  changeState(options.state, { ...state, stage: 'planted' });
  for (const one of left) output.note(one);
  const shown = state.people.map(({ user_id, canaries: [message] }) => ({
    ...{ user_id, text: unusual(message?.word ?? '') },
  }));
  output.result(
    { state: options.state, guild_id: state.guild_id, people: shown, not_stored: left },
    `Planted ${many(shown.length, 'user')} in guild ${state.guild_id}, with ${many(categories.length, 'category', 'categories')} of values. ${options.state} remembers them.
${shown.map(({ user_id, text }) => `  ${user_id}  ${text}`).join('\n')}`,
  );
  if (options.run !== undefined) run(options.run, state, shown);
  output.note(
    `${options.run === undefined ? 'Let the bot meet these users now: messages with these texts, commands, whatever it stores.\n' : ''}Then: lethe hunt erase`,
  );
}

const aboutOf = (category: string): string => `a value of ${category}`;

type Category = Awaited<ReturnType<ReturnType<Lethe['categories']['list']>['toArray']>>[number];

/** Asks, accepts and submits; answers in words what was not stored. */
async function planted(lethe: Lethe, state: HuntState, categories: readonly Category[]): Promise<string[]> {
  const { guild_id } = state;
  const texts = await lethe.consents.texts().toArray();
  const latest = texts.toSorted((one, other) => one.created_at.localeCompare(other.created_at)).at(-1);
  const consent_version = latest?.consent_version ?? 'hunt';
  for (const { user_id } of state.people) {
    const who = { user_id, guild_id, consent_version };
    await lethe.consents.request(who, PATIENT);
    await lethe.consents.accept({ ...who, source: 'hunt' }, PATIENT);
  }
  const items = state.people.flatMap(({ user_id, canaries }) =>
    categories.map(({ key, fields }) => ({
      ...{ user_id, guild_id, category: key },
      data: valuesOf(fields, canaries.find(({ about }) => about === aboutOf(key))?.word ?? ''),
    })),
  );
  const left = new Map<string, string>();
  for await (const result of lethe.data.submitMany(items, PATIENT))
    if (!result.ok) left.set(result.item.category, result.error.message);
  return [...left].map(([category, why]) => `${category} was not stored: ${why}`);
}

/** @throws Failure that names the scopes that are missing */
async function requireScopes(session: Session, lethe: Lethe): Promise<void> {
  const keys = await lethe.keys.list().toArray();
  const own = keys.find(({ api_key_prefix: begin }) => session.key?.startsWith(begin));
  const lacking = NEEDED.filter((scope) => own?.scopes.includes(scope) === false);
  if (lacking.length === 0) return;
  throw refused(
    `The key lacks ${lacking.join(', ')}.`,
    `Nothing was planted. A hunt needs ${NEEDED.join(', ')}: lethe keys create --scopes ${NEEDED.join(',')} --save-as NAME.`,
  );
}

async function requireStaging({ url, output }: Session, name: string, yes = false): Promise<void> {
  const { hostname } = new URL(url);
  if (yes || isStaging(hostname)) return;
  output.note(
    `The bot ${name} at ${hostname} looks like production. Made-up users change its statistics and its audit log.`,
  );
  if ((await output.ask('Type the name of the host to plant them all the same: ', '--yes')) !== hostname)
    throw refused('That is another name.', 'Nothing was planted.');
}

/** Whether a service is on this machine or network, or its name says that it is a copy for tests. */
export function isStaging(hostname: string): boolean {
  if (process.env['NODE_ENV'] === 'production') return false;
  if (isIPv4(hostname)) return /^(127|10|192\.168|172\.(1[6-9]|2\d|3[01]))\./.test(hostname);
  if (/^\[(::1|f[cd].*)\]$/.test(hostname)) return true;
  return /(^|[.-])(staging|stage|test|testing|dev|preview|sandbox|local|internal|localhost)\d*([.-]|$)/.test(
    hostname,
  );
}

function run(command: string, state: HuntState, shown: readonly { user_id: string; text: string }[]): void {
  const { status, error } = spawnSync(command, {
    ...{ shell: true, stdio: ['ignore', 2, 2] },
    env: {
      ...process.env,
      LETHE_HUNT_IDS: shown.map(({ user_id }) => user_id).join(' '),
      LETHE_HUNT_TEXTS: JSON.stringify(shown.map(({ text }) => text)),
      LETHE_HUNT_GUILD: state.guild_id,
    },
  });
  if (status === 0) return;
  throw refused(
    `The command of --run ended with ${error?.message ?? status ?? 'a signal'}.`,
    'The users are planted. Let the bot meet them another way, or erase them with lethe hunt erase.',
  );
}
