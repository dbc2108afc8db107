import { type KeySet, verifyAuditExport } from '@lethe/sdk/evidence';
import { Bot } from '../support/bot';
import { useCrashes } from '../support/crashes';
import { atDepth, itInPart } from '../support/depth';
import { exported } from '../support/sealing';
import { subject } from '../support/snowflakes';
import { unlessCut } from '../support/unless-cut';
import { until } from '../support/until';

const crashes = useCrashes();

describe('a service that is killed again and again while it writes and seals', () => {
  itInPart('seals everything that was answered, once and in order, without being asked', async () => {
    const bot = await Bot.register(crashes.url);
    let answered = 0;
    const batches = () => crashes.count('audit_batches');
    for (let round = 0; round < atDepth(1, 4); round++) {
      const write = async (): Promise<boolean> => {
        const body = { ...subject(), event_type: 'data_deleted', details: { round } };
        const isAnswered = (await unlessCut(bot.post('/audit/event', body)))?.status === 201;
        if (isAnswered) answered += 1;
        return isAnswered;
      };
      // During the writing of events and seals, in the first or second round.
      const before = await batches();
      const once = async () => (await batches()) > before + (round % 2);
      await crashes.killDuring(write, { callers: 3, after: 12, once });
      await crashes.start();
    }
    const behind = () =>
      crashes.count(`audit_events
        WHERE seq > COALESCE((SELECT last_seq FROM audit_heads WHERE bot_id = audit_events.bot_id), 0)`);
    await until(async () => (await behind()) === 0, 100);
    const keySet = (await (await fetch(`${crashes.url}/.well-known/lethe-keys.json`)).json()) as KeySet;
    const log = await verifyAuditExport(await exported(bot), keySet);
    expect(log.events).toBeGreaterThanOrEqual(answered);
    expect(log.batches).toBeGreaterThan(0);
  });
});
