import { useMarked } from './support/marked';
import { useService } from './support/service';
import { subject } from './support/snowflakes';

const service = useService();
const marked = useMarked(service);

/** Every table and column of the database, whatever schema it is in and whoever made it, that holds the marker. */
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
  it('hold the marker before, which shows that it would be found', async () => {
    await marked.stores(marked.who);
    expect(await placesWithMarker()).toStrictEqual(['public.audit_events.details', 'public.user_data.value']);
  });

  it('hold nothing of data and details when forget-user is answered', async () => {
    await marked.stores(marked.who);
    await marked.bot.hasForgotten(marked.who);
    expect(await placesWithMarker()).toStrictEqual([]);
  });

  it('hold nothing of a large value that was stored outside its row', async () => {
    await marked.bot.hasConsent(marked.who);
    for (let turn = 0; turn < 20; turn++)
      await marked.bot.hasData(marked.who, 'profile', { value: `${marked.marker} `.repeat(1500) });
    expect(await placesWithMarker()).toStrictEqual(['public.user_data.value']);
    await marked.bot.hasForgotten(marked.who);
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

  it('hold no id of the user but in the proof of the erasure and in the call that tells of it', async () => {
    await marked.stores(marked.who);
    await marked.bot.hasForgotten(marked.who);
    marked.marker = marked.who.user_id;
    expect(await placesWithMarker()).toStrictEqual([
      'public.audit_events.user_id',
      'public.deletion_requests.user_id',
      'public.webhook_deliveries.payload',
      'public.webhook_deliveries.user_id',
    ]);
  });
});
