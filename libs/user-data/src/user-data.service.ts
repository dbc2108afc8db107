import { Inject, Injectable } from '@nestjs/common';
import { AuditService } from '@app/audit';
import { CategoryDeclarations } from '@app/categories';
import { ApiError, Clock, CONFIG, type Config, invalidRequest, mergePatch } from '@app/common';
import { requireConsent } from '@app/consent';
import { type Subject, type Tx, UnitOfWork } from '@app/database';
import type { SubmitData, SubmittedView } from './user-data.dto';

const PUT = `INSERT INTO user_data (bot_id, guild_id, user_id, category_key, value, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT (bot_id, guild_id, user_id, category_key) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at`;
const KEY = 'bot_id = ? AND guild_id = ? AND user_id = ? AND category_key = ?';

/** Stores what users have consented to. */
@Injectable()
export class UserDataService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly declarations: CategoryDeclarations,
    private readonly audit: AuditService,
    private readonly clock: Clock,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /**
   * Stores or updates one category of a subject. Consent is checked in the storing transaction: what is answered 200
   * was stored under a consent in force at its commit.
   * @throws ApiError 413, then 403, 404, 400, in the order of the contract.
   */
  async submit(botId: string, input: SubmitData): Promise<SubmittedView> {
    const { user_id: userId, guild_id: guildId, category, data } = input;
    const subject = { botId, guildId, userId };
    const text = this.storable(data);
    return this.unitOfWork.write(async (tx) => {
      const scope = await requireConsent(tx, subject);
      const declared = await this.declarations.require(tx, botId, category);
      scope.require(category);
      const faults = declared.faultsOf(data);
      if (faults.length > 0) throw invalidRequest(faults);
      const value = input.mode === 'merge' ? await this.merged(tx, subject, category, data) : text;
      const now = this.clock.nowIso();
      const emptied = value === undefined && (await this.remove(tx, subject, category));
      if (value !== undefined) await tx.run(PUT, botId, guildId, userId, category, value, now, now);
      await this.audit.record(tx, subject, emptied ? 'data_deleted' : 'data_submitted', { category });
      return { user_id: userId, guild_id: guildId, category, stored: true, updated_at: now };
    });
  }

  /** `data` without its nulls as JSON text; undefined when no value is left. @throws ApiError 413 */
  private storable(data: Readonly<Record<string, unknown>>): string | undefined {
    const entries = Object.entries(data).filter(([, value]) => value !== null);
    if (entries.length === 0) return undefined;
    const text = `{${entries.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(',')}}`;
    const limit = this.config.dataLimitBytes;
    if (Buffer.byteLength(text) > limit) {
      throw new ApiError('payload_too_large', `data may be at most ${limit} bytes long as JSON`, {
        limit_bytes: limit,
      });
    }
    return text;
  }

  private async merged(
    tx: Tx,
    { botId, guildId, userId }: Subject,
    category: string,
    patch: object,
  ): Promise<string | undefined> {
    const stored = await tx.get<{ value: string }>(
      `SELECT value FROM user_data WHERE ${KEY}`,
      botId,
      guildId,
      userId,
      category,
    );
    const before: unknown = stored === undefined ? {} : JSON.parse(stored.value);
    return this.storable(mergePatch(before, patch) as Record<string, unknown>);
  }

  private async remove(tx: Tx, { botId, guildId, userId }: Subject, category: string): Promise<boolean> {
    return (await tx.run(`DELETE FROM user_data WHERE ${KEY}`, botId, guildId, userId, category)) > 0;
  }
}
