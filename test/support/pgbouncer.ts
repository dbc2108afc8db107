import { accessSync } from 'node:fs';

/** A PgBouncer of the calling suite, before the PostgreSQL of this run or another server. */
export interface Pooler {
  readonly port: number;
  /** The database of a URL through the pooler. */
  urlOf(direct: string): string;
  kill(signal?: NodeJS.Signals): Promise<void>;
  /** Starts it again on the same port. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** As text, since it has no types. */
const SCRIPT: string = '../../scripts/pgbouncer.mjs';
const PROGRAM = '/usr/sbin/pgbouncer';

/** In transaction mode, unless `settings` say otherwise. */
export async function startPooler(
  settings: Readonly<Record<string, string | number>> = {},
  before = process.env['TEST_POSTGRES_URL'] ?? '',
): Promise<Pooler> {
  const { startPgbouncer } = (await import(SCRIPT)) as {
    startPgbouncer: (url: string, given: object) => Promise<Pooler>;
  };
  return startPgbouncer(before, settings);
}

/** `describe` on machines with PgBouncer. Without it the tests are skipped with a notice; in CI they fail. */
export function describeWithPooler(name: string, tests: () => void): void {
  if (isThere()) return describe(name, tests);
  if (process.env['CI'] === undefined) {
    process.stderr.write(`There is no ${PROGRAM}: the tests of ${name} are skipped.\n`);
    return describe.skip(name, tests);
  }
  describe(name, () =>
    it(`needs ${PROGRAM}`, () => {
      throw new Error(`there is no ${PROGRAM}`);
    }),
  );
}

function isThere(): boolean {
  try {
    accessSync(PROGRAM);
    return true;
  } catch {
    return false;
  }
}
