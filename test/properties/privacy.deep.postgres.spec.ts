import { randomBytes } from 'node:crypto';
import { useMarked } from '../support/marked';
import { useReceiver } from '../support/receiver';
import { useServiceInProcess } from '../support/service';
import { subject } from '../support/snowflakes';
import { filesWith, tracesOf } from '../support/traces';

const service = useServiceInProcess();
const receiver = useReceiver();
const marked = useMarked(service);

/** Every table and column of the database, in any schema, that holds the marker. */
async function placesWithMarker(): Promise<string[]> {
  const columns = await service.database.rows<{ name: string; table: string; column: string }>(
    `SELECT n.nspname || '.' || c.relname || '.' || a.attname AS name,
       quote_ident(n.nspname) || '.' || quote_ident(c.relname) AS table, quote_ident(a.attname) AS column
     FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relkind IN ('r', 'm') AND a.attnum > 0 AND NOT a.attisdropped
       AND n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg_toast%'`,
  );
  expect(columns.length).toBeGreaterThan(100);
  const looks = columns.map(
    ({ name, table, column }) =>
      `SELECT '${name}' AS name FROM ${table} WHERE strpos(${column}::text, '${marked.marker}') > 0`,
  );
  const found = await service.database.rows<{ name: string }>(looks.join(' UNION '));
  return found.map(({ name }) => name.replace(/_p\d\d\./, '.')).sort();
}

describe('the tables of the database', () => {
  it('hold the marker where it is nothing about a user, which shows that it would be found', async () => {
    await marked.bot.put(`/bots/${marked.bot.id}`, { name: marked.marker });
    expect(await placesWithMarker()).toStrictEqual(['public.bots.name']);
  });

  it('hold values and details in no plain text, neither before an erasure nor after it', async () => {
    await marked.stores(marked.who);
    await marked.bot.hasData(marked.who, 'profile', { value: `${marked.marker} `.repeat(1500) });
    expect(await placesWithMarker()).toStrictEqual([]);
    await marked.bot.hasForgotten(marked.who);
    expect(await placesWithMarker()).toStrictEqual([]);
  });

  it('hold nothing that the key of an erased subject had sealed but the details of events, and not the key', async () => {
    await marked.stores(marked.who);
    const [stored] = await service.database.rows<{ id: string }>(
      'SELECT key_id AS id FROM subjects WHERE bot_id = ?',
      marked.bot.id,
    );
    const ofKey = () =>
      service.database.rows('SELECT 1 FROM keys.subject_keys WHERE id = ?', stored?.id ?? null);
    marked.marker = `s2.${stored?.id}.`;
    expect(await placesWithMarker()).toStrictEqual(['public.audit_events.details', 'public.user_data.value']);
    expect(await ofKey()).toHaveLength(1);
    await marked.bot.hasForgotten(marked.who);
    expect(await placesWithMarker()).toStrictEqual(['public.audit_events.details']);
    expect(await ofKey()).toStrictEqual([]);
    await marked.bot.delete(`/bots/${marked.bot.id}`);
    expect(await placesWithMarker()).toStrictEqual([]);
  });

  it('hold nothing after the server was deleted', async () => {
    await marked.bot.post('/servers/register', { guild_id: marked.who.guild_id, name: marked.marker });
    await marked.stores(marked.who);
    await marked.bot.delete(`/servers/${marked.who.guild_id}`);
    expect(await placesWithMarker()).toStrictEqual([]);
  });

  it('hold nothing of a category that was deleted', async () => {
    await marked.bot.hasConsent(marked.who);
    await marked.bot.hasData(marked.who, 'profile', { value: marked.marker });
    await marked.bot.delete('/data/categories/profile');
    expect(await placesWithMarker()).toStrictEqual([]);
  });

  it('hold nothing of a bot that was deleted', async () => {
    await marked.bot.put(`/bots/${marked.bot.id}`, { name: marked.marker });
    await marked.stores(marked.who);
    expect(await placesWithMarker()).toContain('public.bots.name');
    await marked.bot.delete(`/bots/${marked.bot.id}`);
    expect(await placesWithMarker()).toStrictEqual([]);
  });

  it('hold nothing while others go on storing', async () => {
    const other = subject();
    await marked.bot.hasConsent(other);
    await marked.stores(marked.who);
    const [forgotten] = await Promise.all([
      marked.bot.hasForgotten(marked.who),
      ...Array.from({ length: 20 }, () => marked.bot.hasData(other, 'profile', { value: 'x'.repeat(1000) })),
    ]);
    expect(forgotten).toMatch(/-/);
    expect(await placesWithMarker()).toStrictEqual([]);
  });

  it('hold no id of a user or guild, though the bot is sent the ids until it confirms', async () => {
    const noId = async (): Promise<void> => {
      for (marked.marker of [marked.who.user_id, marked.who.guild_id])
        expect(await placesWithMarker()).toStrictEqual([]);
    };
    receiver.status = 500;
    await marked.bot.put(`/bots/${marked.bot.id}`, { webhook_url: receiver.url });
    await marked.bot.post('/servers/register', { guild_id: marked.who.guild_id, name: 'A guild' });
    await marked.stores(marked.who);
    await noId();
    await marked.bot.hasForgotten(marked.who);
    const [first] = await receiver.received(1);
    expect(first?.body).toMatchObject(marked.who);
    await noId();
    receiver.status = 200;
    const { deliveries } = (await marked.bot.get<{ deliveries: { id: string }[] }>('/webhooks/deliveries'))
      .data;
    await marked.bot.post(`/webhooks/deliveries/${deliveries[0]?.id}/redeliver`, {});
    const calls = await receiver.received(2);
    expect(calls[1]?.rawBody).toBe(first?.rawBody);
    await noId();
  });
});

describe('the files of the server, its write-ahead log included', () => {
  /** Other suites write to the server and end its checkpoints: without a slot each of them may remove what a test looks for. */
  beforeAll(async () => {
    const slot = `privacy_${randomBytes(8).toString('hex')}`;
    await service.database.rows('SELECT pg_create_physical_replication_slot(?, true, true)', slot);
  });

  const holding = async (...needles: readonly (Buffer | string)[]): Promise<string[]> => {
    await service.database.run('CHECKPOINT');
    const [{ data_directory: directory }] = (await service.database.rows('SHOW data_directory')) as [
      { data_directory: string },
    ];
    return filesWith(directory, needles);
  };

  it('hold the marker where it is nothing about a user, which shows that it would be found', async () => {
    // A page of the log may end within one of them.
    const name = `${marked.marker} ${marked.marker} ${marked.marker}`;
    await marked.bot.put(`/bots/${marked.bot.id}`, { name });
    const found = await holding(marked.marker);
    expect(found.some((path) => path.includes('/pg_wal/'))).toBe(true);
    expect(found.some((path) => path.includes('/base/'))).toBe(true);
  });

  it('hold no id, no value, no detail and no key that could be read, neither before an erasure nor after it', async () => {
    await marked.stores(marked.who);
    const { key, sealed } = await tracesOf(service, marked.bot.id, marked.who);
    const ids = Object.values(marked.who);
    expect(await holding(...sealed)).not.toStrictEqual([]);
    expect(await holding(marked.marker, ...ids, ...key)).toStrictEqual([]);
    await marked.bot.hasForgotten(marked.who);
    // Encrypted texts stay there until the server recycles the file, and their key is stored nowhere unencrypted.
    expect(await holding(marked.marker, ...ids, ...key)).toStrictEqual([]);
  });
});
