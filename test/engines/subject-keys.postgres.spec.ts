import { Keyring, InstallationKeys, SubjectDigests, SubjectKeys } from '@app/crypto';
import { type Tx, UnitOfWork } from '@app/database';
import { Clock, Random, StartError } from '@app/kernel';
import { Bot } from '../support/bot';
import { Service } from '../support/service';
import { subject, type SubjectIds } from '../support/snowflakes';
import { until } from '../support/until';

let one: Service;
let other: Service;
let bot: Bot;
let elsewhere: Bot;

beforeAll(async () => {
  one = await new Service().start();
  other = await new Service({}, one.database).start();
});
afterAll(async () => {
  await other.app.close();
  await one.stop();
});
beforeEach(async () => {
  bot = await one.registerBot();
  elsewhere = new Bot(other.url, {
    id: bot.id,
    platform_bot_id: bot.platformBotId,
    name: bot.name,
    api_key: bot.key,
    api_key_prefix: '',
    webhook_secret: bot.webhookSecret,
  });
  await bot.hasCategory('profile');
});

const named = (who: SubjectIds) => one.app.get(SubjectDigests, { strict: false }).named(bot.id, who);
const storedKeys = (who: SubjectIds) =>
  one.database.rows<{ id: string }>(
    'SELECT id FROM subjects JOIN keys.subject_keys ON id = key_id WHERE user_id = ?',
    named(who).userId,
  );

describe('the key of a subject, in several processes', () => {
  it('is never used by one process after another one has destroyed it', async () => {
    const who = subject();
    await bot.hasConsent(who);
    for (let round = 0; round < 5; round++) {
      await elsewhere.hasData(who, 'profile', { value: `${round}` });
      const [before] = await storedKeys(who);
      await bot.hasForgotten(who);
      expect(await storedKeys(who)).toStrictEqual([]);
      expect(await one.database.rows('SELECT 1 FROM keys.subject_keys WHERE id = ?', before!.id)).toEqual([]);
      await bot.hasConsent(who);
      await elsewhere.hasData(who, 'profile', { value: 'after' });
      const [after] = await storedKeys(who);
      expect(after?.id).not.toBe(before?.id);
      const rows = await one.database.rows<{ value: string }>(
        'SELECT value FROM user_data WHERE user_id = ?',
        named(who).userId,
      );
      expect(rows.map(({ value }) => value.split('.')[1])).toStrictEqual([after?.id]);
      expect((await bot.export<{ data: object }>(who)).data.data).toStrictEqual({
        profile: { value: 'after' },
      });
    }
  });

  it('is made once, also for callers at the same time', async () => {
    for (let round = 0; round < 10; round++) {
      const who = subject();
      const given = named(who);
      const made = await Promise.all(
        [one, other, one, other].map((service) =>
          service.app
            .get(UnitOfWork)
            .write((tx) => service.app.get(SubjectKeys, { strict: false }).forWriting(tx, given)),
        ),
      );
      const [stored] = await storedKeys(who);
      expect(new Set(made.map(({ id }) => id))).toStrictEqual(new Set([stored?.id]));
      const text = made[0]?.encrypt('x', 'c') ?? '';
      for (const key of made) expect(key.decrypt(text, 'c')).toBe('x');
    }
  });

  it('is made anew where it is lost, also for a submit that shares its statements with others', async () => {
    const users = Array.from({ length: 6 }, subject);
    for (const who of users) await bot.hasConsent(who);
    const [lost] = await storedKeys(users[2]!);
    await one.database.run('DELETE FROM keys.subject_keys WHERE id = ?', lost!.id);
    const submit = (who: SubjectIds) =>
      elsewhere.post('/data/submit', { ...who, category: 'profile', data: { value: 'x' } });
    const answers = await Promise.all(users.map(submit));
    expect(answers.map(({ status }) => status)).toStrictEqual(users.map(() => 200));
    expect((await storedKeys(users[2]!)).map(({ id }) => id)).not.toContain(lost!.id);
  });

  it('is overwritten in the memory of one process when another one destroys it', async () => {
    const who = subject();
    await bot.hasConsent(who);
    await bot.hasData(who, 'profile', { value: 'x' });
    const given = named(who);
    const key = await other.app.get(SubjectKeys, { strict: false }).find(given);
    const isUsable = (): boolean => {
      try {
        return key?.encrypt('x', 'c') !== undefined;
      } catch {
        return false;
      }
    };
    expect(isUsable()).toBe(true);
    await bot.hasForgotten(who);
    await until(() => !isUsable());
  });

  it('is read once in a unit, and not believed in the next', async () => {
    const given = named(subject());
    const keys = one.app.get(SubjectKeys, { strict: false });
    const reads = async (tx: Tx): Promise<number> => {
      const get = jest.spyOn(tx, 'get');
      await keys.forWriting(tx, given);
      await keys.forWriting(tx, given);
      return get.mock.calls.length;
    };
    const unitOfWork = one.app.get(UnitOfWork);
    expect(await unitOfWork.write(reads)).toBe(1);
    expect(await unitOfWork.write(reads)).toBe(1);
  });
});

describe('the keys of the installation', () => {
  const opened = (service: Service, keyring = service.app.get(Keyring)) =>
    InstallationKeys.open(
      service.app.get(UnitOfWork),
      keyring,
      service.app.get(Clock),
      service.app.get(Random),
    );

  it('are made once by processes that start at once', async () => {
    await one.database.run(`DELETE FROM keys.service_keys WHERE name IN ('digest', 'evidence')`);
    await one.database.run('DELETE FROM installation');
    const all = await Promise.all([one, other, one, other, one, other].map((service) => opened(service)));
    expect(new Set(all.map(({ digest }) => digest.toString('hex'))).size).toBe(1);
    const text = all[0]?.installation.encrypt('x', 'c') ?? '';
    for (const { installation: evidence } of all) expect(evidence.decrypt(text, 'c')).toBe('x');
  });

  it('are not opened with another master key, which is said so that it can be mended', async () => {
    const wrong = new Keyring([Buffer.alloc(32, 9)], one.app.get(Random));
    await expect(opened(one, wrong)).rejects.toThrow(StartError);
    await expect(opened(one, wrong)).rejects.toThrow(
      /another master key \(master key \S+ is missing\)\. Restore LETHE_MASTER_KEY/,
    );
  });
});
