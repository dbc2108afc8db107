import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { DigestKey, EncryptionKey, InstallationKeys, Keyring, merkleRoot, Signer } from '@app/crypto';
import type { SqlValue } from '@app/database';
import { SystemClock, SystemRandom } from '@app/kernel';
import {
  type AuditProof,
  type KeySet,
  verifyAuditExport,
  verifyAuditProof,
  verifyCertificate,
  verifyFinalCertificate,
} from '@lethe/sdk/evidence';
import type { Bot } from '../support/bot';
import { newDatabase, type TestDatabase } from '../support/database';
import { expectFailure } from '../support/expected';
import { HolderKey } from '../support/final-certificates';
import { adminHere } from '../support/here';
import { exported, seal } from '../support/sealing';
import { Service } from '../support/service';
import { subject } from '../support/snowflakes';

/**
 * What an older Lethe has stored is read for years, so a format changes only together with its mark. The file holds the
 * formats of each release, and with `release` null those of the present code. CONTRIBUTING.md has the command that makes
 * the latter anew; it leaves the former as they are.
 */
const FILE = join(__dirname, 'stored-formats.json');

interface Stored {
  readonly texts: readonly Text[];
  readonly installations: readonly Installation[];
}

/** A text as the code of a release makes it. */
interface Text {
  readonly release: string | null;
  readonly format: string;
  readonly mark: string;
  readonly stored: string;
}

interface Format {
  /** Tells the stored texts of this format from those of another one. */
  readonly mark: string;
  readonly make: () => string;
  /** Opens a text of any mark to {@link PLAIN}. Formats that are only compared have none. */
  readonly open?: (stored: string) => string;
}

const [PLAIN, CONTEXT, BOT] = ['{"text":"ä"}', 'table/bot/1/2', '01a2032b-a7bf-74df-a176-9cd5d249283f'];
const bytes = (length: number, value: number): Buffer => Buffer.alloc(length, value);
const random = Object.assign(new SystemRandom(new SystemClock()), {
  bytes: (length: number) => bytes(length, 5),
});
const keyring = new Keyring([bytes(32, 1)], random);
const key = EncryptionKey.of('key-of-tests', bytes(32, 2));
const digest = new DigestKey(bytes(32, 3)).of(BOT, 'user', '123456789012345678');

const FORMATS: Readonly<Record<string, Format>> = {
  'text under the master key': {
    mark: 'v2',
    make: () => keyring.encrypt(PLAIN, CONTEXT),
    open: (stored) => keyring.decrypt(stored, CONTEXT),
  },
  'text under a subject key': {
    mark: 's2',
    make: () => key.encrypt(PLAIN, CONTEXT, bytes(12, 4)),
    open: (stored) => key.decrypt(stored, CONTEXT),
  },
  'salts of a subject key': {
    mark: 's1',
    make: () => Buffer.concat(Object.values(key.salts(CONTEXT))).toString('base64url'),
  },
  'digest of an id': { mark: 'v1', make: () => digest },
  'root of a batch': {
    mark: 'lethe-audit-checkpoint+jwt',
    make: () => merkleRoot([1, 2, 3].map((value) => bytes(32, value))).toString('base64url'),
  },
};

const made = (): Text[] =>
  Object.entries(FORMATS).map(([format, { mark, make }]) => ({
    release: null,
    format,
    mark,
    stored: make(),
  }));

/** A stored row by its columns. */
type Row = Readonly<Record<string, SqlValue>>;

/** What a whole service makes, with the rows by which it opens its keys. */
interface Installation {
  readonly release: string | null;
  readonly masterKey: string;
  readonly serviceKeys: readonly Readonly<Record<string, string | null>>[];
  readonly id: string;
  readonly digestKey: string;
  readonly jws: string;
  readonly keySet: KeySet;
  readonly certificate: string;
  readonly certified: Readonly<Record<'salt' | 'botId' | 'userId' | 'guildId', string>>;
  /** Not in 0.0. */
  readonly finalCertificate?: string;
  /** The answer of a holder, with its seal. Not in 0.0. */
  readonly answer?: Row;
  readonly proof: AuditProof;
  readonly log: readonly string[];
  readonly ledger: readonly string[];
  readonly manifest: string;
}

