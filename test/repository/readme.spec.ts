import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { blocksOf, expectWhatIsWritten, fiveMinutes } from '../support/five-minutes';
import { canRun } from '../support/programs';
import { useServiceInProcess } from '../support/service';

// test/packages/release.deep.spec.ts plays them with the packages.

const ROOT = join(__dirname, '../..');
const VERIFIER = join(ROOT, 'packages/sdk/src/evidence/lethe-verify.ts');

const blocks = (page: string): string[] => blocksOf(readFileSync(join(ROOT, 'docs', page), 'utf8'), 'sh');

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'lethe-readme-'));
  const outfile = join(directory, 'verify.cjs');
  buildSync({ entryPoints: [VERIFIER], outfile, bundle: true, platform: 'node' });
});
// After the shell that works in it has ended: see fiveMinutes.
afterAll(() => rmSync(directory, { recursive: true }));

(canRun('bash') && canRun('curl') ? describe : describe.skip)('the commands of README.md', () => {
  const service = useServiceInProcess({ RATE_LIMIT_TIERS: 'free=30' });

  const play = (then: readonly string[] = []) =>
    fiveMinutes(service.url, directory, {}, (commands) =>
      commands
        .replace('echo the end', () => ['echo the guides', ...then, 'echo the end'].join('\n'))
        .replaceAll('npx --package @lethe/sdk lethe-verify', 'node verify.cjs'),
    );

  it('do what is written beside them, within the limits of a new bot', async () => {
    expectWhatIsWritten(await play());
  });

  it('lead to those of docs/erasure.md and docs/reference.md', async () => {
    const [repeated = ''] = blocks('reference.md').filter((block) => block.includes('Idempotency-Key'));
    const { output } = await play([...blocks('erasure.md'), repeated, repeated]);
    const guides = output.slice(output.indexOf('the guides\n'));
    expect(guides).not.toContain('"success":false');
    expect(guides.match(/^it holds$/gm)).toHaveLength(2);
    expect(guides.match(/^HTTP.* 20\d/gm)).toHaveLength(2);
    expect(guides.match(/^Idempotent-Replayed: true/gim)).toHaveLength(1);
  });
});
