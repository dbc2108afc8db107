import { Inject, Injectable } from '@nestjs/common';
import { Cursors } from '@app/crypto';
import { botDeleted, type Tx, UnitOfWork } from '@app/database';
import { ALL_SCOPES, type Caller, insufficientScope, type PageQuery, scopeBits, scopesOf } from '@app/http';
import { Acts, type Claim } from '@app/acts';
import {
  Clock,
  type Config,
  CONFIG,
  conflict,
  invalidRequest,
  momentMs,
  notFound,
  Random,
} from '@app/kernel';
import { type FindOptionsWhere, IsNull, LessThan, MoreThan } from 'typeorm';
import { keyDigest, newApiKey, VISIBLE_LENGTH } from './api-key';
import { ApiKeyDirectory } from './api-key-directory';
import { lockBot } from './bot-queries';
import { ApiKey } from './bot.entity';
import {
  type ApiKeyCreatedView,
  type ApiKeyDeletedView,
  type ApiKeyRotatedView,
  type ApiKeysView,
  type ApiKeyView,
  type NewApiKey,
  OVERLAP_SECONDS_DEFAULT,
  type RotateApiKey,
} from './bots.dto';
import { KeyUses } from './key-uses';

/** Valid keys of a bot. The next key that is made removes the rows of those that have expired by the confirmed time. */
const KEYS_MAX = 5;
const ADMIN = scopeBits(['admin']);
const YEAR_10000_MS = Date.UTC(10_000, 0);

/** A key without a name is answered as before there were names. */
const named = (name: string | null): { readonly name?: string } => (name === null ? {} : { name });

/**
 * The keys of a bot. Its units lock the bot, so that the limit holds and a voided key makes no other one. Each bot keeps
 * one key of scope `admin` that lasts, so that it does not lock itself out.
 */
