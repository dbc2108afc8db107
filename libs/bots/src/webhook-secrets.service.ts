import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import {
  type EncryptedColumn,
  type EncryptedTextHolder,
  HoldsEncryptedTexts,
  ifReadable,
  Keyring,
  missingKeys,
  newWebhookSecret,
} from '@app/crypto';
import { type Tx, UnitOfWork, withSqliteFile } from '@app/database';
import { Acts, type Claim } from '@app/acts';
import { Clock, conflict, notFound, Random, StartError } from '@app/kernel';
import { lockBot } from './bot-queries';
import { OVERLAP_SECONDS_DEFAULT, type RotateWebhookSecret, type WebhookSecretView } from './bots.dto';

const SECRETS = ['webhook_secret', 'webhook_secret_next'] as const;

/** The part of a text of the keyring in which it names its master key. */
const headOf = (column: string): string => `substr(${column}, 1, 12)`;

/** The ids of the master keys that texts name by their heads. A damaged text may name none. */
const namedBy = (heads: readonly (string | null)[]): string[] =>
  heads.flatMap((head) => /^v\d\.([\w-]{8})\.$/.exec(head ?? '')?.[1] ?? []);

interface SecretRow {
  readonly webhook_url: string | null;
  readonly webhook_secret: string;
  readonly webhook_secret_next: string | null;
  readonly webhook_secret_next_at: string | null;
  readonly suspended_at: string | null;
  readonly resumed_at: string | null;
}

/** The URL of a bot's webhook calls and the secrets that sign them: one, or during a rotation the old and the new one. */
export interface WebhookTarget {
  readonly url: string | null;
  readonly secrets: readonly [present: string, next?: string];
  /** When the latest suspension of the bot ended. */
  readonly resumedAt: string | null;
}

/** The secrets that sign webhook calls: stored encrypted, shown once, rotated with an overlap in which both sign. */
@Injectable()
export class WebhookSecrets implements OnApplicationBootstrap {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly keyring: Keyring,
    private readonly acts: Acts,
    private readonly clock: Clock,
    private readonly random: Random,
  ) {}

  /**
   * A secret that is damaged stops the calls of its own bot alone.
   * @throws StartError when the stored secrets were encrypted with other keys than the given ones: no call could be signed
   */
  async onApplicationBootstrap(): Promise<void> {
    const rows = await this.unitOfWork.read((tx) =>
      tx.all<{ head: string }>(`SELECT DISTINCT ${headOf('webhook_secret')} AS head FROM bots ORDER BY head`),
    );
    const named = namedBy(rows.map(({ head }) => head));
    if (named.length === 0 || named.some((id) => this.keyring.ids.includes(id))) return;
    throw new StartError(
      `The webhook secrets in the database were encrypted with another key (master key ${named.join(', ')} is missing). ` +
        'Restore LETHE_MASTER_KEY, its file, its command, or the key file beside the database, as it was.',
    );
  }

  /** A new secret for a bot, and its encrypted text. */
  issue(botId: string): { secret: string; encrypted: string } {
    const secret = newWebhookSecret(this.random);
    return { secret, encrypted: this.keyring.encrypt(secret, contextOfSecret(botId)) };
  }

  /** Undefined when the bot is deleted; `suspended` while its calls have to wait. */
  async target(tx: Tx, botId: string): Promise<WebhookTarget | 'suspended' | undefined> {
    const row = await this.rowOf(tx, botId);
    if (row === undefined) return undefined;
    if (row.suspended_at !== null) return 'suspended';
    const [present, next] = this.live(row);
    const first = this.open(botId, present);
    const secrets: WebhookTarget['secrets'] = next === undefined ? [first] : [first, this.open(botId, next)];
    return { url: row.webhook_url, secrets, resumedAt: row.resumed_at };
  }

  /**
   * A secret that cannot be decrypted signs nothing: no overlap keeps it.
   * @throws ApiError 409 `rotation_in_progress` during an overlap, unless `overlap_seconds` is 0
   */
  rotate(botId: string, input: RotateWebhookSecret, claim: Claim): Promise<WebhookSecretView> {
    const rotate = async (tx: Tx): Promise<WebhookSecretView> => {
      await lockBot(tx, botId, 'UPDATE');
      const row = await this.rowOf(tx, botId);
      if (row === undefined) throw notFound('Bot');
      const isReadable = (secret = ''): boolean => ifReadable(() => this.open(botId, secret)) !== undefined;
      const [present, next] = this.live(row).filter(isReadable);
      const overlapSeconds = present === undefined ? 0 : (input.overlap_seconds ?? OVERLAP_SECONDS_DEFAULT);
      if (next !== undefined && overlapSeconds > 0) {
        const message = 'Two secrets overlap already; wait for the end, or send overlap_seconds 0';
        throw conflict('rotation_in_progress', message);
      }
      const { secret, encrypted } = this.issue(botId);
      const until = new Date(this.clock.nowMs() + overlapSeconds * 1000).toISOString();
      await tx.run(
        'UPDATE bots SET webhook_secret = ?, webhook_secret_next = ?, webhook_secret_next_at = ? WHERE id = ?',
        ...(present === undefined || overlapSeconds === 0
          ? [encrypted, null, null]
          : [present, encrypted, until]),
        botId,
      );
      return { webhook_secret: secret, overlap_until: until };
    };
    return this.acts.once(claim, rotate);
  }

  private rowOf(tx: Tx, botId: string): Promise<SecretRow | undefined> {
    return tx.get<SecretRow>(
      `SELECT webhook_url, webhook_secret, webhook_secret_next, webhook_secret_next_at, suspended_at, resumed_at
       FROM bots WHERE id = ?`,
      botId,
    );
  }

  /** The stored secrets that sign now, the older one first. */
  private live(row: SecretRow): [present: string, next?: string] {
    const { webhook_secret: present, webhook_secret_next: next, webhook_secret_next_at: at } = row;
    if (next === null || at === null) return [present];
    return at <= this.clock.nowIso() ? [next] : [present, next];
  }

  private open(botId: string, encrypted: string): string {
    return this.keyring.decrypt(encrypted, contextOfSecret(botId));
  }
}

/** Re-encrypts the webhook secrets of all bots with a new master key. */
@Injectable()
@HoldsEncryptedTexts()
export class WebhookSecretsHolder implements EncryptedTextHolder {
  readonly columns: readonly EncryptedColumn[] = SECRETS.map((column) => ({
    table: 'bots',
    column,
    key: ['id'],
    contextOf: ({ id = '' }) => contextOfSecret(id),
  }));
}

/**
 * The ids of the master keys that webhook secrets in a SQLite file of data need, and that are none of these. No service uses the
 * file.
 */
export function unopenedSecrets(path: string, masterKeys: readonly Buffer[]): string[] {
  const sql = SECRETS.map((column) => `SELECT ${headOf(column)} FROM bots`).join(' UNION ');
  const heads = withSqliteFile(path, 'read', (database) => database.prepare(sql).pluck().all());
  return missingKeys(masterKeys, namedBy(heads as (string | null)[]));
}

/** The context that an encrypted webhook secret is bound to. */
function contextOfSecret(botId: string): string {
  return `bots/${botId}/webhook_secret`;
}
