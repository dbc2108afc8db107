import { Injectable, Logger } from '@nestjs/common';
import { AuditService } from '@app/audit';
import { basisOf, undeclared } from '@app/categories';
import { consentScope, decisionShown, holdSubject, isInForce, requireOpen } from '@app/consent';
import {
  ConsentedDataHolders,
  Cursors,
  ERASED_ID,
  type NamedSubject,
  requireReadable,
  type Subject,
  subjectAt,
  SubjectDigests,
  type SubjectIds,
  SubjectKeys,
} from '@app/crypto';
import { type Tx, UnitOfWork } from '@app/database';
import { type Actor, type AnswerStream, inPieces, JsonText, ListPage } from '@app/http';
import { requireCovered, requireReading } from './module.gate';
import { requireProcessing, restrictedOf } from './processing-refusals.sql';
import { readValue } from './stored-value';
import type { GuildValuesQuery } from './user-data.dto';
import {
  countSome,
  type FoundValue,
  type GuildCategory,
  someValues,
  type SubjectValue,
  valuesOf,
} from './user-values.sql';

type Opened = Omit<SubjectValue, 'value' | 'open'> & { readonly json: string };

/**
 * Reads stored values back for the processing of the bot itself, under the consent that they were stored under, and erases
 * single ones. Reading is no export of Art. 15 and writes no audit event.
 */
@Injectable()
export class UserValues {
  private readonly logger = new Logger(UserValues.name);

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly keys: SubjectKeys,
    private readonly audit: AuditService,
    private readonly holders: ConsentedDataHolders,
    private readonly digests: SubjectDigests,
    private readonly cursors: Cursors,
  ) {}

  /**
   * What is stored about a subject, of all categories that the consent covers or that need none, but for restricted ones, or of one
   * of them. @throws ApiError as {@link readable}, 500 for values that cannot be decrypted
   */
  async ofUser(subject: NamedSubject, category: string | undefined): Promise<JsonText | AnswerStream> {
    return inPieces(textsOf(subject.ids, await this.covered(subject, category)));
  }

  /**
   * What is stored under one category that the consent covers, or that needs none, as its user may see it also while it is
   * restricted; undefined where nothing is. @throws ApiError as {@link ofUser}
   */
  async ofCategory(
    subject: NamedSubject,
    category: string,
  ): Promise<Readonly<Record<string, unknown>> | undefined> {
    const [row] = await this.covered(subject, category, true);
    return row && (JSON.parse(row.json) as Record<string, unknown>);
  }

  private async covered(
    subject: NamedSubject,
    category: string | undefined,
    isOwn = false,
  ): Promise<Opened[]> {
    const found = await this.unitOfWork.read(async (tx) => {
      const values = await readable(tx, subject, category, isOwn);
      const key = await this.keys.inForce(tx, subject);
      return values.map(({ value, category_key, updated_at }) => ({
        ...{ category_key, updated_at },
        json: readValue(key, subject, category_key, value),
      }));
    });
    const opened = found.filter((row): row is Opened => row.json !== undefined);
    requireReadable(found.filter(({ json }) => json === undefined).map((row) => row.category_key));
    return opened;
  }

  /**
   * One page of a category of a guild, of all users whose consent covers it and who have not restricted it. A value that cannot be decrypted hides no
   * other one. @throws ApiError 404 for an undeclared category
   */
  async ofGuild(botId: string, query: GuildValuesQuery): Promise<ListPage> {
    const { guild_id, category } = query;
    const page = this.cursors.page<[user: string]>(botId, 'values', query);
    const named = { botId, guildId: this.digests.guild(botId, guild_id), category };
    const { requiresConsent } =
      (await this.unitOfWork.read((tx) => basisOf(tx, botId, category))) ?? undeclared();
    const of: GuildCategory = { ...named, requiresConsent };
    const { rows, total } = await page.inParts<Tx, FoundValue>({
      begin: '',
      unit: (work) => this.unitOfWork.read(work),
      count: (tx, after) => countSome(tx, of, after),
      read: (tx, after, skip, take) => someValues(tx, of, after, skip, take),
    });
    const found = page.cut(rows, ({ user_id: user }) => [user]);
    return new ListPage('values', this.textsOfPage(of, found), page.of(total));
  }

  /**
   * Erases one category of a subject, also what modules store under it, with or without a consent; returns whether anything was stored. It waits for submits
   * under way, and nothing of what they stored is left.
   * @param by who does it, as the audit log names it
   * @throws ApiError 404 for an undeclared category
   */
  erase(subject: NamedSubject, category: string, by: Actor): Promise<boolean> {
    return this.unitOfWork.write(async (tx) => {
      if ((await basisOf(tx, subject.botId, category, 'FOR KEY SHARE')) === undefined) undeclared();
      await holdSubject(tx, subject);
      if ((await this.holders.eraseOf(tx, subject, [category])).size === 0) return false;
      await this.audit.record(tx, subject, 'data_deleted', { category }, { by });
      return true;
    });
  }

  private *textsOfPage({ botId, guildId, category }: GuildCategory, rows: readonly FoundValue[]) {
    for (const { user_id: userId, value, updated_at, ...joined } of rows) {
      const subject = subjectAt(botId, { guild_id: guildId, user_id: userId });
      const key = this.keys.openJoined(subject, joined);
      const json = readValue(key, subject, category, value);
      const user = { user_id: key?.ids?.user_id ?? ERASED_ID };
      if (json === undefined) {
        this.logger.error('A stored value cannot be decrypted, because it was changed or its key is lost');
        yield { ...user, data: null, updated_at, unreadable: true };
      } else
        yield new JsonText(
          `${JSON.stringify(user).slice(0, -1)},"data":${json},"updated_at":${JSON.stringify(updated_at)}}`,
        );
    }
  }
}