@Injectable()
export class ApiKeys {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly directory: ApiKeyDirectory,
    private readonly uses: KeyUses,
    private readonly acts: Acts,
    private readonly clock: Clock,
    private readonly random: Random,
    private readonly cursors: Cursors,
    @Inject(CONFIG) private readonly config: Pick<Config, 'apiKeyKind'>,
  ) {}

  /** Makes a key of the bot with the bits of its scopes, and stores its digest. Its text is shown once. */
  async issue(
    tx: Tx,
    botId: string,
    scopes = ALL_SCOPES,
    expiresAt: string | null = null,
    name: string | null = null,
  ): Promise<ApiKeyCreatedView> {
    const id = this.random.uuid();
    const key = newApiKey(this.random, this.config.apiKeyKind);
    const prefix = key.slice(0, VISIBLE_LENGTH);
    const createdAt = this.clock.nowIso();
    const digest = keyDigest(key);
    await tx.manager.insert(ApiKey, { botId, id, digest, prefix, scopes, expiresAt, name, createdAt });
    return {
      id,
      ...named(name),
      api_key: key,
      api_key_prefix: prefix,
      scopes: scopesOf(scopes),
      expires_at: expiresAt,
      created_at: createdAt,
    };
  }

  /** The valid keys, newest first. */
  list(botId: string, query: PageQuery): Promise<ApiKeysView> {
    const page = this.cursors.page<[id: string]>(botId, 'keys', query);
    const before = page.after && { id: LessThan(page.after[0]) };
    const valid = this.validOf(botId);
    return this.unitOfWork.read(async (tx) => {
      const found = await tx.manager.find(ApiKey, {
        where: valid.map((where) => ({ ...where, ...before })),
        order: { id: 'DESC' },
        skip: page.offset,
        take: page.limit,
      });
      const keys = page.cut(found, ({ id }) => [id]).map((key) => this.viewOf(key));
      return { keys, pagination: page.of(await page.total(() => tx.manager.countBy(ApiKey, valid))) };
    });
  }

  /**
   * Makes a key with at most the scopes of the calling one.
   * @throws ApiError 403 `insufficient_scope` for a further scope; 409 `limit_reached`; 400 for a time that has passed
   */
  async create({ botId, keyId }: Caller, input: NewApiKey, claim: Claim): Promise<ApiKeyCreatedView> {
    const scopes = input.scopes == null ? ALL_SCOPES : scopeBits(input.scopes);
    const expiresAt = input.expires_at == null ? null : this.future(input.expires_at);
    const create = async (tx: Tx): Promise<ApiKeyCreatedView> => {
      const own = await this.callingKey(tx, botId, keyId);
      const [lacking] = scopesOf(scopes & ~Number(own.scopes));
      if (lacking !== undefined) throw insufficientScope(lacking);
      await this.requireRoom(tx, botId);
      return this.issue(tx, botId, scopes, expiresAt, input.name);
    };
    return this.acts.once(claim, create);
  }

  /**
   * Replaces the calling key by one with its name, its scopes and its expiry. The old one is void at the end of the overlap; without
   * an overlap it is void in every process when this resolves.
   * @throws ApiError 409 `rotation_in_progress` for a key that was rotated before, and `limit_reached`
   */
  async rotate(
    { botId, keyId }: Caller,
    { overlap_seconds }: RotateApiKey,
    claim: Claim,
  ): Promise<ApiKeyRotatedView> {
    const overlapSeconds = overlap_seconds ?? OVERLAP_SECONDS_DEFAULT;
    const rotate = async (tx: Tx): Promise<ApiKeyRotatedView> => {
      const own = await this.callingKey(tx, botId, keyId);
      if (own.rotatedAt !== null)
        throw conflict(
          'rotation_in_progress',
          'This key was rotated before: use its successor, or make another key with POST /bots/{bot_id}/keys',
        );
      const nowMs = this.clock.nowMs();
      const end = new Date(nowMs + overlapSeconds * 1000).toISOString();
      const overlapUntil = own.expiresAt !== null && own.expiresAt < end ? own.expiresAt : end;
      if (overlapSeconds === 0) await tx.manager.delete(ApiKey, { botId, id: keyId });
      else {
        await this.requireRoom(tx, botId);
        const rotatedAt = new Date(nowMs).toISOString();
        await tx.manager.update(ApiKey, { botId, id: keyId }, { expiresAt: overlapUntil, rotatedAt });
      }
      tx.afterCommit(() => this.directory.forget(botId));
      const issued = await this.issue(tx, botId, Number(own.scopes), own.expiresAt, own.name);
      return { ...issued, overlap_until: overlapUntil };
    };
    const view = await this.acts.once(claim, rotate);
    if (overlapSeconds === 0) await this.directory.forgottenEverywhere();
    return view;
  }

  /**
   * Voids a key. It is void in every process when this resolves.
   * @throws ApiError 404 for a key that is not valid; 409 `last_admin_key` for the last one of scope `admin` that lasts
   */
  async delete({ botId, keyId }: Caller, id: string): Promise<ApiKeyDeletedView> {
    const view = await this.unitOfWork.write(async (tx) => {
      await this.callingKey(tx, botId, keyId);
      const key = await tx.manager.findOneBy(ApiKey, { botId, id });
      if (key === null || this.isExpired(key)) throw notFound('API key');
      const lasting = await tx.manager.findBy(ApiKey, { botId, expiresAt: IsNull() });
      if (!lasting.some((other) => other.id !== id && (Number(other.scopes) & ADMIN) !== 0))
        throw conflict(
          'last_admin_key',
          'This is the last key of scope admin that lasts: make another one before you delete it',
        );
      await tx.manager.delete(ApiKey, { botId, id });
      tx.afterCommit(() => this.directory.forget(botId));
      return { id, deleted: true, deleted_at: this.clock.nowIso() } as const;
    });
    await this.directory.forgottenEverywhere();
    return view;
  }

  /**
   * The calling key, with the bot locked.
   * @throws ApiError 401 for one that was voided since the request began
   */
  private async callingKey(tx: Tx, botId: string, id: string): Promise<ApiKey> {
    await lockBot(tx, botId, 'NO KEY UPDATE');
    const key = await tx.manager.findOneBy(ApiKey, { botId, id });
    if (key === null || this.isExpired(key)) throw botDeleted();
    return key;
  }

  /**
   * Removes keys that have expired by the confirmed time, and refuses a key more than a bot may have. What has expired by
   * the clock alone does not count.
   */
  private async requireRoom(tx: Tx, botId: string): Promise<void> {
    await tx.run(
      'DELETE FROM api_keys WHERE bot_id = ? AND expires_at <= ?',
      botId,
      this.clock.confirmedIso(),
    );
    if ((await tx.manager.countBy(ApiKey, this.validOf(botId))) < KEYS_MAX) return;
    throw conflict('limit_reached', `A bot may have at most ${KEYS_MAX} API keys`, { limit: KEYS_MAX });
  }

  private validOf(botId: string): FindOptionsWhere<ApiKey>[] {
    return [IsNull(), MoreThan(this.clock.nowIso())].map((expiresAt) => ({ botId, expiresAt }));
  }

  private isExpired({ expiresAt }: ApiKey): boolean {
    return expiresAt !== null && expiresAt <= this.clock.nowIso();
  }

  /** @throws ApiError 400 for a time that has passed. */
  private future(given: string): string {
    const atMs = momentMs(given) ?? NaN;
    const message = 'must be a time in the future, before the year 10000';
    if (!(atMs > this.clock.nowMs() && atMs < YEAR_10000_MS))
      throw invalidRequest([{ field: 'expires_at', message }]);
    return new Date(atMs).toISOString();
  }

  private viewOf({ id, name, prefix, scopes, expiresAt, lastUsedAt, createdAt }: ApiKey): ApiKeyView {
    return {
      id,
      ...named(name),
      api_key_prefix: prefix,
      scopes: scopesOf(Number(scopes)),
      expires_at: expiresAt,
      last_used_at: laterOf(this.uses.lastOf(id), lastUsedAt),
      created_at: createdAt,
    };
  }
}

/** The later of two times: another process may have seen a later use than this one. */
function laterOf(one: string | undefined, other: string | null): string | null {
  return one === undefined || (other !== null && other > one) ? other : one;
}
