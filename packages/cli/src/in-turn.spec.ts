import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommandLineHere } from '../../../test/support/command-line-here';

// The declarations of a file, which meet the limiter of the service.

const LABELS = { label_de: 'A', label_en: 'A' };
const FILE = {
  categories: ['a', 'b', 'c'].map((key) => ({
    key,
    ...LABELS,
    fields: [{ key: 'x', type: 'string', ...LABELS }],
  })),
  holders: ['a', 'b', 'c'].map((key) => ({ key, ...LABELS, covers: [key] })),
};

/** A service without declarations, to which changes have these statuses; the next minute is 40 seconds away. */
function standIn(...statuses: number[]): string[] {
  const seen: string[] = [];
  jest.spyOn(globalThis, 'fetch').mockImplementation((_, { method = 'GET', body } = {}) => {
    if (method === 'GET') {
      const pagination = { total: 0, next: null };
      const data = { categories: [], texts: [], holders: [], pagination };
      return Promise.resolve(Response.json({ success: true, data }));
    }
    const status = statuses.shift() ?? 200;
    seen.push(`${(JSON.parse(body as string) as { key: string }).key} ${status}`);
    const error = {
      code: status === 429 ? 'rate_limit_exceeded' : 'invalid_request',
      message: 'No.',
      details: {},
    };
    const headers = { 'retry-after': '40' };
    return Promise.resolve(
      Response.json(status === 200 ? { success: true, data: {} } : { success: false, error }, {
        status,
        headers,
      }),
    );
  });
  return seen;
}

describe.each([
  ['categories', ['push', '--yes'], 'category'],
  ['holders', ['push'], 'holder'],
])('lethe %s push', (command, args, one) => {
  const directory = mkdtempSync(join(tmpdir(), 'lethe-cli-'));
  afterAll(() => rmSync(directory, { recursive: true }));
  afterEach(() => {
    jest.useRealTimers();
    jest.restoreAllMocks();
  });

  async function push() {
    writeFileSync(join(directory, 'lethe.yaml'), JSON.stringify(FILE));
    const cli = new CommandLineHere('', directory);
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    const ended = { is: false };
    const ran = cli.run([command, ...args], { LETHE_KEY: 'sk_live_x' }).finally(() => (ended.is = true));
    while (!ended.is) {
      await jest.runAllTimersAsync();
      await new Promise((resolve) => setImmediate(resolve));
    }
    return ran;
  }

  it('waits for the next minute of the limiter', async () => {
    const seen = standIn(200, 429);
    expect(await push()).toMatchObject({ code: 0 });
    expect(seen).toEqual(['a 200', 'b 429', 'b 200', 'c 200']);
  });

  it('names what failed, and what was done before it', async () => {
    standIn(200, 200, 400);
    const { code, stderr } = await push();
    expect(code).toBe(1);
    expect(stderr).toContain(`${one} c: No.\n`);
    expect(stderr).toContain(`Done before: ${one} a, ${one} b.`);
  });
});