const MASTER_KEY = bytes(32, 6).toString('base64');
const COLUMNS = ['name', 'id', 'sealed', 'public_part', 'created_at', 'retired_at'];
const [TYPE, PAYLOAD] = ['lethe-test+jwt', { text: 'ä' }];

/** A service in this process, and its commands. */
class Place {
  readonly service: Service;

  private constructor(
    private readonly masterKey: string,
    readonly database: TestDatabase,
    private readonly directory: string,
  ) {
    this.service = new Service(this.settings, database, directory);
  }

  static async at(masterKey: string): Promise<Place> {
    const directory = mkdtempSync(join(tmpdir(), 'lethe-test-'));
    return new Place(masterKey, await newDatabase(directory), directory);
  }

  async admin(...args: string[]): Promise<void> {
    const { code, output } = await adminHere(args, this.settings);
    expect([code, output]).toEqual([0, expect.any(String)]);
  }

  file = (...names: string[]): string => join(this.directory, ...names);

  insert(table: string, row: Row): Promise<void> {
    const names = Object.keys(row);
    const sql = `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`;
    return this.database.run(sql, ...Object.values(row));
  }

  read = (...names: string[]): string => readFileSync(this.file(...names), 'utf8');

  private get settings(): Record<string, string> {
    return { DATABASE_URL: this.database.url, LETHE_MASTER_KEY: this.masterKey };
  }
}

async function keySetOf({ url }: Service): Promise<KeySet> {
  return (await (await fetch(`${url}/.well-known/lethe-keys.json`)).json()) as KeySet;
}

/** A manifest without what differs between two backups. */
function masked(manifest: string): string {
  return manifest.replace(/("made_at"|"bytes"|"sha256"): [^,\n]+/g, '$1: null');
}

/** A line of a ledger without its MAC, which depends on the time of the export, and without its place, which older ones have. */
function withoutMac(line: string): string {
  return line.replace(/,"mac":"[^"]+"/, '').replace(/,"place":\d+,"chain":"\w+"/, '');
}

/** Declares a holder, and answers its task for an erasure with a statement. */
class AnsweringHolder {
  private readonly key = new HolderKey();

  constructor(private readonly bot: Bot) {}

  async declare(): Promise<void> {
    const labels = { label_de: 'Datenbank', label_en: 'Database' };
    const given = { key: 'database', kind: 'pull', covers: ['levels'], ...labels };
    await this.bot.post('/holders', { ...given, public_key: this.key.publicKey });
  }

  async answer(id: string): Promise<void> {
    const answer = { result: 'erased', counts: { levels: 2 } };
    const about = { bot_id: this.bot.id, holder: 'database', task_id: id, kept: null };
    const statement = this.key.signs({ ...about, ...answer, at: '2026-11-20T12:00:00Z' });
    await this.bot.post(`/holders/database/tasks/${id}/acknowledge`, { ...answer, statement });
  }
}

