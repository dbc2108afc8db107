import { randomBytes } from 'node:crypto';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { Bot } from '../support/bot';
import { useBuild } from '../support/build';
import type { ScriptRun } from '../support/child-script';
import { useInstallation } from '../support/installation';
import { spawned } from '../support/spawned';

// docs/operations/vault-master-key.mjs against the recorded protocol of Vault's transit engine: paths, headers, bodies and
// answers are those of its documentation, which a server on loopback plays. No Vault runs here.

const ROOT = join(__dirname, '../..');
const SCRIPT = join(ROOT, 'docs/operations/vault-master-key.mjs');
const TOKEN = `hvs.${'CAESI'.repeat(18)}`;
const newKey = (): string => randomBytes(32).toString('base64');

interface Call {
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly headers: IncomingMessage['headers'];
  readonly body: Readonly<Record<string, string>>;
}

/** The key `lethe` of the engine at `transit`, in the namespace `team`. */
class RecordedTransit {
  readonly calls: Call[] = [];
  /** In place of the answers of an unsealed Vault. */
  instead: { readonly status: number; readonly body: string } | undefined;
  private readonly wrapped = new Map<string, string>();

  readonly answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method, url, headers } = request;
    const body = (await json(request)) as Call['body'];
    this.calls.push({ method, url, headers, body });
    const { status, body: text } = this.instead ?? this.said(this.calls[this.calls.length - 1]!);
    response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' }).end(text);
  };

  private said({ method, url, headers, body }: Call): { readonly status: number; readonly body: string } {
    const refused = (status: number, error: string) => ({
      status,
      body: JSON.stringify({ errors: [error] }),
    });
    const done = (data: object) => ({
      status: 200,
      body: JSON.stringify({
        ...{ request_id: '8375227a-4a9f-a108-0b89-84c448419e80', lease_id: '', renewable: false },
        ...{ lease_duration: 0, data, wrap_info: null, warnings: null, auth: null, mount_type: 'transit' },
      }),
    });
    if (headers['x-vault-token'] !== TOKEN) return refused(403, 'permission denied');
    if (headers['x-vault-namespace'] !== 'team') return refused(404, 'no handler for route');
    if (method !== 'POST') return refused(405, 'unsupported operation');
    if (url === '/v1/transit/encrypt/lethe') {
      const ciphertext = `vault:v1:${randomBytes(60).toString('base64')}`;
      this.wrapped.set(ciphertext, body['plaintext'] ?? '');
      return done({ ciphertext, key_version: 1 });
    }
    if (url !== '/v1/transit/decrypt/lethe') return refused(404, 'no handler for route');
    if (!body['ciphertext']?.startsWith('vault:v')) return refused(400, 'invalid ciphertext: no prefix');
    const plaintext = this.wrapped.get(body['ciphertext']);
    return plaintext === undefined
      ? refused(400, 'cipher: message authentication failed')
      : done({ plaintext });
  }
}

const lethe = useInstallation({ build: useBuild(), settings: {} });
const vault = new RecordedTransit();
const listener = createServer((request, response) => void vault.answer(request, response));
let address: string;
beforeAll(async () => {
  await new Promise<void>((listening) => listener.listen(0, '127.0.0.1', listening));
  address = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
});
afterAll(() => new Promise((closed) => listener.close(closed)));
beforeEach(() => {
  vault.calls.length = 0;
  vault.instead = undefined;
});

const inFolder = (name: string): string => join(lethe.root, name);
/** The variables of Vault's client. */
const client = (): Record<string, string> => {
  writeFileSync(inFolder('token'), `${TOKEN}\n`, { mode: 0o600 });
  return { VAULT_ADDR: address, VAULT_TOKEN_FILE: inFolder('token'), VAULT_NAMESPACE: 'team' };
};

