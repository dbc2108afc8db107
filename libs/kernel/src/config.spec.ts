import { type ConfigError, readConfig } from './config';
import { SETTINGS } from './settings';
import { settingsIn } from './settings-file';

describe('readConfig', () => {
  it('refuses a name that looks like a setting and is none', () => {
    expect(() => readConfig({ LETHE_MASTERKEY: 'x' })).toThrow('LETHE_MASTERKEY is not a setting of Lethe');
  });

  it('refuses every misspelt setting but those that begin like variables of other programs', () => {
    const passes = (name: string): boolean => {
      try {
        return readConfig({ [name]: 'x' }) !== undefined;
      } catch (error) {
        expect(String(error)).toContain(`${name} is not a setting of Lethe`);
        return false;
      }
    };
    const names = Object.values(SETTINGS).map((setting): string => setting.name);
    expect(names.filter((name) => passes(`${name}X`))).toEqual([
      ...['NODE_ENV', 'HOST', 'PUBLIC_URL', 'PORT', 'JOBS'],
      // REDIS_PASSWORD is in compose.env.example, and Kubernetes sets REDIS_PORT and others beside a Service of this name.
      'REDIS_URL',
      // Their names are those of OpenTelemetry, which has many more.
      ...names.filter((name) => name.startsWith('OTEL_')),
      ...['LOG_LEVEL', 'LOG_FORMAT'],
    ]);
  });

  it.each([
    ...['WORKER_PORTS', 'WORKER_PROT', 'WORKERPORT', 'API_KEY_KNID', 'API_KEYS_KIND'],
    ...['KEEP_ALIVE_TIMEOUT', 'KEEP_ALIVE_TIMEOUT_S', 'KEEPALIVE_TIMEOUT_MS'],
  ])('refuses %s, which nearly is a setting', (name) => {
    expect(() => readConfig({ [name]: '1' })).toThrow(`${name} is not a setting of Lethe`);
  });

  it.each([
    ...['API_KEY', 'API_KEY_OPENAI', 'API_KEY_ID', 'OPENAI_API_KEY', 'KEEP_ALIVE', 'KEEP_ALIVE_SECONDS'],
    // Kubernetes sets these beside a Service of the name worker.
    ...['WORKER_SERVICE_HOST', 'WORKER_PORT_80_TCP', 'WORKER_CONCURRENCY', 'WORKER_HOST'],
  ])('leaves %s of another program alone', (name) => {
    expect(readConfig({ [name]: 'x' })).toEqual(readConfig({}));
  });

  it('leaves the settings of a bot alone, which lethe init writes into the same .env', () => {
    const ofBot = {
      LETHE_URL: 'http://127.0.0.1:3000',
      LETHE_BOT_ID: '0198c0de-0000-7000-8000-000000000001',
      LETHE_KEY: 'sk_live_x',
      LETHE_WEBHOOK_SECRET: 'whsec_x',
    };
    expect(readConfig(ofBot)).toEqual(readConfig({}));
  });

  it('refuses the server behind a pooler on SQLite, and one that is no PostgreSQL', () => {
    const direct = (DATABASE_DIRECT_URL: string, DATABASE_URL: string) => () =>
      readConfig({ DATABASE_DIRECT_URL, DATABASE_URL });
    expect(direct('postgres://a@b/c', 'sqlite:x.db')).toThrow(
      'DATABASE_DIRECT_URL must be empty with SQLite',
    );
    expect(direct('mysql://secret@b/c', 'postgres://a@b/c')).toThrow(
      /^(?!.*secret)[^]*DATABASE_DIRECT_URL must be postgres:/,
    );
    expect(direct('postgres://a:5%secret@b/c', 'postgres://a:5%secret@p/c')).toThrow(
      /^(?!.*secret)[^]*DATABASE_URL must be[^]*DATABASE_DIRECT_URL must be postgres:/,
    );
    expect(direct('postgres://a@b/c', 'postgres://a@p/c')().databaseDirectUrl).toBe('postgres://a@b/c');
  });

  it('refuses a list of PostgreSQL hosts, and takes a comma elsewhere', () => {
    const database = (url: string) => () => readConfig({ DATABASE_URL: url }).database;
    for (const hosts of ['one,two', 'one:5432,two:5433', 'one,two:5432'])
      for (const user of ['', 'a@', 'a:secret@'])
        expect(database(`postgres://${user}${hosts}/c?target_session_attrs=read-write`)).toThrow(
          /^(?!.*secret)[^]*DATABASE_URL must be .* with one HOST: give the address that leads to the primary/,
        );
    for (const url of ['postgres://a:5,6@b/c', 'postgres://a@b/c,d?options=x,y', 'postgres://a@b'])
      expect(database(url)()).toMatchObject({ url });
  });

  it('names every fault in one run: of values, of names, of settings together, and of the place of the master key', () => {
    const faults = (known: readonly string[] = []): readonly string[] => {
      try {
        readConfig(
          {
            ...{ PORT: 'x', LETHE_MASTERKEY: 'y', JOBS: 'off', REGISTRATION: 'token' },
            ...{ RATE_LIMIT_TIERS: 'x', RATE_LIMIT_BOT_TIERS: '123456789012345678=high' },
            LETHE_MASTER_KEY_FILE: '/nowhere/key',
          },
          known,
        );
        return [];
      } catch (error) {
        return (error as ConfigError).faults;
      }
    };
    const values = ['PORT must be', 'RATE_LIMIT_TIERS must be', 'LETHE_MASTERKEY is not a setting'];
    const together = ['JOBS must be on with SQLite', 'REGISTRATION_TOKEN must be set'];
    const place = 'LETHE_MASTER_KEY_FILE, /nowhere/key, cannot be read';
    const saying = (parts: readonly string[]): unknown[] =>
      parts.map((part) => expect.stringContaining(part) as unknown);
    expect(faults()).toEqual(saying([...values, ...together, place]));
    // The line may be the one that sets REGISTRATION_TOKEN.
    const line = '.env, line 3 is not understood';
    expect(faults([line])).toEqual(saying([line, ...values, place]));
  });

  it('refuses a LETHE_KEY that is no API key: it may be meant as LETHE_MASTER_KEY', () => {
    const masterKey = Buffer.alloc(32).toString('base64');
    expect(() => readConfig({ LETHE_KEY: masterKey })).toThrow('LETHE_KEY is not a setting of Lethe');
  });
});

