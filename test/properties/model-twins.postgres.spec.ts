import { join } from 'node:path';
import { Dispatcher } from '@app/webhooks';
import { seedOfSuite } from '../support/chance';
import fc from '../support/fast-check';
import { type Act, anAct, BEGINNING, ENDING } from './model/acts';
import { Agreement, Placeholders } from './model/agreement';
import { Model } from './model/reference';
import { Cast, Tenant } from './model/tenant';
import { sqliteFile } from '../support/database';
import { Service } from '../support/service';
import { atDepth, itInPart } from '../support/depth';

// Plays the same requests on both engines and on the model of the contract: all three answers have to be equal.

const RUNS = atDepth(10, 100);
const SEED = seedOfSuite();

const postgres = new Service();
let sqlite: Service;

beforeAll(async () => {
  await postgres.start();
  const path = join(postgres.directory, 'twin.db');
  sqlite = await new Service({ DATABASE_URL: `sqlite:${path}` }, sqliteFile(path)).start();
  // It cancels the call of a bot without a URL soon after the request, so that an export would show either state.
  for (const { app } of [postgres, sqlite]) await app.get(Dispatcher).beforeApplicationShutdown();
});
afterAll(async () => {
  await sqlite.stop();
  await postgres.stop();
});

class Twins {
  private readonly model = new Model();
  private readonly sides: { tenant: Tenant; agreement: Agreement; placeholders: Placeholders }[];

  private constructor(tenants: readonly Tenant[]) {
    this.sides = tenants.map((tenant) => ({
      tenant,
      agreement: new Agreement(),
      placeholders: new Placeholders(),
    }));
  }

  static async begin(): Promise<Twins> {
    const cast = new Cast();
    return new Twins(await Promise.all([sqlite, postgres].map(({ url }) => Tenant.of(url, cast))));
  }

  async play(act: Act): Promise<void> {
    const expected = this.model.play(act);
    const answers = await Promise.all(this.sides.map(({ tenant }) => tenant.perform(act)));
    const faults = answers.map((answer, at) => this.sides[at]?.agreement.faultOf(answer, expected));
    expect({ act, sqlite: faults[0], postgres: faults[1] }).toStrictEqual({
      act,
      sqlite: undefined,
      postgres: undefined,
    });
    if (expected.unordered) return;
    const [one, other] = answers.map((answer, at) => this.sides[at]?.placeholders.of(answer));
    expect({ act, postgres: other }).toStrictEqual({ act, postgres: one });
  }
}

/** Sequences played in parallel, each by its own bot. */
const LANES = 4;

const lane = (at: number): Promise<void> =>
  fc.assert(
    fc.asyncProperty(fc.array(anAct, { maxLength: 20, size: 'max' }), async (acts) => {
      const twins = await Twins.begin();
      for (const act of [...BEGINNING, ...acts, ...ENDING]) await twins.play(act);
    }),
    { numRuns: Math.ceil(RUNS / LANES), seed: SEED + at },
  );

describe('SQLite and PostgreSQL', () => {
  itInPart(
    'answer any sequence of requests the same, byte for byte, and as the model of the contract does',
    async () => {
      await Promise.all(Array.from({ length: LANES }, (_, at) => lane(at)));
    },
    3_600_000,
  );
});
