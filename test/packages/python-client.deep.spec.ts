import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { itAtFullDepth } from '../support/depth';
import { HAS_DISCORD_PY, PYTHON } from '../support/discord-py-seat';
import { canRun } from '../support/programs';
import { useService } from '../support/shared-service';
import { snowflake, subject } from '../support/snowflakes';
import { spawned } from '../support/spawned';

// clients/python: its own tests, against a service. CI installs what they need from Debian.

const ROOT = join(__dirname, '../..');
const NEEDED = 'import aiohttp, flask, httpx, mypy, pytest';
const describeWithPython = canRun(PYTHON, ['-c', NEEDED]) ? describe : describe.skip;
/** Of the holders. Without them pytest skips their tests, with a notice here. */
const HAS_DRIVERS =
  canRun(PYTHON, ['-c', 'import cryptography, redis, sqlalchemy']) && canRun('redis-server');

const MISSPELT = `from lethe_client import Lethe, Subject, WebhookHandler
lethe = Lethe("http://lethe.test", "k")
who: Subject = {"user_id": 1, "guild_id": "2"}
lethe.consents.accept(**who, consent_versoin="1.0")
lethe.consents.status(user_id=1)
lethe.privacy.link(**who, allow=["veiw"])
lethe.data.submit(**who, category="profile", data="Robin")
print(lethe.consents.status(**who)["acepted_at"])
print(lethe.servers.list().to_list()[0]["guild"])
lethe.data.submit_many([{"user_id": 1, "guild_id": 2, "categry": "profile", "data": {}}])
WebhookHandler("whsec_eA==", {"user_forgoten": print})
`;

const service = useService();
const place = mkdtempSync(join(tmpdir(), 'lethe-python-'));
const client = join(place, 'python');
beforeAll(() => cpSync(join(ROOT, 'clients/python'), client, { recursive: true }));
afterAll(() => rmSync(place, { recursive: true }));

/** The output and the code of a Python program; the service answers meanwhile. */
async function python(args: readonly string[], key = ''): Promise<{ code: number | null; said: string }> {
  const env = {
    PATH: process.env['PATH'],
    TMPDIR: tmpdir(),
    PYTHONPATH: join(client, 'src'),
    // httpx reads the authorities of the machine for each client, which takes as long as all else. No call has TLS.
    SSL_CERT_FILE: join(ROOT, 'test/support/certificates/authority.pem'),
    LETHE_URL: service.url,
    LETHE_KEY: key,
    LETHE_DOCS: join(ROOT, 'docs'),
  };
  const { code, output: said } = await spawned(PYTHON, args, { cwd: client, env }).ended;
  return { code, said };
}

/** The samples of the interface in Python, each in a file. */
function written(openapi: string): string[] {
  const { paths } = JSON.parse(readFileSync(openapi, 'utf8')) as {
    paths: Record<string, Record<string, { 'x-codeSamples': { label: string; source: string }[] }>>;
  };
  return Object.values(paths)
    .flatMap((item) => Object.values(item))
    .map((operation, at) => {
      const file = join(place, `sample${at}.py`);
      const python = operation['x-codeSamples'].find(({ label }) => label === 'Python');
      writeFileSync(file, `${python?.source}\n`);
      return file;
    });
}