function script(
  args: readonly string[],
  environment: Record<string, string>,
  stdin = '',
): Promise<ScriptRun> {
  const path = inFolder('stdin');
  writeFileSync(path, stdin);
  // As a shell does it: the keys are in no list of processes.
  const shell = ['-c', 'exec "$@" <"$STDIN"', 'sh', process.execPath, SCRIPT, ...args];
  return spawned('/bin/sh', shell, { env: { ...environment, STDIN: path } }).ended;
}

const unwraps = (): Record<string, string> => ({
  LETHE_MASTER_KEY_COMMAND: `${process.execPath} ${SCRIPT} unwrap transit/lethe ${inFolder('wrapped')}`,
});

async function wrapped(...keys: string[]): Promise<void> {
  const run = await script(['wrap', 'transit/lethe'], client(), keys.join('\n'));
  expect(run).toMatchObject({ code: 0, stderr: '' });
  writeFileSync(inFolder('wrapped'), run.stdout);
}

describe('vault-master-key.mjs', () => {
  it('wraps keys, unwraps them in their order, and sends what the transit engine takes', async () => {
    const keys = [newKey(), newKey()];
    await wrapped(...keys);
    expect(readFileSync(inFolder('wrapped'), 'utf8')).toMatch(/^(vault:v1:\S+\n){2}$/);
    const run = await script(['unwrap', 'transit/lethe', inFolder('wrapped')], client());
    expect(run).toEqual({
      code: 0,
      stdout: `${keys.join('\n')}\n`,
      stderr: '',
      output: `${keys.join('\n')}\n`,
    });
    expect(vault.calls.map(({ method, url }) => `${method} ${url}`).sort()).toEqual([
      ...Array<string>(2).fill('POST /v1/transit/decrypt/lethe'),
      ...Array<string>(2).fill('POST /v1/transit/encrypt/lethe'),
    ]);
    for (const { headers } of vault.calls)
      expect(headers).toMatchObject({
        'x-vault-token': TOKEN,
        'x-vault-namespace': 'team',
        'x-vault-request': 'true',
        'content-type': 'application/json',
      });
  });

  it.each([
    [403, '{"errors":["permission denied"]}', 'Vault answers 403: permission denied'],
    [503, '{"errors":["Vault is sealed"]}', 'Vault answers 503: Vault is sealed'],
    [307, '', 'Vault answers 307'],
    [200, '{"data":{}}', 'the answer has no plaintext: it is not one of Vault'],
    [200, '<html>', 'the answer has no plaintext: it is not one of Vault'],
    [200, `{"data":"${'x'.repeat(70_000)}"}`, 'the answer is too large'],
  ])('says in one line what it was answered: %s, case %#', async (status, body, words) => {
    await wrapped(newKey());
    vault.instead = { status, body };
    const run = await script(['unwrap', 'transit/lethe', inFolder('wrapped')], client());
    expect(run).toMatchObject({ code: 1, stdout: '' });
    expect(run.stderr).toMatch(new RegExp(`^${words}.*\n$`));
    expect(run.stderr).not.toContain(TOKEN);
  });

  it('refuses what it cannot use before it sends anything', async () => {
    const faults: [string[], Record<string, string>, string, string][] = [
      [['unwrap', 'transit/lethe'], {}, '', 'wrap MOUNT/KEY'],
      [['unwrap', 'transit/lethe', '/none'], {}, '', 'the file /none cannot be read (ENOENT)'],
      [['wrap', 'lethe'], {}, newKey(), 'name the mount of the engine and its key'],
      [['wrap', 'transit/lethe'], {}, 'no key', 'give keys on standard input'],
      [['wrap', 'transit/lethe'], { VAULT_TOKEN_FILE: '' }, newKey(), 'set VAULT_TOKEN'],
      [['wrap', 'transit/lethe'], { VAULT_ADDR: 'http://10.0.0.1' }, newKey(), 'must begin with https://'],
      [
        ['wrap', 'transit/lethe'],
        { VAULT_ADDR: 'http://localhost:80@10.0.0.1' },
        newKey(),
        'must begin with https://',
      ],
      [['wrap', 'transit/lethe'], { VAULT_ADDR: 'vault' }, newKey(), 'must begin with https://'],
    ];
    for (const [args, more, stdin, words] of faults) {
      const run = await script(args, { ...client(), ...more }, stdin);
      expect([run.code, run.stdout, run.stderr]).toEqual([1, '', expect.stringContaining(words)]);
    }
    expect(vault.calls).toEqual([]);
    const away = await script(
      ['wrap', 'transit/lethe'],
      { ...client(), VAULT_ADDR: 'http://localhost:1' },
      newKey(),
    );
    expect(away.stderr).toBe('Vault at http://localhost:1 cannot be asked (ECONNREFUSED)\n');
  });

  it('trusts the authority of VAULT_CACERT, and sends nothing without it', async () => {
    const certificates = join(ROOT, 'test/support/certificates');
    const pem = readFileSync(join(certificates, 'right.pem'));
    const tls = createTlsServer(
      { key: pem, cert: pem },
      (request, response) => void vault.answer(request, response),
    );
    await new Promise<void>((listening) => tls.listen(0, '127.0.0.1', listening));
    const VAULT_ADDR = `https://localhost:${(tls.address() as AddressInfo).port}`;
    const key = newKey();
    const asked = (more: object) =>
      script(['wrap', 'transit/lethe'], { ...client(), VAULT_ADDR, ...more }, key);
    const strange = await asked({});
    expect([strange.code, strange.stderr]).toEqual([
      1,
      expect.stringMatching(/cannot be asked \(\w*(CERT|SIGNATURE)\w*\)/),
    ]);
    expect(vault.calls).toEqual([]);
    const known = await asked({ VAULT_CACERT: join(certificates, 'authority.pem') });
    expect(known).toMatchObject({ code: 0, stdout: expect.stringMatching(/^vault:v1:/) });
    await new Promise((closed) => tls.close(closed));
  });
});

