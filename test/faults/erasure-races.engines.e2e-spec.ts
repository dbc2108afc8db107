import type { Bot } from '../support/bot';
import type { Answer } from '../support/client';
import { atDepth, itInPart } from '../support/depth';
import { useService } from '../support/shared-service';
import { subject, type SubjectIds } from '../support/snowflakes';

const ERASURES = atDepth(100, 1_000);
const CALLERS = 8;

const service = useService();

/** The acts of a caller, in turn, and the statuses that they may be answered with beside those of the others. */
const ACTS: readonly [(bot: Bot, who: SubjectIds) => Promise<Answer<unknown>>, readonly number[]][] = [
  [(bot, who) => bot.post('/consents/request', { ...who, consent_version: '1' }), [201, 409]],
  [(bot, who) => bot.post('/consents/accept', { ...who, consent_version: '1' }), [200, 404, 409]],
  [
    (bot, who) => bot.post('/data/submit', { ...who, category: 'profile', data: { value: 'x' } }),
    [200, 403, 409],
  ],
  [(bot, who) => bot.post('/gdpr/forget-user', who), [200, 409]],
];

describe('requests, acceptances, submits and erasures of one user at the same moment', () => {
  itInPart(
    'are all answered, and every erasure is completed or one is under way',
    async () => {
      const bot = await service.registerBot();
      await bot.hasCategory('profile');
      const who = subject();
      const unexpected: string[] = [];
      let [erased, overlapped] = [0, 0];
      const isOver = () => erased + overlapped >= ERASURES && erased > ERASURES / CALLERS / 2;
      const call = async (from: number): Promise<void> => {
        for (let turn = from; !isOver() && unexpected.length === 0; turn++) {
          const [act, allowed] = ACTS[turn % ACTS.length]!;
          const { status, text } = await act(bot, who);
          if (!allowed.includes(status)) unexpected.push(`${turn % ACTS.length}: ${text}`);
          if (turn % ACTS.length !== 3) continue;
          if (status === 200) erased++;
          else overlapped++;
        }
      };
      await Promise.all(Array.from({ length: CALLERS }, (_, at) => call(at)));
      expect(unexpected).toEqual([]);
      await bot.hasForgotten(who);
      expect((await bot.status(who)).data).toMatchObject({ status: 'none' });
    },
    1_200_000 + ERASURES * 200,
  );
});
