import { rmSync } from 'node:fs';
import type { AuditProof, KeySet } from '@lethe/sdk/evidence';
import { Bot } from '../bot';
import type { Json } from '../client';
import type { TestDatabase } from '../database';
import { exported, withoutSealing } from '../sealing';
import { Service } from '../service';
import type { SubjectIds } from '../snowflakes';
import { guild } from './content';
import { FIXTURE_MASTER_KEY } from './fixture';
import type { KeptAnswer, KeptBot } from './manifest';

/** The settings under which a fixture is made, and opened again. */
export const FIXTURE_SETTINGS = { LETHE_MASTER_KEY: FIXTURE_MASTER_KEY, WEBHOOK_RETRY_SCHEDULE: '1h' };

/** The times that differ with every answer, or after a run of a job. */
const MOVING = /"(exported_?at|generated_at|last_used_at|unrecoverable_at)":("[^"]*"|null)/gi;

/**
 * Runs `work` on a service of the present code, in which it is `at` and time continues from there: nothing has expired since
 * the fixture was made. Only the caller seals.
 */
export async function opened<T>(
  database: TestDatabase,
  at: string,
  work: (service: Service) => Promise<T>,
): Promise<T> {
  const now = Date.now.bind(Date);
  const backMs = now() - Date.parse(at);
  const clock = jest.spyOn(Date, 'now').mockImplementation(() => now() - backMs);
  const service = new Service({ ...FIXTURE_SETTINGS, DATABASE_URL: database.url }, database);
  try {
    await service.start();
    await withoutSealing(service);
    return await work(service);
  } finally {
    await service.app?.close();
    clock.mockRestore();
    rmSync(service.directory, { recursive: true, force: true });
  }
}

/** The answer of each GET about a bot; exports write events, so they come last. */
export async function answersOf(bot: Bot, paths: readonly string[]): Promise<KeptAnswer[]> {
  const found: KeptAnswer[] = [];
  for (const path of paths) {
    const { status, text } = await bot.get(path);
    found.push({ path, status, body: JSON.parse(text.replace(MOVING, '"$1":""')) as Json });
  }
  return found;
}

export function pathsOf({ id }: Bot, subjects: readonly SubjectIds[], requests: readonly string[]): string[] {
  const lists = [
    '/servers',
    '/data/categories',
    '/consents/texts',
    '/webhooks/deliveries',
    `/bots/${id}/keys`,
  ];
  const about = subjects.map(({ user_id, guild_id }) => `user_id=${user_id}&guild_id=${guild_id}`);
  return [
    ...[
      '/bots/me',
      `/bots/${id}`,
      '/stats?bucket=day',
      '/audit/checkpoints',
      `/bots/${id}/processing-record`,
    ],
    ...lists.map((list) => `${list}?page_size=100`),
    '/audit/events?page_size=100',
    ...[0, 1, 2].map((index) => `/data/values?guild_id=${guild(index)}&category=profile`),
    ...requests.map((request) => `/gdpr/forget-status/${request}`),
    ...about.flatMap((query) => [
      `/consents/status?${query}`,
      `/consents/history?${query}`,
      `/audit/events?${query}&page_size=100`,
    ]),
    ...subjects.flatMap(({ user_id, guild_id }) =>
      ['&format=full', ''].map((more) => `/data/export/${user_id}?guild_id=${guild_id}${more}`),
    ),
  ];
}

/** The public keys that a service publishes. */
export async function keySetOf({ url }: Service): Promise<KeySet> {
  return (await (await fetch(`${url}/.well-known/lethe-keys.json`)).json()) as KeySet;
}

/** A bot of a fixture with the service that has opened it. */
export function botOf({ registered }: KeptBot, { url }: Service): Bot {
  return new Bot(url, registered);
}

/** The events of an exported audit log, by their ids. */
export async function eventIdsOf(bot: Bot): Promise<string[]> {
  const lines = (await exported(bot)).map((line) => JSON.parse(line) as { type?: string; id?: string });
  return lines.flatMap(({ type, id }) => (type === 'event' && id !== undefined ? [id] : []));
}

export async function proofOf(bot: Bot, event: string): Promise<AuditProof> {
  return (await bot.get<AuditProof & Json>(`/audit/proof/${event}`)).data;
}
