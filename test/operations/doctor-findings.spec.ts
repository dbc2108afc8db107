import fs, { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfig } from '@app/kernel';
import {
  circumstancesOf,
  type Circumstances,
  findingsOf,
  type Installation,
  NODE_END_OF_LIFE,
} from '@app/operations';

const NOW = '2026-11-23T12:00:00.000Z';
const LETHE_MASTER_KEY = Buffer.alloc(32, 'test').toString('base64');
const MADE = { made_at: '2026-11-22T12:00:00.000Z', directory: '/backups/a' };
const BACKED_UP = { data: MADE, keys: MADE, ledger: MADE, drill: { ...MADE, ok: true } };
const AHEAD = '2027-11-22T12:00:00.000Z';
const LATE = '2026-11-01T00:00:00.000Z';

const sound: Installation = {
  bytes: 1_000_000,
  bots: 1,
  suspendedBots: 0,
  subjects: 1,
  outbox: { waiting: 0, oldestDue: undefined, exhausted: 0, suspended: 0 },
  erasures: { processing: 0, oldest: undefined },
  logs: { unsealed: 0, oldestUnsealed: undefined, newest: MADE.made_at },
  backups: BACKED_UP,
  keepsFilesOfLog: false,
};

const settings = (more: Readonly<Record<string, string>> = {}) =>
  readConfig({
    ...{ DATABASE_URL: 'sqlite:/data/lethe.db', LETHE_MASTER_KEY, NODE_ENV: 'production' },
    ...{ PUBLIC_URL: 'https://gdpr.example.org' },
    ...more,
  });

const disk = (freeBytes: number, of: 'database' | 'keys' = 'database') => ({ of, freeBytes, bytes: 100e9 });

const healthy: Circumstances = {
  config: settings(),
  installation: sound,
  masterKeys: [{ keyId: 'a', role: 'present', texts: 9 }],
  nowMs: Date.parse(NOW),
  node: '24.1.0',
  keyFile: undefined,
  environmentMode: 0o600,
  disks: [disk(50e9)],
  deviceOf: (path) => (path.startsWith('/backups') ? 2 : 1),
};

const found = (change: Partial<Circumstances>): string[] =>
  findingsOf({ ...healthy, ...change }).map(({ id, level }) => `${level} ${id}`);
const inside = (change: Partial<Installation>): Partial<Circumstances> => ({
  installation: { ...sound, ...change },
});
const KEY = { path: '/data/lethe.db.key', mode: 0o600 };
const PUBLIC = { HOST: '0.0.0.0', TRUST_PROXY: '1', NODE_ENV: 'production', REGISTRATION: 'off' };
const METRICS_TOKEN = 'a'.repeat(40);