describeWithPython('lethe-client for Python', () => {
  it('passes its tests: the life of a bot, faults of the network, webhooks with every framework', async () => {
    const { code, said } = await python(['-m', 'pytest', '-q', '-rs']);
    expect(said).toMatch(/\d\d passed/);
    expect(said).not.toMatch(HAS_DRIVERS ? /failed|error|skipped/ : /failed|error/);
    expect(code).toBe(0);
  });

  it('has a README whose calls do what it says', async () => {
    const text = readFileSync(join(client, 'README.md'), 'utf8');
    const blocks = [...text.matchAll(/^```python\n([^]*?)^```$/gm)].map(([, block]) => block);
    const [register = '', ...calls] = blocks.slice(0, 3);
    const program = calls.join('\n');
    expect(program).toContain('export_stream');
    // On a new bot, which nothing else prepares.
    const registered = await python(['-c', register.replace('987654321098765432', snowflake())]);
    expect(registered).toEqual({ code: 0, said: expect.stringMatching(/^sk_\w+ whsec_\S+\n$/) as string });
    const { code, said } = await python(['-c', program], registered.said.split(' ')[0]);
    expect({ code, said }).toEqual({ code: 0, said: expect.stringContaining('consent_accepted') as string });
    const test = blocks.find((block) => block?.includes('FakeLethe'));
    const shown = await python(['-c', test ?? '']);
    expect(shown).toEqual({
      code: 0,
      said: expect.stringMatching(/^Greeter\n\{'event': 'user_forgotten'/) as string,
    });
    expect(shown.said).toContain("(204, '')\n(204, '')\n");
  });

  it('has a holder in the README that erases what the bot keeps', async () => {
    const text = readFileSync(join(client, 'README.md'), 'utf8');
    const blocks = [...text.matchAll(/^```python\n([^]*?)^```$/gm)].map(([, block]) => block);
    const program = blocks.find((block) => block?.includes('run_holder')) ?? '';
    const bot = await service.registerBot();
    const who = subject();
    const stored = `import os, sqlite3
database = sqlite3.connect("bot.db", isolation_level=None)
database.execute("CREATE TABLE IF NOT EXISTS warnings (user_id TEXT, guild_id TEXT)")
os.makedirs("avatars", exist_ok=True)
`;
    expect(await python(['-c', `${stored}${program}`], bot.key)).toMatchObject({ code: 0 });
    await bot.hasConsent(who);
    await python(
      [
        ...['-c', `${stored}database.execute("INSERT INTO warnings VALUES (?, ?)", os.sys.argv[1:])`],
        ...[who.user_id, who.guild_id],
      ],
      bot.key,
    );
    await bot.hasForgotten(who);
    const shown = await python(['-c', `${stored}${program}`], bot.key);
    expect(shown).toEqual({
      code: 0,
      said: "Round(answered=1, failed=0, repeated=0, found={'warnings': 1, 'avatars': 0})\n",
    });
  });

  describe('with mypy', () => {
    let samples: string[];
    /** How many files the packages have. */
    let count: number;
    let said: string;

    /** In one run, which analyses what all of them import once. */
    beforeAll(async () => {
      samples = written(join(ROOT, 'openapi.json'));
      const misspelt = join(place, 'misspelt.py');
      writeFileSync(misspelt, MISSPELT);
      // lethe_discord has those of discord.py in it.
      const packages = ['lethe_client', ...(HAS_DISCORD_PY ? ['lethe_discord'] : [])].map(
        (name) => `src/${name}`,
      );
      const files = packages.flatMap((name) =>
        readdirSync(join(client, name), { recursive: true, encoding: 'utf8' }),
      );
      count = files.filter((file) => file.endsWith('.py')).length;
      const options = ['--cache-dir', '/dev/null', '--scripts-are-modules'];
      ({ said } = await python(['-m', 'mypy', ...options, ...packages, ...samples, misspelt]));
    });

    const errorsOf = (names: RegExp): string[] =>
      said.split('\n').filter((line) => names.test(line.split(':')[0] ?? '') && line.includes(': error: '));

    itAtFullDepth('has types that mypy accepts, strictly', () => {
      expect(errorsOf(/^src\//)).toEqual([]);
      const checked = new RegExp(`in 1 file \\(checked ${count + samples.length + 1} source files\\)\n$`);
      expect(said).toMatch(checked);
    });

    itAtFullDepth('fits the samples of the interface', () => {
      expect(errorsOf(/\bsample\d+\.py$/)).toEqual([]);
      const found = errorsOf(/\bmisspelt\.py$/).flatMap((line) => /:(\d+): error: /.exec(line)?.[1] ?? []);
      // Each line but the first three.
      const lines = MISSPELT.split('\n').slice(3, -1);
      expect({ said, lines: [...new Set(found.map(Number))] }).toEqual({
        said,
        lines: lines.map((_, at) => at + 4),
      });
    });
  });

  it('has a synchronous client that is made of the asynchronous one', async () => {
    expect(await python(['scripts/unasync.py', '--check'])).toEqual({ code: 0, said: '' });
  });

  it('has a method for every operation of the interface', async () => {
    const program = `
import json, re, sys
from pathlib import Path
paths = json.loads(Path(sys.argv[1]).read_text())["paths"]
text = "".join(Path("src/lethe_client", name).read_text() for name in ("_async.py", "_async_calls.py"))
routes = {f"{method.upper()} {path.replace('/api/v1', '')}" for path, item in paths.items() for method in item}
print(*sorted(routes ^ set(re.findall(r'"((?:GET|POST|PUT|DELETE) /[^"]*)"', text))), sep="\\n", end="")
`;
    expect(await python(['-c', program, join(ROOT, 'openapi.json')])).toEqual({ code: 0, said: '' });
  });
});
