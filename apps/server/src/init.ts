import { randomBytes } from 'node:crypto';
import { linkSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { adminCommand, ConfigError, launcherName, ownAsFolder, readDotenv } from '@app/kernel';
import { systemdUnit } from './systemd-unit';

const environment = (): string => `# Settings of Lethe. The running service lists all:
# http://127.0.0.1:3000/docs/guides/reference
NODE_ENV=production
HOST=127.0.0.1
PORT=3000
DATABASE_URL=sqlite:./data/lethe.db

# Where users reach Lethe through the proxy. Without it links to privacy pages lead to this machine, and their forms are refused.
# PUBLIC_URL=https://gdpr.example.org
# The number of proxies in front.
# TRUST_PROXY=1

# Decrypts everything. Keep a copy apart from the backups: without it they cannot be read, with it they can.
LETHE_MASTER_KEY=${randomBytes(32).toString('base64')}

# For /metrics, from other machines too.
METRICS_TOKEN=${randomBytes(32).toString('base64url')}

# For the operator: signs in at /console, and opens /api/v1/operator. Who has it sees the whole installation.
OPERATOR_TOKEN=${randomBytes(32).toString('base64url')}
`;

const next = (): string => `.env is written, with fresh keys and for its owner only.

Back up, each apart from the other:
  - LETHE_MASTER_KEY of .env, for example in a password manager
  - the database: \`${adminCommand('backup --to FOLDER/$(date +%F)')}\`, every day
  - the ledger of erasures: \`${adminCommand('ledger:export --out FOLDER/ledger-$(date +%F).ndjson')}\`, so that a restored backup forgets again who was erased

Behind a proxy set PUBLIC_URL and TRUST_PROXY in .env: without PUBLIC_URL links to privacy pages lead to this machine.

OPERATOR_TOKEN of .env signs you in at http://127.0.0.1:3000/console, where you see the whole installation.

Next: \`${launcherName()} start\`, then http://127.0.0.1:3000/docs. A systemd unit for this folder, to be stored as
/etc/systemd/system/lethe.service (the folder belongs to the user lethe):

`;

/** What follows for the operator: a start reads the file by the same parser. */
function aboutKept(path: string): string {
  try {
    const kept = readDotenv(path);
    if (kept['LETHE_MASTER_KEY']) return ': its keys decrypt what is stored.';
    const outside = ['LETHE_MASTER_KEY_FILE', 'LETHE_MASTER_KEY_COMMAND'].find((name) => kept[name]);
    if (outside !== undefined) return `: what its ${outside} gives decrypts what is stored.`;
    return ', without LETHE_MASTER_KEY: a start with it uses the key file beside the database. To begin anew, move it away and run init again.';
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return `, but no start understands it:\n${error.faults.map((fault) => `  - ${fault}`).join('\n')}\nCorrect it: its keys may decrypt what is stored.`;
  }
}

/** Writes `.env` with fresh keys into the folder. Answers the exit code: 1 where there is one already, which is kept. */
export function writeEnvironment(folder: string): number {
  const path = join(folder, '.env');
  const part = `${path}.next-${randomBytes(6).toString('hex')}`;
  try {
    // As a whole: a part of it, left by an interruption, would be kept as if its keys were in use.
    writeFileSync(part, environment(), { mode: 0o600, flag: 'wx', flush: true });
    ownAsFolder(part);
    linkSync(part, path);
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    process.stderr.write(
      code === 'EEXIST'
        ? `${path} exists and is kept as it is${aboutKept(path)}\n`
        : `.env cannot be written into ${folder} (${code}). Give your user write access to the folder, or call init in another one; if it has access, check the disk.\n`,
    );
    return 1;
  } finally {
    rmSync(part, { force: true });
  }
  process.stderr.write(next());
  process.stdout.write(systemdUnit(folder));
  return 0;
}
