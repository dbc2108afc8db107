import fc from '../support/fast-check';
import { type KeySet, verifyAuditExport } from '@lethe/sdk/evidence';
import { exported, seal, verified } from '../support/sealing';
import { useServiceInProcess } from '../support/service';
import { subject } from '../support/snowflakes';

const service = useServiceInProcess();

const who = fc.nat({ max: 3 });
const act = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('post' as const), who, details: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('consent' as const), who }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('submit' as const), who }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('forget' as const), who }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('seal' as const), who }) },
);

describe('the sealed log', () => {
  it('verifies after any acts and erasures, sealed at any moments, some of them at once', async () => {
    const keySet = (await (await fetch(`${service.url}/.well-known/lethe-keys.json`)).json()) as KeySet;
    const steps = fc.array(fc.array(act, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(steps, async (rounds) => {
        const bot = await service.registerBot();
        await bot.hasCategory('profile');
        const people = Array.from({ length: 4 }, () => subject());
        const run = async (one: (typeof rounds)[number][number]): Promise<unknown> => {
          const ids = people[one.who] ?? subject();
          if (one.do === 'seal') return seal(service, bot);
          if (one.do === 'forget') return bot.post('/gdpr/forget-user', ids);
          if (one.do === 'submit')
            return bot.post('/data/submit', { ...ids, category: 'profile', data: { value: 'x' } });
          if (one.do === 'consent') {
            await bot.post('/consents/request', { ...ids, consent_version: '1' });
            return bot.post('/consents/accept', { ...ids, consent_version: '1' });
          }
          return bot.post('/audit/event', {
            ...ids,
            event_type: 'data_exported',
            ...(one.details && { details: { note: 'x' } }),
          });
        };
        for (const round of rounds) await Promise.all(round.map(run));
        await seal(service, bot);
        expect(await verified(service, bot)).toMatchObject({ unsealed: 0, found: [] });
        await verifyAuditExport(await exported(bot), keySet);
      }),
      { numRuns: 12 },
    );
  });
});
