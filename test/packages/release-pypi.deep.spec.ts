import { createHash } from 'node:crypto';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ScriptRun, spawned } from '../support/spawned';

// scripts/release.pypi.mjs and release.sums.mjs, with an index of the test.

const ROOT = join(__dirname, '../..');
const WHEEL = 'lethe_client-1.2.3-py3-none-any.whl';
const ARCHIVE = 'lethe_client-1.2.3.tar.gz';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

describe('the files of a release for PyPI', () => {
  let place: string;
  let release: string;
  let target: string;
  let index: Server;
  let url: string;
  /** What the index has of the version: digests by names; a number is a status. */
  let there: Readonly<Record<string, string>> | number;

  beforeAll(async () => {
    index = createServer(({ url: path }, response) => {
      const status = typeof there === 'number' ? there : 200;
      const urls = Object.entries(there).map(([filename, digest]) => ({
        filename,
        digests: { sha256: digest },
      }));
      response
        .writeHead(path === '/pypi/lethe-client/1.2.3/json' ? status : 400)
        .end(JSON.stringify({ urls }));
    });
    await new Promise<void>((resolve) => index.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(index.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    index.close().closeAllConnections();
  });

  beforeEach(() => {
    place = mkdtempSync(join(tmpdir(), 'lethe-pypi-'));
    release = join(place, 'release');
    target = join(place, 'dist');
    mkdirSync(release);
    const names = ['NOTES.md', 'lethe-sdk-1.2.3.tgz', WHEEL, ARCHIVE];
    for (const name of names) writeFileSync(join(release, name), name);
    writeFileSync(join(release, 'SHA256SUMS'), names.map((name) => `${sha256(name)}  ${name}\n`).join(''));
  });
  afterEach(() => rmSync(place, { recursive: true }));

  const run = (...args: string[]): Promise<ScriptRun> => spawned(process.execPath, args, { cwd: ROOT }).ended;
  const chosen = (from = url): Promise<ScriptRun> =>
    run('scripts/release.pypi.mjs', release, target, '--index', from);
  const saying = (text: string): string => expect.stringContaining(text) as string;

  it('are the wheel and the source archive where PyPI has no such version', async () => {
    there = 404;
    expect(await chosen()).toMatchObject({ code: 0, output: '' });
    expect(readdirSync(target)).toEqual([WHEEL, ARCHIVE]);
  });

  it('leave out what PyPI has with the same digest', async () => {
    there = { [WHEEL]: sha256(WHEEL) };
    expect(await chosen()).toMatchObject({ code: 0, stdout: `${WHEEL} is published already.\n` });
    expect(readdirSync(target)).toEqual([ARCHIVE]);
    rmSync(target, { recursive: true });
    there = { [WHEEL]: sha256(WHEEL), [ARCHIVE]: sha256(ARCHIVE) };
    expect(await chosen()).toMatchObject({ code: 0 });
    expect(readdirSync(target)).toEqual([]);
  });

  it('are none where PyPI has other bytes under a name', async () => {
    there = { [ARCHIVE]: sha256('other') };
    expect(await chosen()).toMatchObject({ code: 1, stderr: saying(`PyPI has another ${ARCHIVE}`) });
    expect(existsSync(target)).toBe(false);
  });

  it('are none where PyPI does not say what it has', async () => {
    there = 503;
    expect(await chosen()).toMatchObject({ code: 1, stderr: saying('status 503. Run this again') });
    expect(await chosen('http://127.0.0.1:1')).toMatchObject({ code: 1, stderr: saying('Run this again') });
    expect(existsSync(target)).toBe(false);
  });

  it('are none of a folder with a file beside SHA256SUMS or other bytes, which no job puts out', async () => {
    there = 404;
    const refused = async (text: string): Promise<void> => {
      expect(await chosen()).toMatchObject({ code: 1, stderr: saying(text) });
      expect(await run('scripts/release.sums.mjs', release)).toMatchObject({ code: 1, stderr: saying(text) });
      expect(existsSync(target)).toBe(false);
    };
    expect(await run('scripts/release.sums.mjs', release)).toMatchObject({ code: 0, output: '' });
    writeFileSync(join(release, 'more.whl'), '');
    await refused('SHA256SUMS does not list more.whl');
    rmSync(join(release, 'more.whl'));
    appendFileSync(join(release, WHEEL), ' ');
    await refused(`${WHEEL} is not the file of SHA256SUMS`);
  });
});
