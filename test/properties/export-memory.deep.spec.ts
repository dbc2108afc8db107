import { randomBytes } from 'node:crypto';
import { get, type IncomingMessage } from 'node:http';
import { detailsContext } from '@app/crypto';
import { Bot } from '../support/bot';
import { useBuild } from '../support/build';
import { ChildService } from '../support/child-service';
import { isFull } from '../support/depth';
import { digestsOf, encryptionKeyOf, keyringOf, secretOf, storedIds } from '../support/digests';
import { directoryOnDisk } from '../support/disk';
import { useOneInstallation } from '../support/installation';
import { subject, type SubjectIds } from '../support/snowflakes';
import { until } from '../support/until';

/** The export is more than 60 MB long, by the number of its events or by their length. */
const [EVENTS, LENGTH] = isFull ? [100_000, 420] : [20_000, 2_900];
/** Events of one statement; their numbers are multiples of it. */
const ROWS = 2_000;

const lethe = useOneInstallation({ build: useBuild(), makeDirectory: directoryOnDisk });
let service: ChildService;
let bot: Bot;
const who = subject();

beforeAll(async () => {
  // A small heap is cleared of garbage soon.
  service = await lethe.child({ NODE_OPTIONS: '--max-old-space-size=128' }).start();
  bot = await Bot.register(service.url);
  await bot.hasConsent(who);
  await countedAsSealed(3 * EVENTS);
  await hasEvents(who, EVENTS, 100);
});

/** Events up to this place are not sealed: the sealing of very many during an export would need memory too. */
async function countedAsSealed(last: number): Promise<void> {
  const { database } = lethe;
  const heads = () => database.rows('SELECT 1 FROM audit_heads WHERE bot_id = ?', bot.id);
  await until(async () => (await heads()).length > 0);
  await database.run('UPDATE audit_heads SET last_seq = ? WHERE bot_id = ?', last, bot.id);
}

/** Inserts events whose details the service can decrypt. */
async function hasEvents(of: SubjectIds, count: number, behind: number): Promise<void> {
  const { database } = lethe;
  const { guild_id: guild, user_id: user } = storedIds(
    await digestsOf(database, lethe.environment),
    bot.id,
    of,
  );
  const stored = { guild_id: guild, user_id: user };
  const key = encryptionKeyOf(
    await secretOf(database, keyringOf(database, lethe.environment), bot.id, stored),
  );
  const details = JSON.stringify({ text: 'x'.repeat(LENGTH) });
  for (let first = 1; first <= count; first += ROWS) {
    const values = Array.from({ length: ROWS }, (_, at) => {
      const id = `${(first + at).toString(16).padStart(8, '0')}-0000-7000-8000-${String(behind).padStart(12, '0')}`;
      const text = key.encrypt(details, detailsContext(bot.id, guild, user, id), randomBytes(12));
      return [bot.id, first + at + behind, id, guild, user, text];
    });
    const rows = values.map(
      () => `(?, ?, ?, ?, ?, 'data_exported', 'client', ?, '2026-01-01T00:00:00.000Z')`,
    );
    await database.run(
      `INSERT INTO audit_events (bot_id, seq, id, guild_id, user_id, event_type, source, details, created_at)
       VALUES ${rows.join(', ')}`,
      ...values.flat(),
    );
    // The connections to the service are kept alive.
    await new Promise(setImmediate);
  }
}

function begun(address: string): Promise<IncomingMessage> {
  const headers = { authorization: `Bearer ${bot.key}` };
  return new Promise((resolve, reject) => get(address, { headers }, resolve).on('error', reject));
}

/** Reads in parts; before each further one another request is answered. The number of these while the export is open. */
async function readInParts(answer: IncomingMessage): Promise<{ text: string; answered: number }> {
  const chunks: Buffer[] = [];
  let [answered, read] = [0, 0];
  for await (const chunk of answer) {
    chunks.push(chunk as Buffer);
    const before = read;
    read += (chunk as Buffer).length;
    if (Math.floor(read / 2_097_152) === Math.floor(before / 2_097_152)) continue;
    expect((await bot.status(subject())).status).toBe(200);
    if (!answer.complete) answered++;
  }
  return { text: Buffer.concat(chunks).toString(), answered };
}

describe('a full export of very many records', () => {
  const scopes: [string, string][] = [['all guilds', 'scope=all_guilds']];
  if (isFull) scopes.unshift(['one guild', `guild_id=${who.guild_id}`]);

  it.each(scopes)('is complete, and others are answered while it is open, of %s', async (_, scope) => {
    const answer = await begun(`${service.url}/api/v1/data/export/${who.user_id}?format=full&${scope}`);
    const { text, answered } = await readInParts(answer);
    expect(text.length).toBeGreaterThan(60_000_000);
    const { data } = JSON.parse(text) as { data: { guilds?: object[] } };
    const { audit_events: events } = (data.guilds?.[0] ?? data) as {
      audit_events: { source: string; details: object | null }[];
    };
    const posted = events.filter(({ source }) => source === 'client');
    expect(posted).toHaveLength(EVENTS);
    expect(posted.every(({ details }) => details !== null)).toBe(true);
    // The buffers of the connection hold less than half of it.
    expect(answered).toBeGreaterThan(10);
  });
});
