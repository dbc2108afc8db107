import fs from 'node:fs';
import { type ConfigError, loadConfig, readConfig } from './config';
import { SETTINGS } from './settings';
import { settingsIn } from './settings-file';

/** What is in the environment of a process, or in a `.env` that a bot shares. */
const OF_OTHER_PROGRAMS = [
  'PATH PWD OLDPWD HOME USER SHELL TERM LANG LC_ALL TZ TMPDIR EDITOR MAIL SHLVL _ HOSTNAME HOSTTYPE LOGNAME',
  'POST SORT PORTS HOSTS PART FORT COST MOST BOTS PORT_2 HTTP_PORT HTTPS_PORT JOB JOB_ID HTTP_PROXY NO_PROXY',
  'ComSpec Path PATHEXT OS APPDATA SYSTEMROOT TEMP windir npm_config_loglevel npm_package_name INIT_CWD',
  'NODE NODE_PATH NODE_OPTIONS NODE_VERSION NODE_DEBUG NODE_NO_WARNINGS NODE_EXTRA_CA_CERTS NODE_APP_INSTANCE',
  'CI GITHUB_TOKEN GITHUB_ENV GITHUB_ACTIONS RUNNER_OS CI_JOB_ID GITLAB_CI DOCKER_HOST COMPOSE_PROJECT_NAME',
  // Of systemd, and of Kubernetes beside Services with these names.
  'INVOCATION_ID JOURNAL_STREAM NOTIFY_SOCKET LISTEN_FDS CREDENTIALS_DIRECTORY STATE_DIRECTORY MAINPID',
  'KUBERNETES_SERVICE_HOST KUBERNETES_PORT KUBERNETES_PORT_443_TCP_ADDR REDIS_PORT REDIS_PORT_6379_TCP REDIS_SERVICE_HOST',
  'WORKER_SERVICE_HOST WORKER_PORT_80_TCP',
  'TOKEN BOT_TOKEN DISCORD_TOKEN CLIENT_ID CLIENT_SECRET GUILD_ID OWNER_ID PREFIX OPENAI_API_KEY SENTRY_DSN',
  'DATABASE DATABASE_URL_UNPOOLED DATABASE_CONNECTION_POOL_URL DB_URL DB_HOST PGHOST POSTGRES_PASSWORD MONGO_URI',
  'REDIS REDIS_HOST REDIS_USER REDIS_PASSWORD REDIS_TLS_URL PUBLIC_KEY PUBLIC_UI PUBLIC_API_URL PUBLISH_URL BASE_URL',
  'WEBHOOK_URL WEBHOOK_ID WEBHOOK_TOKEN WEBHOOK_SECRET WEBHOOK_PORT host port log.level redis_uri',
  'LOG LOGLEVEL LOGFORMAT LOG_FILE LOG_DIR LOG_COLOR LOG_TO_FILE DEBUG READ_TIMEOUT_MS',
  'API_KEY API_KEYS API_KEY_OPENAI API_KEY_ID API_KEY_NAME KEEP_ALIVE KEEP_ALIVE_SECONDS RENDER_TIMEOUT_MS',
  'WORKER_CONCURRENCY WORKER_HOST WORKER_POOL WORKER_PORT_2 BROKER_PORT DOCKER_PORT WORKERS JWT_SECRET SESSION_SECRET',
  'OTEL_SDK_DISABLED OTEL_RESOURCE_ATTRIBUTES OTEL_TRACES_EXPORTER OTEL_METRICS_EXPORTER OTEL_LOG_LEVEL',
  'OTEL_METRIC_EXPORT_TIMEOUT OTEL_EXPORTER_OTLP_TIMEOUT OTEL_EXPORTER_OTLP_TRACES_ENDPOINT OTEL_EXPORTER_OTLP_METRICS_HEADERS',
];

