import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildSync } from 'esbuild';
import { expectWhatIsWritten, fiveMinutes } from '../support/five-minutes';
import { canRun } from '../support/programs';
import { useServiceInProcess } from '../support/service';

// test/packages/release.deep.spec.ts plays them with the packages.

const VERIFIER = join(__dirname, '../../packages/sdk/src/evidence/lethe-verify.ts');

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'lethe-readme-'));
});
// After the shell that works in it has ended: see fiveMinutes.
afterAll(() => rmSync(directory, { recursive: true }));

(canRun('bash') && canRun('curl') ? describe : describe.skip)('the commands of README.md', () => {
  const service = useServiceInProcess({ RATE_LIMIT_TIERS: 'free=30' });

  it('do what is written beside them, within the limits of a new bot', async () => {
    const outfile = join(directory, 'verify.cjs');
    buildSync({ entryPoints: [VERIFIER], outfile, bundle: true, platform: 'node' });
    const played = await fiveMinutes(service.url, directory, {}, (commands) =>
      commands.replace('npx --package @lethe/sdk lethe-verify', 'node verify.cjs'),
    );
    expectWhatIsWritten(played);
  });
});
