import { UnitOfWork } from '@app/database';
import type { Asked } from '@app/acts';
import { batchTurns } from '@app/http';
import { Turns } from '@app/kernel';
import { type Submission, SubmitAct } from '@app/user-data';
import { type Bot, field } from '../support/bot';
import { type Json, PREFIX } from '../support/client';
import { useServiceInProcess } from '../support/service';
import { snowflake, subject, type SubjectIds } from '../support/snowflakes';
import { looksTake } from '../support/time';

// Each look at the clock finds that the present turn of the event loop has lasted too long.

/** More than a turn may last, in milliseconds. */
const LOOK_MS = 6;
const BATCH_BODY_LIMIT_BYTES = 4_194_304;
const BODY_LIMIT_BYTES = 262_144;
/** Characters of the values of one unit, and those that the name of a field counts. */
const PART_LENGTH = 131_072;
const FIELD_LENGTH = 8;
/** Another bot calls in each turn of this number. */
const CALLED_EVERY = 25;

const service = useServiceInProcess({ BATCH_BODY_LIMIT_BYTES: String(BATCH_BODY_LIMIT_BYTES) });
let bot: Bot;
let innocent: Bot;
let people: SubjectIds[];
const other = subject();

beforeAll(async () => {
  bot = await service.registerBot();
  innocent = await service.registerBot();
  await bot.hasCategory('profile', [field('text'), field('tree', 'json')]);
  await innocent.hasCategory('profile');
  await innocent.hasConsent(other);
  const guild_id = snowflake();
  people = Array.from({ length: 100 }, () => ({ user_id: snowflake(), guild_id }));
  for (const who of people) await bot.hasConsent(who);
});
afterEach(() => jest.restoreAllMocks());

const MIB = 1_048_576;
const itemsOf = (data: (at: number) => Json, count = 100): string =>
  JSON.stringify({
    items: people.slice(0, count).map((who, at) => ({ ...who, category: 'profile', data: data(at) })),
  });
const filled = (text: string, length: number): string => text.repeat(Math.floor(length / text.length));
const names = (length: number): string => {
  let text = '';
  for (let at = 0; text.length < length; at++) text += `,"${at.toString(36)}":1`;
  return text;
};

/** Each item of a batch is read in a turn of its own, and checked in another one. */
const turnsOf = (items: number): number => 2 * items;

/** Bodies that cost the most, of the longest that is taken by default where nothing else is said, and their turns. */
const BODIES: Readonly<Record<string, readonly [turns: number, body: () => string]>> = {
  '100 items of 32 KiB of text': [
    turnsOf(100),
    () => itemsOf((at) => ({ text: String(at).padEnd(32_600, 'x') })),
  ],
  '100 items of small lists': [
    turnsOf(100),
    () => itemsOf(() => ({ tree: JSON.parse(`[${filled('[],', MIB / 110)}0]`) as unknown })),
  ],
  '16 items of 63 KiB of small lists': [
    turnsOf(16),
    () => itemsOf(() => ({ tree: JSON.parse(`[${filled('[],', 63_000)}0]`) as unknown }), 16),
  ],
  '4 items with as many names as fit': [
    turnsOf(4),
    () =>
      `{"items":[${Array(4)
        .fill(`{"a":1${names(MIB / 4 - 100)}}`)
        .join(',')}]}`,
  ],
  'values of null under as many names as fit': [
    turnsOf(4),
    () =>
      itemsOf(
        () =>
          JSON.parse(
            `{"a":null${names(MIB / 4.2)
              .replaceAll(':1', ':null')
              .slice(0, 240_000)
              .replace(/,"[^,]*$/, '')}}`,
          ) as Json,
        4,
      ),
  ],
  'as many items as fit': [101, () => `{"items":[${filled('1,', MIB - 100)}1]}`],
  'a nest as deep as fits in each item': [
    turnsOf(4),
    () =>
      `{"items":[${Array(4)
        .fill(filled('[', MIB / 9) + filled(']', MIB / 9))
        .join(',')}]}`,
  ],
  'a nest as deep as fits beside the items': [
    0,
    () => `{"a":${filled('[', MIB / 2 - 50)}${filled(']', MIB / 2 - 50)},"items":[]}`,
  ],
};

