import { readFileSync, rmSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Bot } from '../support/bot';
import { useBuild } from '../support/build';
import { ChildService } from '../support/child-service';
import { sqliteFile } from '../support/database';
import { isFull } from '../support/depth';
import { directoryOnDisk } from '../support/disk';
import { subject, type SubjectIds } from '../support/snowflakes';

jest.setTimeout(180_000);

/** The export is more than 60 MB long: a service that holds it in memory once exceeds the limit. */
const EVENTS = 100_000;
const GROWTH_MAX_MB = 45;
/** Another request waits for one piece of the export at most: the allowed delay beyond the slowest one before. */
const SLOWEST_MS = 400;

const build = useBuild();
const directory = directoryOnDisk();
const path = join(directory, 'lethe.db');
let service: ChildService;
let bot: Bot;
const who = subject();
/** A user with a fifth of the events: the heap of the young process grows with the first export, whatever its size. */
const warmUp = subject();

beforeAll(async () => {
  service = await new ChildService(build.directory, path).start();
  bot = await Bot.register(service.url);
  await bot.hasConsent(who);
  await hasEvents(who, EVENTS, 100);
  await bot.hasConsent(warmUp);
  await hasEvents(warmUp, EVENTS / 5, 2 * EVENTS);
  await readSlowly(
    await begun(
      `${service.url}/api/v1/data/export/${warmUp.user_id}?format=full&guild_id=${warmUp.guild_id}`,
    ),
  );
});
afterAll(async () => {
  await service.end('SIGTERM');
  rmSync(directory, { recursive: true });
});

function hasEvents(
  { user_id: user, guild_id: guild }: SubjectIds,
  count: number,
  behind: number,
): Promise<void> {
  return sqliteFile(path).run(
    `WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < ${count})
     INSERT INTO audit_events (bot_id, seq, id, guild_id, user_id, event_type, source, details, created_at)
     SELECT ?, n + ${behind}, printf('%08x-0000-7000-8000-000000000000', n) || '${'x'.repeat(420)}', ?, ?, 'data_exported', 'client', NULL,
       '2026-01-01T00:00:00.000Z' FROM n`,
    ...[bot.id, guild, user],
  );
}

/** The memory of the process in MB. */
function residentMb(): number {
  const [, kilobytes] = /RssAnon:\s+(\d+) kB/.exec(readFileSync(`/proc/${service.pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1024;
}

function begun(address: string): Promise<IncomingMessage> {
  const headers = { authorization: `Bearer ${bot.key}` };
  return new Promise((resolve, reject) => get(address, { headers }, resolve).on('error', reject));
}

/** The duration of a small request. */
async function statusMs(): Promise<number> {
  const askedMs = performance.now();
  await bot.status(subject());
  return performance.now() - askedMs;
}

/** Reads with pauses, and measures the service from outside meanwhile. */
async function readSlowly(
  answer: IncomingMessage,
): Promise<{ text: string; peakMb: number; slowestMs: number }> {
  const chunks: Buffer[] = [];
  let [peakMb, slowestMs, read] = [0, 0, 0];
  for await (const chunk of answer) {
    chunks.push(chunk as Buffer);
    const before = read;
    read += (chunk as Buffer).length;
    // One pause for each two megabytes; the rest at full speed, so that no pause of the reader hides one of the service.
    if (Math.floor(read / 2_097_152) === Math.floor(before / 2_097_152)) continue;
    slowestMs = Math.max(slowestMs, await statusMs());
    peakMb = Math.max(peakMb, residentMb());
    await pause(20);
  }
  return { text: Buffer.concat(chunks).toString(), peakMb, slowestMs };
}

(process.platform === 'linux' ? describe : describe.skip)('a full export of very many records', () => {
  const scopes: [string, string][] = [['all guilds', 'scope=all_guilds']];
  if (isFull) scopes.unshift(['one guild', `guild_id=${who.guild_id}`]);

  it.each(scopes)(
    'is complete, needs bounded memory and delays no other request, of %s',
    async (_, scope) => {
      let beforeMs = 0;
      for (let turn = 0; turn < 50; turn++) beforeMs = Math.max(beforeMs, await statusMs());
      const beforeMb = residentMb();
      const answer = await begun(`${service.url}/api/v1/data/export/${who.user_id}?format=full&${scope}`);
      const { text, peakMb, slowestMs } = await readSlowly(answer);
      expect(text.length).toBeGreaterThan(60_000_000);
      const { data } = JSON.parse(text) as { data: { guilds?: object[] } };
      const { audit_events: events } = (data.guilds?.[0] ?? data) as { audit_events: { source: string }[] };
      expect(events.filter(({ source }) => source === 'client')).toHaveLength(EVENTS);
      expect(peakMb - beforeMb).toBeLessThan(GROWTH_MAX_MB);
      expect(slowestMs - beforeMs).toBeLessThan(SLOWEST_MS);
    },
  );
});
