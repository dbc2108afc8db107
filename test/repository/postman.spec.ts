import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { useServiceInProcess } from '../support/service';
import { snowflake } from '../support/snowflakes';

const ROOT = join(__dirname, '../..');

interface Item {
  readonly name: string;
  readonly item?: readonly Item[];
  readonly request: {
    readonly method: string;
    readonly url: {
      readonly path: readonly string[];
      readonly query: readonly { key: string; value: string; disabled: boolean }[];
      readonly variable: readonly { key: string; value: string }[];
    };
    readonly body?: { readonly raw: string };
  };
}

const read = (path: string): unknown => JSON.parse(readFileSync(join(ROOT, path), 'utf8'));
const collection = read('docs/lethe.postman_collection.json') as { item: readonly Item[] };
const { paths } = read('openapi.json') as { paths: Record<string, object> };
const REQUESTS = collection.item.flatMap(({ item = [] }) => item);

const OPERATOR_TOKEN = 'o'.repeat(40);
const RATE_LIMIT_TIERS = 'free=1000000,standard=2000000,high=3000000';

describe('docs/lethe.postman_collection.json', () => {
  const service = useServiceInProcess({ OPERATOR_TOKEN, RATE_LIMIT_TIERS });

  it('is that of openapi.json (else: npm run openapi)', () => {
    const { status, stdout } = spawnSync(process.execPath, ['scripts/postman.mjs', '--check'], {
      cwd: ROOT,
      encoding: 'utf8',
    });
    expect({ status, stdout }).toEqual({ status: 0, stdout: '' });
  });

  it('has every operation once', () => {
    const operations = Object.entries(paths).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`),
    );
    const requests = REQUESTS.map(({ request: { method, url } }) => `${method} /${url.path.join('/')}`);
    expect(requests.sort()).toEqual(operations.sort());
  });

  it('asks the service for nothing malformed', async () => {
    const bot = await service.registerBot();
    const values: Record<string, string> = { '{{bot_id}}': bot.id };
    const malformed: unknown[] = [];
    // The bot is deleted last.
    const ends = ({ request: { method, url } }: Item): boolean =>
      method === 'DELETE' && url.path.at(-1) === ':bot_id';
    const order = [...REQUESTS.filter((one) => !ends(one)), ...REQUESTS.filter(ends)];
    for (const { name, request } of order) {
      const { url, method, body } = request;
      const ids = Object.fromEntries(
        url.variable.map(({ key, value }) => [`:${key}`, values[value] ?? value]),
      );
      const query = url.query
        .filter(({ disabled }) => !disabled)
        .map(({ key, value }) => `${key}=${encodeURIComponent(value)}`);
      const path = `/${url.path.map((part) => ids[part] ?? part).join('/')}${query.length > 0 ? `?${query.join('&')}` : ''}`;
      const raw = body?.raw.replace('987654321098765432', snowflake());
      const key = url.path.includes('operator') ? OPERATOR_TOKEN : bot.key;
      const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
      const { status } = await fetch(service.url + path, { method, headers, ...(raw && { body: raw }) });
      if ([400, 401, 405, 415].includes(status)) malformed.push([name, status]);
    }
    expect(malformed).toEqual([]);
  });
});