describe('a file of settings', () => {
  const read = (text: string | Buffer) =>
    settingsIn(Buffer.from(text as string), '.env', (name) => ['REGISTRATION', 'PORT'].includes(name));

  it.each<[string, Record<string, string>]>([
    ['\uFEFFREGISTRATION=off\r\nPORT=1', { REGISTRATION: 'off', PORT: '1' }],
    ['\n# words\n  export PORT = 1 # behind\n\tREGISTRATION=\n', { PORT: '1', REGISTRATION: '' }],
    ['A="two\nlines \\n #"\nB=\'one\'# behind\nC=`"`', { A: 'two\nlines \n #', B: 'one', C: '"' }],
    ['PORT=1\nPORT=2 \nother=a#b\na.b-c==', { PORT: '2', other: 'a', 'a.b-c': '=' }],
    ['', {}],
  ])('reads %j', (text, values) => {
    expect(read(text)).toEqual({ values, faults: [] });
  });

  it.each([
    ['set REGISTRATION=off', 'is not understood: write NAME=value'],
    ['$env:REGISTRATION = "off"', 'is not understood: write NAME=value'],
    ['REGISTRATION off', 'is not understood: write NAME=value'],
    ['REGISTRATION: off', 'is not understood: write NAME=value'],
    ['REGISTRATION="off', 'is not understood: write NAME=value'],
    ['REGISTRATION="off" token', 'is not understood: write NAME=value'],
    ['registration=off', 'names registration, which is written in capitals: REGISTRATION'],
    ['PORT=1#2', 'has a # in the value of PORT: put the value in quotes'],
  ])('refuses %j with its line and the remedy, and without its value', (line, fault) => {
    const { faults } = read(`A=1\n# words\n${line}\nPORT=1\n`);
    expect(faults).toEqual([expect.stringContaining(`.env, line 3 ${fault}`)]);
    expect(faults.join()).not.toContain('off');
  });

  it.each([
    Buffer.from('\uFEFFREGISTRATION=off', 'utf16le'),
    Buffer.from('REGISTRATION=off', 'utf16le'),
    Buffer.from('\uFEFFREGISTRATION=off', 'utf16le').swap16(),
    Buffer.from('REGISTRATION=\xe9', 'latin1'),
  ])('refuses what is no UTF-8: %#', (bytes) => {
    expect(read(bytes)).toEqual({ values: {}, faults: [expect.stringContaining('save as UTF-8')] });
  });
});
