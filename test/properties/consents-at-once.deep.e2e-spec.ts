import fc from '../support/fast-check';
import type { ApiError } from '@app/kernel';
import type { Bot } from '../support/bot';
import { consentActs } from '../support/consent-acts';
import { atDepth } from '../support/depth';
import { withoutSealing } from '../support/sealing';
import { useServiceInProcess } from '../support/service';
import { subject, type SubjectIds } from '../support/snowflakes';
import { dumpOf } from '../support/tenant-dump';

const service = useServiceInProcess();

beforeAll(() => withoutSealing(service));

/** A bot with two categories, and a version with registered texts. */
async function arranged(): Promise<Bot> {
  const made = await service.registerBot();
  for (const key of ['profile', 'notes']) await made.hasCategory(key);
  const text = { consent_version: '2', title: 'a', body: 'b', jurisdiction: 'c' };
  for (const language of ['en', 'de']) await made.post('/consents/texts', { ...text, language });
  return made;
}

type Prepare = (bot: Bot, who: SubjectIds) => Promise<unknown>;
type Act = (by: Bot, who: SubjectIds, requestId: string) => Promise<unknown>;

const consents = () => consentActs(service.app);
const request =
  (body: object): Act =>
  (by, who) =>
    consents().request(by.id, { ...who, ...body });
const accept =
  (body: object): Act =>
  (by, who) =>
    consents().accept(by.id, { ...who, ...body });

const revoke =
  (body: object = {}): Act =>
  (by, who) =>
    consents().revoke(by.id, { ...who, ...body });

/** What a user has decided before. */
const STATES: readonly Prepare[] = [
  () => Promise.resolve(),
  (by, who) => by.hasRequest(who, '1'),
  (by, who) =>
    by.post('/consents/request', { ...who, consent_version: '1', categories: ['profile', 'notes'] }),
  (by, who) => by.hasRequest(who, '2'),
  (by, who) => by.hasConsent(who, '1'),
  async (by, who) => {
    await by.hasConsent(who, '1');
    await by.hasData(who, 'profile', { value: 'x' });
    await by.hasRevoked(who);
    await by.hasRequest(who, '1');
  },
  async (by, who) => {
    await by.hasConsent(who, '1');
    await by.hasData(who, 'notes', { value: 'x' });
    await by.post('/consents/request', { ...who, consent_version: '2', categories: ['profile'] });
  },
];

const ACTS: readonly Act[] = [
  request({ consent_version: '1' }),
  request({ consent_version: '1', source: 'button' }),
  request({ consent_version: '2' }),
  request({ consent_version: '2', language: 'de', categories: ['profile'] }),
  request({ consent_version: '2', language: 'fr' }),
  request({ consent_version: '1', categories: ['notes', 'profile', 'notes'] }),
  request({ consent_version: '1', categories: ['profile'], language: 'de' }),
  request({ categories: ['profile'] }),
  request({ consent_version: '1', categories: ['profile', 'unknown'] }),
  accept({ consent_version: '1' }),
  accept({ consent_version: '2', source: 'button' }),
  accept({ consent_version: 'another' }),
  accept({ consent_version: '1', categories: ['profile'] }),
  accept({ consent_version: '1', categories: ['unknown'] }),
  revoke(),
  revoke({ source: 'button' }),
  revoke({ categories: ['profile'] }),
  revoke({ categories: ['unknown'] }),
  (by, _, id) => consents().accept(by.id, { consent_id: id.toUpperCase() }),
  (by, who, id) => consents().accept(by.id, { ...who, consent_id: id, consent_version: '2' }),
  (by, _, id) => consents().accept(by.id, { ...subject(), consent_id: id }),
];

const VARYING = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT[\d:.]+Z|\b\d{17,20}\b/g;
const DIGEST = /(?<="(?:guildId|userId)":")[\w-]{20}(?=")/g;

/** What an act answers, or its refusal, without what differs from run to run. */
async function masked(answer: Promise<unknown>): Promise<string> {
  const refused = ({ code, message, details }: ApiError) => ({ code, message, details });
  return JSON.stringify(await answer.catch(refused))
    .replace(VARYING, '*')
    .replace(DIGEST, '*');
}

/** What the acts answer, each about another user, and what they leave. */
async function played(script: readonly (readonly [Prepare, Act])[], isAtOnce: boolean) {
  const by = await arranged();
  const people = script.map(() => subject());
  const ids: string[] = [];
  for (const [at, [prepare]] of script.entries()) {
    await prepare(by, people[at]!);
    const { user_id: userId } = service.stored(by, people[at]!);
    const [row] = await service.database.rows<{ id: string }>(
      'SELECT COALESCE(pending_id, id) AS id FROM consents WHERE bot_id = ? AND user_id = ?',
      ...[by.id, userId],
    );
    ids.push(row?.id ?? '01a1f99c-0000-7000-8000-000000000000');
  }
  const acts = script.map(
    ([, act], at) =>
      () =>
        masked(act(by, people[at]!, ids[at]!)),
  );
  const answers: string[] = [];
  // In one turn of the event loop, so that they share units.
  if (isAtOnce) answers.push(...(await Promise.all(acts.map((act) => act()))));
  else for (const act of acts) answers.push(await act());
  return { answers, left: await dumpOf(service.database, by.id) };
}

describe('requests, acceptances and revocations of one moment', () => {
  it('answer and leave what they do one after the other', async () => {
    const step = fc.tuple(fc.constantFrom(...STATES), fc.constantFrom(...ACTS));
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 12, maxLength: 24 }), async (script) => {
        expect(await played(script, true)).toStrictEqual(await played(script, false));
      }),
      { numRuns: atDepth(5, 60), endOnFailure: true },
    );
  });

  it('answer and leave so for each state and each act', async () => {
    const script = STATES.flatMap((prepare) => ACTS.map((act) => [prepare, act] as const));
    expect(await played(script, true)).toStrictEqual(await played(script, false));
  });
});