/** What a batch does in the turns of the event loop. */
interface Watched {
  turns: number;
  /** Items that are read, and that are checked, between two turns. */
  mostRead: number;
  mostChecked: number;
  /** The longest text that is parsed at once, in characters. */
  longest: number;
  /** What the items of one unit count, for each unit. */
  readonly units: (readonly number[])[];
  /** The answers to another bot while the batch waits for its turn or its unit. */
  readonly others: number[];
}

/** The event loop continues only once the call of the other bot is answered. */
function watch(): Watched {
  const seen: Watched = { turns: 0, mostRead: 0, mostChecked: 0, longest: 0, units: [], others: [] };
  let [read, checked, isOther] = [0, 0, false];
  looksTake(LOOK_MS);
  const callOfOther = async (): Promise<void> => {
    isOther = true;
    const answer = await innocent.post('/data/submit', {
      ...other,
      category: 'profile',
      data: { value: 'x' },
    });
    isOther = false;
    seen.others.push(answer.status);
  };
  const decode = Reflect.get(TextDecoder.prototype, 'decode') as (...given: unknown[]) => string;
  jest.spyOn(TextDecoder.prototype, 'decode').mockImplementation(function (
    this: { readonly fatal: boolean },
    ...given
  ) {
    const text = decode.apply(this, given);
    // The decoder of request bodies refuses what is not UTF-8.
    if (this.fatal && !isOther) {
      seen.mostRead = Math.max(seen.mostRead, ++read);
      seen.longest = Math.max(seen.longest, text.length);
    }
    return text;
  });
  const act = service.app.get(SubmitAct, { strict: false });
  const submission = act.of.bind(act);
  jest.spyOn(act, 'of').mockImplementation((...given) => {
    if (!isOther) seen.mostChecked = Math.max(seen.mostChecked, ++checked);
    return submission(...given);
  });
  const next = Reflect.get(Turns.prototype, 'next');
  jest.spyOn(Turns.prototype, 'next').mockImplementation(async function (this: Turns) {
    // The sealing of the audit log takes turns of its own meanwhile.
    if (this !== batchTurns) return next.call(this);
    [read, checked] = [0, 0];
    if (seen.turns++ % CALLED_EVERY === 0) await callOfOther();
    await next.call(this);
  });
  const unitOfWork = service.app.get(UnitOfWork);
  const shareAll = unitOfWork.shareAll.bind(unitOfWork);
  jest.spyOn(unitOfWork, 'shareAll').mockImplementation(async (shared, inputs) => {
    seen.units.push((inputs as readonly Asked<Submission>[]).map(({ input }) => lengthOf(input)));
    await callOfOther();
    return shareAll(shared, inputs);
  });
  return seen;
}

const lengthOf = ({ json = '', data }: Submission): number =>
  json.length + FIELD_LENGTH * Object.keys(data).length;

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

describe('a batch of submits stops no other bot, and needs little memory', () => {
  it.each(Object.entries(BODIES))(
    'with %s: one item in a turn, one short part in a unit',
    async (_, [turns, body]) => {
      const raw = body();
      expect(raw.length).toBeLessThanOrEqual(BATCH_BODY_LIMIT_BYTES);
      const seen = watch();
      await bot.send('POST', `${PREFIX}/data/submit/batch`, {
        headers: { 'content-type': 'application/json' },
        raw,
      });
      expect(seen.turns).toBe(turns);
      expect(seen.mostRead).toBeLessThanOrEqual(1);
      expect(seen.mostChecked).toBeLessThanOrEqual(1);
      expect(seen.longest).toBeLessThanOrEqual(BODY_LIMIT_BYTES);
      for (const unit of seen.units) expect(unit.length === 1 || sum(unit) <= PART_LENGTH).toBe(true);
      expect(seen.others.every((status) => status === 200)).toBe(true);
      expect(seen.others.length).toBeGreaterThanOrEqual(Math.ceil(turns / CALLED_EVERY));
    },
  );
});