describe('a process whose master key Vault unwraps', () => {
  it('starts, is served by a rotation, and tells its log neither key nor token', async () => {
    const [old, next] = [newKey(), newKey()];
    await wrapped(old);
    const environment = { ...client(), ...unwraps() };
    const service = await lethe.child(environment, lethe.log).start();
    const bot = await Bot.register(service.url);
    await bot.hasCategory('profile');
    const who = await bot.hasUser('kept');
    await service.end('SIGTERM');

    const before = readFileSync(inFolder('wrapped'), 'utf8');
    await wrapped(next);
    const after = readFileSync(inFolder('wrapped'), 'utf8');
    appendFileSync(inFolder('wrapped'), before);
    Object.assign(lethe.settings, environment);
    const run = await lethe.adminApart(['keys:rotate']);
    expect(run).toMatchObject({ code: 0, stdout: '' });
    expect(run.stderr).toContain('removed from the output of LETHE_MASTER_KEY_COMMAND');
    writeFileSync(inFolder('wrapped'), after);
    const then = await lethe.child({}, lethe.log).start();
    expect((await bot.at(then).export<{ data: object }>(who)).data.data).toEqual({
      profile: { value: 'kept' },
    });
    await then.end('SIGTERM');
    for (const secret of [old, next, TOKEN]) expect(lethe.logged + run.output).not.toContain(secret);
  });

  it('ends in words while Vault is sealed, and leaves no key file', async () => {
    await wrapped(newKey());
    vault.instead = { status: 503, body: '{"errors":["Vault is sealed"]}' };
    const { code, stderr } = await lethe.child({ ...client(), ...unwraps() }).refused();
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(
        /LETHE_MASTER_KEY_COMMAND: \S+ ended with the exit code 1: Vault answers 503: Vault is sealed\n$/,
      ),
    ]);
  });
});
