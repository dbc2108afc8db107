import { type KeySet, verifyAuditExport } from '@lethe/sdk/evidence';
import { Bot } from '../support/bot';
import { answered, useCrashes } from '../support/crashes';
import { atDepth, itInPart } from '../support/depth';
import { exported } from '../support/sealing';
import { subject } from '../support/snowflakes';

const crashes = useCrashes();

describe('a service that is killed again and again while it writes and seals', () => {
  itInPart('seals everything that was answered, once and in order, without being asked', async () => {
    const bot = await Bot.register(crashes.url);
    let posted = 0;
    const batches = () => crashes.count('audit_batches');
    for (let round = 0; round < atDepth(1, 4); round++) {
      // During the writing of events and seals, in the first or second round.
      const before = await batches();
      const sent = await crashes.killed({
        callers: 3,
        next: () => ({ ...subject(), event_type: 'data_deleted', details: { round } }),
        send: (event) => bot.post('/audit/event', event),
        after: 12,
        once: async () => (await batches()) > before + (round % 2),
      });
      posted += answered(sent).length;
    }
    await crashes.sealed();
    const keySet = (await (await fetch(`${crashes.url}/.well-known/lethe-keys.json`)).json()) as KeySet;
    const log = await verifyAuditExport(await exported(bot), keySet);
    expect(log.events).toBeGreaterThanOrEqual(posted);
    expect(log.batches).toBeGreaterThan(0);
  });
});