/**
 * The values of a subject that may be read: those that a consent in force covers, and those that need none. Only for the user
 * itself (`isOwn`) they include restricted ones. @throws ApiError 403 `consent_required` where nothing may be read, 404 for an
 * undeclared category, 409 `deletion_in_progress` for one that needs no consent and for values of such categories, 403 `processing_refused`
 */
async function readable(
  tx: Tx,
  subject: Subject,
  category: string | undefined,
  isOwn = false,
): Promise<SubjectValue[]> {
  if (category !== undefined) {
    await (isOwn ? requireCovered : requireReading)(tx, subject, category);
    return valuesOf(tx, subject, category);
  }
  const restricted = isOwn ? new Set<string>() : await restrictedOf(tx, subject);
  const unrestricted = (rows: readonly SubjectValue[]): SubjectValue[] => {
    if (restricted.has('')) requireProcessing('restriction');
    return rows.filter((row) => !restricted.has(row.category_key));
  };
  const decision = await decisionShown(tx, subject);
  const isGiven = decision !== undefined && isInForce(decision);
  if (!isGiven) {
    const open = (await valuesOf(tx, subject)).filter((row) => row.open === 1);
    if (open.length > 0) {
      requireOpen(decision);
      return unrestricted(open);
    }
  }
  const scope = consentScope(decision, true);
  const rows = await valuesOf(tx, subject);
  return unrestricted(rows.filter((row) => row.open === 1 || scope.covers(row.category_key)));
}

function* textsOf(
  { user_id, guild_id }: SubjectIds,
  values: readonly Opened[],
): Generator<string, undefined> {
  yield `${JSON.stringify({ user_id, guild_id }).slice(0, -1)},"values":{`;
  for (const [at, { category_key: key, json }] of values.entries())
    yield `${at > 0 ? ',' : ''}${JSON.stringify(key)}:${json}`;
  const times = values.map(
    ({ category_key: key, updated_at: at }) => `${JSON.stringify(key)}:${JSON.stringify(at)}`,
  );
  yield `},"updated_at":{${times.join(',')}}}`;
}
