import { useServiceInProcess } from '../support/service';

const service = useServiceInProcess();

describe('the migrated schema on PostgreSQL', () => {
  const HOT = [
    ...['audit_batches', 'audit_events', 'subjects'],
    ...['user_data', 'webhook_attempts', 'webhook_deliveries'],
  ];

  it('spreads the hot tables, and only these, over sixteen parts by the hash of bot_id', async () => {
    const rows = await service.database.rows<{ name: string; key: string; parts: number }>(
      `SELECT relname AS name, pg_get_partkeydef(oid) AS key,
         (SELECT COUNT(*) FROM pg_inherits WHERE inhparent = c.oid) AS parts
       FROM pg_class c WHERE relnamespace = 'public'::regnamespace AND relkind = 'p' ORDER BY relname COLLATE "C"`,
    );
    expect(rows).toStrictEqual(HOT.map((name) => ({ name, key: 'HASH (bot_id)', parts: 16 })));
  });

  it('compares every text byte by byte, on a server whose own language does not', async () => {
    const [server] = await service.database.rows(
      `SELECT datlocprovider AS by FROM pg_database WHERE datname = current_database()`,
    );
    expect(server).toStrictEqual({ by: 'i' });
    const others = await service.database.rows(
      `SELECT attrelid::regclass::text || '.' || attname AS name FROM pg_attribute a
         JOIN pg_class c ON c.oid = a.attrelid JOIN pg_collation l ON l.oid = a.attcollation
       WHERE c.relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND relname <> 'migrations'
         AND attnum > 0 AND NOT attisdropped AND collname <> 'C'`,
    );
    expect(others).toStrictEqual([]);
  });
});