async function madeByService(): Promise<Installation> {
  const place = await Place.at(MASTER_KEY);
  const service = await place.service.start();
  const bot = await service.registerBot();
  const [gone, stays] = [subject(), subject()];
  const event = (who: object) =>
    bot.post<{ id: string }>('/audit/event', { ...who, event_type: 'data_deleted', details: { text: 'ä' } });
  await event(gone);
  const { id } = (await event(stays)).data;
  const holder = new AnsweringHolder(bot);
  await holder.declare();
  const erasure = await bot.post<Record<string, string>>('/gdpr/forget-user', gone);
  const { request_id: request = '', certificate_salt: salt = '' } = erasure.data;
  await holder.answer(request);
  await seal(service, bot);
  const signed = async (kind: string) =>
    (await bot.get<{ certificate: string }>(`/gdpr/forget-status/${request}/${kind}`)).data.certificate;
  const answers = {
    certificate: await signed('certificate'),
    finalCertificate: await signed('final-certificate'),
    proof: (await bot.get<AuditProof & Record<string, unknown>>(`/audit/proof/${id}`)).data,
    log: await exported(bot),
    keySet: await keySetOf(service),
    jws: await service.app.get(Signer).sign(PAYLOAD, TYPE),
    digestKey: service.app.get(InstallationKeys).digest.toString('base64url'),
    answer: (await place.database.rows<Row>('SELECT * FROM holder_tasks'))[0],
  };
  await service.app.close();
  await place.admin('ledger:export', '--out', place.file('ledger'));
  await place.admin('backup', '--to', place.file('backup'));
  const [installation] = await place.database.rows<{ id: string }>('SELECT id FROM installation');
  const found: Installation = {
    ...{ release: null, masterKey: MASTER_KEY, id: installation?.id ?? '' },
    serviceKeys: await place.database.rows(`SELECT ${COLUMNS.join(', ')} FROM keys.service_keys`),
    certified: { salt, botId: bot.id, userId: gone.user_id, guildId: gone.guild_id },
    ...answers,
    ledger: place.read('ledger').trimEnd().split('\n'),
    manifest: place.read('backup', 'manifest.json'),
  };
  await service.remove();
  return found;
}

/** A database with the keys of an installation, before its first start. */
async function placeOf({ masterKey, serviceKeys, id }: Installation): Promise<Place> {
  const place = await Place.at(masterKey);
  await place.admin('db:migrate');
  for (const row of serviceKeys) await place.insert('keys.service_keys', row);
  await place.insert('installation', { id });
  return place;
}

/** Makes the only bot of a place the one of an installation, with its completed erasure. */
async function erasureOf({ certified: { botId }, certificate }: Installation, place: Place): Promise<void> {
  const [bot] = await place.database.rows<Row>('SELECT * FROM bots');
  await place.insert('bots', { ...bot, id: botId, platform_bot_id: subject().user_id });
  await place.database.run('UPDATE api_keys SET bot_id = ?', botId);
  const [, payload = ''] = certificate.split('.');
  const stated = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Readonly<Record<string, string>>;
  await place.insert('deletion_requests', {
    ...{ bot_id: botId, id: stated['request_id'] ?? '', guild_id: digest, user_id: digest },
    ...{ status: 'completed', webhook_sent: 0, certificate },
    subject_commitment: stated['subject_commitment'] ?? '',
    created_at: stated['requested_at'] ?? '',
    completed_at: stated['completed_at'] ?? '',
  });
}

let stored: Stored;

beforeAll(async () => {
  const read = (): Stored => JSON.parse(readFileSync(FILE, 'utf8')) as Stored;
  if (process.env['TEST_FORMATS'] === 'write') {
    const { texts, installations } = read();
    const kept = <One extends { readonly release: string | null }>(all: readonly One[]) =>
      all.filter(({ release }) => release !== null);
    const next: Stored = {
      texts: [...kept(texts), ...made()],
      installations: [...kept(installations), await madeByService()],
    };
    writeFileSync(FILE, `${JSON.stringify(next, null, 2)}\n`);
  }
  stored = read();
});

