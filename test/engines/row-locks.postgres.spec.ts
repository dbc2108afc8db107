import { CategoriesService, CategoryDeclarations } from '@app/categories';
import { ConsentService, consentsInForce, holdSubject, requireConsent } from '@app/consent';
import { SubjectDigests } from '@app/crypto';
import { type Tx, UnitOfWork } from '@app/database';
import { lockSubject, type Subject } from '@app/subjects';
import type { Bot } from '../support/bot';
import type { Answer } from '../support/client';
import { expectFailure } from '../support/expected';
import { useServiceInProcess } from '../support/service';
import { subject, type SubjectIds } from '../support/snowflakes';
import { until } from '../support/until';

const service = useServiceInProcess();
let bot: Bot;
let who: SubjectIds;
let held: Subject;

beforeEach(async () => {
  bot = await service.registerBot();
  who = subject();
  held = named(who);
  await bot.hasCategory('profile');
  await bot.hasConsent(who);
});

const named = (whom: SubjectIds) => service.app.get(SubjectDigests, { strict: false }).named(bot.id, whom);
const revoke = () => bot.post('/consents/revoke', who);
const forget = () => bot.post('/gdpr/forget-user', who);
const withdraw = () => bot.delete('/data/categories/profile');
const submit = () => bot.post('/data/submit', { ...who, category: 'profile', data: { value: 'x' } });

/** Resolves when a transaction waits for a lock of another one. */
async function someoneWaits(): Promise<'waits'> {
  const waiting = () =>
    service.database.rows(
      `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
  await until(async () => (await waiting()).length > 0, 2);
  return 'waits';
}

/** The answer of `compete`, which has to wait for an uncommitted unit with `hold`. */
async function behind(
  hold: (tx: Tx) => Promise<unknown>,
  compete: () => Promise<Answer>,
  meanwhile: () => boolean = () => true,
): Promise<Answer> {
  let commit = (): void => undefined;
  const decided = new Promise<void>((resolve) => (commit = resolve));
  let competing: Promise<Answer> | undefined;
  const holding = service.app.get(UnitOfWork).write(async (tx) => {
    await hold(tx);
    competing = compete();
    const first = await Promise.race([someoneWaits(), competing.then(() => 'was answered at once')]);
    while (!meanwhile()) await new Promise((resolve) => setImmediate(resolve));
    setImmediate(commit);
    await decided;
    return first;
  });
  expect(await holding).toBe('waits');
  if (competing === undefined) throw new Error('nobody competed');
  return competing;
}

const declarations = () => service.app.get(CategoryDeclarations, { strict: false });
const categories = () => service.app.get(CategoriesService, { strict: false });
const consents = () => service.app.get(ConsentService, { strict: false });

describe('a submit that has found its consent in force', () => {
  it.each([
    ['a revocation', revoke],
    ['an erasure', forget],
  ])('is committed before %s is', async (_, compete) => {
    expect((await behind((tx) => requireConsent(tx, held), compete)).status).toBe(200);
    expectFailure(await submit(), 403, 'consent_required');
  });

  it.each([
    ['a revocation', revoke],
    ['an erasure', forget],
  ])('together with others is committed before %s is', async (_, compete) => {
    expect((await behind((tx) => consentsInForce(tx, [held, held]), compete)).status).toBe(200);
  });

  it('is committed before its category is withdrawn', async () => {
    expect((await behind((tx) => declarations().find(tx, bot.id, 'profile'), withdraw)).status).toBe(200);
    const together = (tx: Tx) => declarations().findAll(tx, [{ botId: bot.id, key: 'again' }]);
    await bot.hasCategory('again');
    expect((await behind(together, () => bot.delete('/data/categories/again'))).status).toBe(200);
  });
});

describe('a submit', () => {
  it('waits for a running decision about the consent, and obeys it', async () => {
    const deciding = async (tx: Tx) => {
      await consents().lock(tx, held);
      await tx.run(
        `UPDATE consents SET status = 'revoked' WHERE bot_id = ? AND guild_id = ? AND user_id = ?`,
        ...[held.botId, held.guildId, held.userId],
      );
    };
    expectFailure(await behind(deciding, submit), 403, 'consent_required');
  });
});

describe('an export', () => {
  it('is committed before the erasure of its subject begins', async () => {
    expect((await behind((tx) => holdSubject(tx, held), forget)).status).toBe(200);
  });
});

describe('an event that a bot posts', () => {
  const post = () =>
    bot.post('/audit/event', { ...who, event_type: 'data_exported', details: { text: 'x' } });

  it('is committed before the erasure of its subject, which takes its details along', async () => {
    expect((await behind((tx) => lockSubject(tx, held, 'together'), forget)).status).toBe(200);
  });

  it('of a subject without a consent is so too', async () => {
    const stranger = subject();
    const hold = (tx: Tx) => lockSubject(tx, named(stranger), 'together');
    expect((await behind(hold, () => bot.post('/gdpr/forget-user', stranger))).status).toBe(200);
  });

  it('waits for an erasure that removes what there is', async () => {
    expect((await behind((tx) => consents().lock(tx, held), post)).status).toBe(201);
  });
});

describe('submits of one moment', () => {
  it('do not wait for one among them whose subject is held', async () => {
    const other = subject();
    await bot.hasConsent(other);
    let elsewhere: Answer | undefined;
    const both = async () => {
      const slow = submit();
      elsewhere = await bot.post('/data/submit', { ...other, category: 'profile', data: { value: 'x' } });
      return slow;
    };
    const holding = async (tx: Tx) => {
      await consents().lock(tx, held);
    };
    expect((await behind(holding, both, () => elsewhere !== undefined)).status).toBe(200);
    expect(elsewhere?.status).toBe(200);
  });
});

describe('a question for consent that names categories', () => {
  it('is committed before one of them is withdrawn', async () => {
    expect((await behind((tx) => categories().hold(tx, bot.id, ['profile']), withdraw)).status).toBe(200);
  });
});