describe('the findings of doctor', () => {
  it('are none for a sound installation, also behind a proxy', () => {
    expect(found({})).toEqual([]);
    expect(found({ config: settings({ ...PUBLIC, METRICS_TOKEN }) })).toEqual([]);
  });

  const cases: readonly [string, string, Partial<Circumstances>][] = [
    ['no drill', 'warning drill_missing', inside({ backups: { ...BACKED_UP, drill: undefined } })],
    [
      'a drill that is 91 days old',
      'warning drill_missing',
      inside({
        backups: { ...BACKED_UP, drill: { ...MADE, made_at: '2026-08-20T12:00:00.000Z', ok: true } },
      }),
    ],
    [
      'a drill that failed',
      'fault drill_failed',
      inside({ backups: { ...BACKED_UP, drill: { ...MADE, ok: false } } }),
    ],
    ['no backup', 'fault backup_missing', inside({ backups: { ledger: MADE } })],
    [
      'no backup of a damaged database',
      'fault backup_missing',
      { installation: undefined, masterKeys: undefined, backups: {} },
    ],
    [
      'an old backup of the keys',
      'fault backup_missing',
      inside({ backups: { ...BACKED_UP, keys: { ...MADE, made_at: LATE } } }),
    ],
    [
      'a backup of the future',
      'fault backup_missing',
      inside({ backups: { ...BACKED_UP, data: { ...MADE, made_at: AHEAD } } }),
    ],
    [
      'an export of the ledger of the future',
      'warning ledger_not_exported',
      inside({ backups: { ...BACKED_UP, ledger: { ...MADE, made_at: AHEAD } } }),
    ],
    [
      'a drill of the future',
      'warning drill_missing',
      inside({ backups: { ...BACKED_UP, drill: { ...MADE, made_at: AHEAD, ok: true } } }),
    ],
    [
      'no export of the ledger',
      'warning ledger_not_exported',
      inside({ backups: { ...BACKED_UP, ledger: undefined } }),
    ],
    [
      'an old export of the ledger',
      'warning ledger_not_exported',
      inside({ backups: { ...BACKED_UP, ledger: { ...MADE, made_at: LATE } } }),
    ],
    [
      'a record of backups that cannot be read',
      'fault backup_record_unreadable',
      { ...inside({ backups: {} }), unreadableRecord: '/data/lethe.db.backups.json' },
    ],
    ['files of the log of PostgreSQL', 'warning wal_recycle', inside({ keepsFilesOfLog: true })],
    ['replaced files', 'warning replaced_left', { replaced: ['/data/lethe.db.replaced-20261101000000'] }],
    [
      'many keys that no user has',
      'warning orphan_keys',
      inside({ orphansKeptUntil: '2026-12-24T12:00:00.000Z' }),
    ],
    ['retired keys', 'warning retired_keys', { retiredKeys: '/data/lethe.db.key.retired' }],
    ['a backup on the same disk', 'warning backup_on_same_disk', { deviceOf: () => 1 }],
    ['a key file', 'warning key_file', { keyFile: KEY }],
    ['a key file that others read', 'fault key_file_readable', { keyFile: { ...KEY, mode: 0o640 } }],
    [
      'a backup beside the key file',
      'fault key_beside_backup',
      {
        ...inside({ backups: { ...BACKED_UP, data: { ...MADE, directory: '/data/b' } } }),
        keyFile: KEY,
      },
    ],
    [
      'a file of LETHE_MASTER_KEY_FILE that others read',
      'warning key_file_readable',
      { secretFile: { ...KEY, mode: 0o604 } },
    ],
    [
      'a backup beside the file of LETHE_MASTER_KEY_FILE',
      'fault key_beside_backup',
      {
        ...inside({ backups: { ...BACKED_UP, data: { ...MADE, directory: '/data/b' } } }),
        secretFile: KEY,
      },
    ],
    ['.env that others read', 'fault env_readable', { environmentMode: 0o644 }],
    ['a full disk', 'fault disk_full', { disks: [disk(1e6)] }],
    ['a nearly full disk', 'warning disk_low', { disks: [disk(1e9)] }],
    ['a full disk of the keys', 'fault disk_full', { disks: [disk(1e9), disk(1e6, 'keys')] }],
    [
      'a nearly full disk beside that of the keys',
      'warning disk_low',
      { disks: [disk(1e9), disk(40e9, 'keys')] },
    ],
    ['a disk small for the database', 'warning disk_low', { ...inside({ bytes: 200e9 }) }],
    ['an old Node.js', 'warning node_old', { node: '20.20.2' }],
    ['an odd Node.js', 'warning node_old', { node: '23.0.0' }],
    ['no HTTPS', 'warning no_https', { config: settings({ ...PUBLIC, METRICS_TOKEN, TRUST_PROXY: '0' }) }],
    [
      'webhooks over http',
      'warning webhooks_http',
      { config: settings({ ...PUBLIC, METRICS_TOKEN, NODE_ENV: 'development' }) },
    ],
    [
      'open registration',
      'fault registration_open',
      { config: settings({ ...PUBLIC, METRICS_TOKEN, REGISTRATION: 'open' }) },
    ],
    ['a local try', 'warning development', { config: settings({ NODE_ENV: 'development' }) }],
    ['no METRICS_TOKEN', 'warning metrics_token_missing', { config: settings(PUBLIC) }],
    ...['TRUST_PROXY=1', 'HOST=0.0.0.0', 'NODE_ENV=production'].map(
      (reached): [string, string, Partial<Circumstances>] => [
        `no PUBLIC_URL with ${reached}`,
        'warning public_url_missing',
        {
          config: settings({
            NODE_ENV: 'development',
            PUBLIC_URL: '',
            ...Object.fromEntries([reached.split('=')]),
          }),
        },
      ],
    ),
    [
      'an event of the future',
      'fault clock_behind',
      inside({ logs: { ...sound.logs, newest: '2026-11-24T12:00:00.000Z' } }),
    ],
    [
      'a missing master key',
      'fault master_key_missing',
      { masterKeys: [{ keyId: 'b', role: 'missing', texts: 1 }] },
    ],
    [
      'an unused master key',
      'warning master_key_unused',
      { masterKeys: [{ keyId: 'b', role: 'older', texts: 0 }] },
    ],
    [
      'an unfinished erasure',
      'fault erasure_unfinished',
      inside({ erasures: { processing: 1, oldest: LATE } }),
    ],
    [
      'unsealed events',
      'fault log_unsealed',
      inside({ logs: { ...sound.logs, unsealed: 1, oldestUnsealed: LATE } }),
    ],
    ['late webhook calls', 'warning webhooks_late', inside({ outbox: { ...sound.outbox, oldestDue: LATE } })],
    [
      'exhausted webhook calls',
      'warning webhooks_exhausted',
      inside({ outbox: { ...sound.outbox, exhausted: 1 } }),
    ],
    [
      'suspended bots with calls',
      'warning suspended_waiting',
      inside({ outbox: { ...sound.outbox, suspended: 1 } }),
    ],
  ];
  it.each(cases)('name %s', (_, finding, change) => {
    expect(found(change)).toContain(finding);
  });

  it('say for each what mends it, faults first', () => {
    const all = findingsOf({
      ...healthy,
      ...inside({ backups: {}, erasures: { processing: 1, oldest: LATE } }),
      keyFile: KEY,
      node: '20.0.0',
    });
    for (const { mend, says } of all)
      expect([says, mend]).toEqual([expect.stringMatching(/\.$/), expect.stringMatching(/\S{3}/)]);
    const levels = all.map(({ level }) => level);
    expect(levels).toEqual([...levels].sort());
  });

  it('take no export of the ledger for a backup in the folder of the key file', () => {
    const ledger = { ...MADE, directory: '/data/ledger' };
    expect(found({ ...inside({ backups: { ...BACKED_UP, ledger } }), keyFile: KEY })).toEqual([
      'warning key_file',
    ]);
  });

  it('say that the key file is on the disk of the database only where the database is a file', () => {
    const said = (config: Circumstances['config']): readonly string[] =>
      findingsOf({ ...healthy, keyFile: KEY, config }).map(({ says }) => says);
    expect(said(settings())).toEqual([
      'The master key is in /data/lethe.db.key, on the disk of the database.',
    ]);
    expect(said(settings({ DATABASE_URL: 'postgres://db/lethe' }))).toEqual([
      'The master key is in /data/lethe.db.key.',
    ]);
  });

  it('look at the disk to which a link of keys.db leads, too', () => {
    const folders = ['data', 'keys'].map((name) => mkdtempSync(join(tmpdir(), `lethe-test-${name}-`)));
    const [data = '', keys = ''] = folders;
    try {
      writeFileSync(join(keys, 'keys.db'), '');
      symlinkSync(join(keys, 'keys.db'), join(data, 'keys.db'));
      const { statSync } = fs;
      jest
        .spyOn(fs, 'statSync')
        .mockImplementation(((path: string) =>
          folders.includes(path) ? { dev: folders.indexOf(path) } : statSync(path)) as typeof statSync);
      jest
        .spyOn(fs, 'statfsSync')
        .mockImplementation(
          (path) => ({ bsize: 4_096, blocks: 1e8, bavail: path === keys ? 9 : 1e8 }) as fs.StatsFs,
        );
      const config = settings({ DATABASE_URL: `sqlite:${join(data, 'lethe.db')}` });
      const { disks } = circumstancesOf(config, { installation: undefined, masterKeys: undefined });
      expect(disks.map(({ of, freeBytes }) => [of, freeBytes])).toEqual([
        ['database', 4_096e8],
        ['keys', 9 * 4_096],
      ]);
      expect(found({ disks })).toEqual(['fault disk_full']);
    } finally {
      jest.restoreAllMocks();
      for (const folder of folders) rmSync(folder, { recursive: true });
    }
  });

  it('leave a file of LETHE_MASTER_KEY_FILE to its group, as a secret of Kubernetes', () => {
    expect(found({ secretFile: { ...KEY, mode: 0o440 } })).toEqual([]);
  });

  it('name the place of the master keys, and the rotation that removes them from a key file', () => {
    const mends = (change: Partial<Circumstances>, ...keys: NonNullable<Circumstances['masterKeys']>) =>
      findingsOf({ ...healthy, ...change, masterKeys: keys })
        .filter(({ id }) => id.startsWith('master_key_'))
        .map(({ mend }) => mend);
    const unused = { keyId: 'a', role: 'older', texts: 0 } as const;
    const missing = { keyId: 'b', role: 'missing', texts: 1 } as const;
    // The new key may be behind the old one, by mistake or as the first step of a rotation of several processes.
    const first = expect.stringMatching(
      /^If a rotation to one of them has begun, go on with it: put it first in LETHE_MASTER_KEY, .*keys:rotate.* Else remove them from LETHE_MASTER_KEY, and keep them elsewhere as long as older backups\.$/,
    );
    expect(mends({}, unused, missing)).toEqual([
      'Add them to LETHE_MASTER_KEY behind the present key.',
      first,
    ]);
    const onFile = { keyFile: KEY, config: settings({ LETHE_MASTER_KEY: '' }) };
    expect(mends(onFile, missing)).toEqual([
      'Add them to the key file /data/lethe.db.key behind the present key.',
    ]);
    expect(mends(onFile, unused)).toEqual([
      expect.stringMatching(/ keys:rotate again: it was interrupted, .* \/data\/lethe\.db\.key\.$/),
    ]);
    expect(mends({ config: settings({ DATABASE_URL: 'postgres://db/lethe' }) }, unused)).toEqual([first]);
    // One that is kept for a damaged text interrupts nothing.
    expect(mends(onFile, unused, { keyId: 'c', role: 'older', texts: 1 })).toEqual([
      expect.stringMatching(/ keys:rotate when no damaged text is left .* \/data\/lethe\.db\.key\.$/),
    ]);
  });

  it('have a form for one and a form for several', () => {
    const said = (count: number): readonly string[] =>
      findingsOf({
        ...healthy,
        ...inside({ outbox: { ...sound.outbox, exhausted: count, suspended: count } }),
      }).map(({ says }) => says);
    expect(said(1)).toEqual(['1 webhook call was given up.', '1 suspended bot has waiting webhook calls.']);
    expect(said(2)).toEqual([
      '2 webhook calls were given up.',
      '2 suspended bots have waiting webhook calls.',
    ]);
  });

  it('know backups of SQLite only, and an empty installation needs none', () => {
    expect(found(inside({ backups: undefined }))).toEqual([]);
    expect(found(inside({ backups: {}, bots: 0 }))).toEqual([]);
  });

  it('do not say that there is no backup where the record cannot be read', () => {
    const unreadableRecord = '/data/lethe.db.backups.json';
    expect(found({ ...inside({ backups: {} }), unreadableRecord })).toEqual([
      'fault backup_record_unreadable',
    ]);
  });

  it('know the end of life of every even release line of Node.js', () => {
    expect(Object.keys(NODE_END_OF_LIFE).every((line) => Number(line) % 2 === 0)).toBe(true);
  });
});
