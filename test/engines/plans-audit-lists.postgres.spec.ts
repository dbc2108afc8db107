import type { Bot } from '../support/bot';
import { useServiceInProcess } from '../support/service';
import { SqlLog } from '../support/sql-log';
import { snowflake } from '../support/snowflakes';

/** So many events that sorting them shows in the plan, which is the same for every limit. */
const EVENTS = 50_000;

const service = useServiceInProcess();
const guildId = snowflake();
const userId = snowflake();
let bot: Bot;

beforeAll(async () => {
  bot = await service.registerBot();
  const stored = service.stored(bot, { user_id: userId, guild_id: guildId });
  await service.database.run(
    `INSERT INTO audit_events (bot_id, seq, id, guild_id, user_id, event_type, source, details, created_at)
     SELECT ?, n, n::text, ?, ?, 'data_exported', 'service', 's2.unknown.', '2026-01-01T00:00:00.000Z'
     FROM generate_series(1, ${EVENTS}) n`,
    ...[bot.id, stored.guild_id, stored.user_id],
  );
  await service.database.run(
    `INSERT INTO audit_counts (bot_id, guild_id, event_type, writer, total)
     SELECT ?, guild, 'data_exported', 0, ${EVENTS} FROM unnest(ARRAY['', ?]) guild`,
    ...[bot.id, stored.guild_id],
  );
  await service.database.run('ANALYZE audit_events');
});

interface Step {
  readonly 'Node Type': string;
  readonly 'Plan Rows': number;
  readonly Plans?: readonly Step[];
}

const sorts = (step: Step): number[] => [
  ...(step['Node Type'].includes('Sort') ? [step['Plan Rows']] : []),
  ...(step.Plans ?? []).flatMap(sorts),
];

describe('a page of a long audit log on PostgreSQL', () => {
  it.each([
    '',
    `guild_id=${guildId}`,
    `user_id=${userId}`,
    'event_type=data_exported',
    `guild_id=${guildId}&event_type=data_exported`,
    `user_id=${userId}&event_type=data_exported`,
  ])('is read in the order of an index, with nothing sorted but itself (%s)', async (query) => {
    const log = new SqlLog().open();
    const { data } = await bot.get<{ events: object[] }>(`/audit/events?${query}`);
    expect(data.events.length).toBeGreaterThan(0);
    log.close();
    const pages = log.statements().filter((sql) => sql.includes('ORDER BY seq DESC'));
    expect(pages).toHaveLength(1);
    const [row] = await service.database.rows<{ 'QUERY PLAN': [{ Plan: Step }] }>(
      `EXPLAIN (GENERIC_PLAN, FORMAT JSON) ${pages[0]}`,
    );
    expect(sorts(row!['QUERY PLAN'][0].Plan).filter((rows) => rows > 1_000)).toEqual([]);
  });
});