describe('readConfig', () => {
  const SETTING_NAMES = Object.values(SETTINGS).map((setting): string => setting.name);
  /** What the start says to the name of one variable; undefined if it takes it. */
  const refusal = (name: string): string | undefined => {
    try {
      return void readConfig({ [name]: 'x' });
    } catch (error) {
      return (error as ConfigError).faults.join();
    }
  };

  it('refuses every typing error in a name, a letter more, less or other or two exchanged, but in the shortest names', () => {
    const errors = (name: string): readonly string[] =>
      [...name].flatMap((letter, at) => {
        const [before, behind] = [name.slice(0, at), name.slice(at + 1)];
        const other = letter === 'X' ? 'Y' : 'X';
        const exchanged = behind === '' ? [] : [`${before}${behind[0]}${letter}${behind.slice(1)}`];
        return [before + behind, before + other + behind, `${before}${letter}X${behind}`, ...exchanged];
      });
    const misspelt = SETTING_NAMES.filter((name) => name.length >= 6)
      .flatMap(errors)
      .filter((name) => !SETTING_NAMES.includes(name));
    const passes = misspelt.filter((name) => refusal(name)?.startsWith(`${name} is not a setting`) !== true);
    // LOGLEVEL and LOGFORMAT are of other programs.
    expect(passes).toEqual(['LOGLEVEL', 'LOGFORMAT']);
  });

  it.each([
    ...[
      ['REGISTRATON', 'REGISTRATION'],
      ['REGISTATION', 'REGISTRATION'],
      ['REGISRATON', 'REGISTRATION'],
    ],
    ...[
      ['PROT', 'PORT'],
      ['HSOT', 'HOST'],
      ['JBOS', 'JOBS'],
      ['NODE_EVN', 'NODE_ENV'],
    ],
    ...[
      ['PUBLC_URL', 'PUBLIC_URL'],
      ['PUBLIC_URI', 'PUBLIC_URL'],
      ['PUBILC_ULR', 'PUBLIC_URL'],
    ],
    ...[
      ['DATABSE_URL', 'DATABASE_URL'],
      ['DATABASEURL', 'DATABASE_URL'],
      ['DATABASE__URL', 'DATABASE_URL'],
    ],
    ...[
      ['TRUST_PROXI', 'TRUST_PROXY'],
      ['registration', 'REGISTRATION'],
      ['METRIC_TOKEN', 'METRICS_TOKEN'],
      ['REDIS_URI', 'REDIS_URL'],
    ],
    ...[
      ['MASTER_KEY', 'LETHE_MASTER_KEY'],
      ['MASTERKEY', 'LETHE_MASTER_KEY'],
      ['MASTER_KEYFILE', 'LETHE_MASTER_KEY_FILE'],
      ['MASTER_KEY_FILE', 'LETHE_MASTER_KEY_FILE'],
    ],
    ...[
      ['LETHE_MASTERKEY', 'LETHE_MASTER_KEY'],
      ['LEHTE_MASTER_KEY', 'LETHE_MASTER_KEY'],
    ],
    ...[
      ['WORKER_PORTS', 'WORKER_PORT'],
      ['WORKER_PROT', 'WORKER_PORT'],
      ['WORKERPORT', 'WORKER_PORT'],
    ],
    ...[
      ['API_KEY_KNID', 'API_KEY_KIND'],
      ['API_KEYS_KIND', 'API_KEY_KIND'],
      ['LOG_LEVELS', 'LOG_LEVEL'],
    ],
    ...[
      ['KEEP_ALIVE_TIMEOUT', 'KEEP_ALIVE_TIMEOUT_MS'],
      ['KEEP_ALIVE_TIMEOUT_S', 'KEEP_ALIVE_TIMEOUT_MS'],
    ],
    ...[
      ['KEEPALIVE_TIMEOUT_MS', 'KEEP_ALIVE_TIMEOUT_MS'],
      ['OTEL_SERVICENAME', 'OTEL_SERVICE_NAME'],
    ],
  ] as [string, string][])('refuses %s and asks for %s', (name, meant) => {
    expect(refusal(name)).toContain(`${name} is not a setting of Lethe (did you mean ${meant}?);`);
  });

  it.each(['LETHE_PORT', 'DATABASE_HOST', 'METRICS_ENABLED', 'ALLOWED_ORIGIN', 'BACKUP_DIR', 'WEBHOOK_URLS'])(
    'refuses %s, which begins as settings do',
    (name) => expect(refusal(name)).toMatch(new RegExp(`^${name} is not a setting of Lethe; `)),
  );

  it('leaves the variables of other programs alone', () => {
    const names = OF_OTHER_PROGRAMS.flatMap((line) => line.split(' '));
    expect(names.filter((name) => refusal(name) !== undefined)).toEqual([]);
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

describe('loadConfig', () => {
  afterEach(() => jest.restoreAllMocks());
  const loaded = (environment: Record<string, string>) => {
    const file = 'REGISTRATION=off\nPORT=4000\nOPERATOR_TOKEN=of-the-file-0123456789\n';
    jest.spyOn(fs, 'readFileSync').mockReturnValueOnce(Buffer.from(file));
    jest.replaceProperty(process, 'env', environment);
    return loadConfig();
  };

  it('takes a variable before its line in the file, and the line where the variable is empty', () => {
    expect(loaded({ REGISTRATION: '', PORT: '5000' })).toMatchObject({
      ...{ registration: 'off', port: 5000, operatorToken: 'of-the-file-0123456789' },
    });
  });

  it('refuses the name of an empty variable that is no setting', () => {
    expect(() => loaded({ REGISTRATON: '' })).toThrow('did you mean REGISTRATION?');
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
