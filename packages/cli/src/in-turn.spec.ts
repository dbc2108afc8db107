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

const CODES: Readonly<Record<number, string>> = {
  400: 'invalid_request',
  429: 'rate_limit_exceeded',
  503: 'service_unavailable',
};
/** In place of a status: the answer is lost. */
const LOST = 0;

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
    if (status === LOST) return Promise.reject(new TypeError('fetch failed'));
    seen.push(`${(JSON.parse(body as string) as { key: string }).key} ${status}`);
    const error = { code: CODES[status], message: 'No.', details: {} };
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

  it.each([
    [1, 'is refused', 400, 'No.\n'],
    [3, 'has no answer', LOST, 'An answer of the service at '],
    [3, 'the service has no time for', 503, 'The service at '],
  ])('names by exit code %d what %s, and what was done before it', async (exitCode, _, status, words) => {
    // The SDK repeats what may pass.
    standIn(200, 200, ...Array<number>(20).fill(status));
    const { code, stderr } = await push();
    expect(code).toBe(exitCode);
    expect(stderr).toContain(`${one} c: ${words}`);
    expect(stderr).toContain(`Done before: ${one} a, ${one} b.`);
  });
});