describe('a stored format', () => {
  it.each(Object.entries(FORMATS))('%s is made as before under the same mark', (format, { mark, make }) => {
    const same = stored.texts.filter((text) => text.format === format && text.mark === mark);
    expect(same.length).toBeGreaterThan(0);
    for (const text of same) expect(make()).toBe(text.stored);
  });

  it('carries its mark', () => {
    for (const { format, mark, stored: text } of stored.texts)
      if (FORMATS[format]?.open !== undefined) expect(text.startsWith(`${mark}.`)).toBe(true);
  });

  it('of each mark is opened', () => {
    for (const { format, stored: text } of stored.texts) {
      const open = FORMATS[format]?.open;
      if (open !== undefined) expect([format, open(text)]).toEqual([format, PLAIN]);
    }
  });

  it('is kept for each release', () => {
    const releases = [
      ...readFileSync(resolve(__dirname, '../../CHANGELOG.md'), 'utf8').matchAll(/^## (.+)$/gm),
    ]
      .map(([, heading = '']) => heading.split(' - '))
      .filter(([, date]) => date !== 'unreleased')
      .map(([version]) => version);
    for (const all of [stored.texts, stored.installations])
      expect(all.map(({ release }) => release)).toEqual(expect.arrayContaining(releases));
  });
});

describe('an installation of each release', () => {
  it('starts with its keys, and signs and digests as before', async () => {
    for (const installation of stored.installations) {
      const { service } = await placeOf(installation);
      await service.start();
      expect(service.app.get(InstallationKeys).digest.toString('base64url')).toBe(installation.digestKey);
      expect(await service.app.get(Signer).sign(PAYLOAD, TYPE)).toBe(installation.jws);
      expect(await keySetOf(service)).toEqual(installation.keySet);
      await service.stop();
    }
  });

  it('has certificates, proofs and a log that are verified', async () => {
    for (const { certificate, finalCertificate, certified, proof, log, keySet } of stored.installations) {
      if (finalCertificate !== undefined)
        expect(verifyFinalCertificate(finalCertificate, keySet, certified)).toMatchObject({
          bot_id: certified.botId,
          holders: [{ key: 'database', signed_at: '2026-11-20T12:00:00Z' }],
        });
      expect(verifyCertificate(certificate, keySet, certified)).toMatchObject({ bot_id: certified.botId });
      expect(verifyAuditProof(proof, keySet)).toMatchObject({ bot_id: certified.botId });
      expect(await verifyAuditExport(log, keySet)).toMatchObject({ botId: certified.botId });
    }
  });

  it('has the answer of a holder, whose seal holds and notices a change', async () => {
    for (const { answer, ...installation } of stored.installations) {
      if (answer === undefined) continue;
      const place = await placeOf(installation);
      const bot = await (await place.service.start()).registerBot();
      await erasureOf(installation, place);
      await place.insert('holder_tasks', answer);
      const final = `/gdpr/forget-status/${answer['request_id']}/final-certificate`;
      expect((await bot.get(final)).status).toBe(200);
      await place.database.run(`UPDATE holder_tasks SET counts = '{"levels":3}'`);
      expectFailure(await bot.get(final), 409, 'conflict', { reason: 'no_certificate' });
      await place.service.stop();
    }
  });

  it('imports its ledger, and exports it as before', async () => {
    for (const installation of stored.installations) {
      const place = await placeOf(installation);
      writeFileSync(place.file('ledger'), `${installation.ledger.join('\n')}\n`);
      await place.admin('ledger:import', '--in', place.file('ledger'));
      await place.admin('ledger:export', '--out', place.file('again'));
      const [, ...entries] = installation.ledger.map(withoutMac);
      expect(place.read('again').trimEnd().split('\n').slice(1).map(withoutMac)).toEqual(entries);
      await place.service.remove();
    }
  });

  it('has backups that are restored', async () => {
    for (const installation of stored.installations) {
      const place = await placeOf(installation);
      await place.admin('backup', '--to', place.file('backup'));
      const manifest = JSON.parse(place.read('backup', 'manifest.json')) as { files: object };
      expect(masked(place.read('backup', 'manifest.json'))).toBe(masked(installation.manifest));
      const older = { ...(JSON.parse(installation.manifest) as object), files: manifest.files };
      writeFileSync(place.file('backup', 'manifest.json'), JSON.stringify(older));
      await place.admin('restore', '--from', place.file('backup'), '--force');
      await place.service.remove();
    }
  });
});
