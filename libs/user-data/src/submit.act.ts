import { Inject, Injectable } from '@nestjs/common';
import { AuditService } from '@app/audit';
import { CategoryDeclarations } from '@app/categories';
import { consentsInForce, requireConsent } from '@app/consent';
import { SubjectKeys } from '@app/crypto';
import { ConcurrentChange, type SharedAct, type Tx } from '@app/database';
import { mergePatch } from '@app/http';
import { Clock, CONFIG, type Config, invalidRequest, notFound, OwnError, requireBytes } from '@app/kernel';
import { type Claim, claimedBefore, EncryptedForms, type Form, keepAll } from '@app/idempotency';
import { type NamedSubject, type Subject, SUBJECT_WHERE } from '@app/subjects';
import { openValue, sealValue } from './stored-value';
import type { SubmittedView } from './user-data.dto';

/** The data that a bot submits about a subject. */
export interface Submission {
  readonly subject: NamedSubject;
  readonly category: string;
  readonly data: Readonly<Record<string, unknown>>;
  /** The JSON text to store for the mode `replace`: {@link SubmitAct.storable}. */
  readonly json: string | undefined;
  readonly merges: boolean;
  readonly claim: Claim;
}

const KEY = `${SUBJECT_WHERE} AND category_key = ?`;
const CONFLICT = 'ON CONFLICT (bot_id, guild_id, user_id, category_key)';
/** A value that was created while the clock was wrong is not updated before its creation. */
const REPLACE = `${CONFLICT} DO UPDATE SET value = excluded.value,
  updated_at = CASE WHEN excluded.updated_at < user_data.created_at THEN user_data.created_at ELSE excluded.updated_at END`;
const COLUMNS = 'bot_id, guild_id, user_id, category_key, value, created_at, updated_at, retention_from';
const INSERT = `INSERT INTO user_data (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`;
const PUT = `${INSERT} ${REPLACE}`;
const CREATE = `${INSERT} ${CONFLICT} DO NOTHING`;

const PUT_ALL = `INSERT INTO user_data (${COLUMNS})
  SELECT bot_id, guild_id, user_id, category_key, value, now, now, now
  FROM unnest(?::text[], ?::text[], ?::text[], ?::text[], ?::text[], ?::text[])
    AS given (bot_id, guild_id, user_id, category_key, value, now)
  ORDER BY bot_id, guild_id, user_id, category_key ${REPLACE}`;

/**
 * Stores data under a consent in force. Declaration and consent are locked until the commit, in the same order as in the
 * deletion of a category. A refusal follows the order of the contract.
 */
@Injectable()
export class SubmitAct implements SharedAct<Submission, SubmittedView> {
  constructor(
    private readonly declarations: CategoryDeclarations,
    private readonly audit: AuditService,
    private readonly keys: SubjectKeys,
    private readonly clock: Clock,
    private readonly forms: EncryptedForms,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  alone(tx: Tx, submission: Submission): Promise<SubmittedView> {
    const { claim } = submission;
    return claim.once(this.formOf(submission), () => this.store(tx, submission))(tx);
  }

  private async store(tx: Tx, { subject, category, data, json, merges }: Submission): Promise<SubmittedView> {
    const declared = await this.declarations.find(tx, subject.botId, category);
    const scope = await requireConsent(tx, subject, declared !== undefined);
    if (declared === undefined) throw notFound('Category');
    scope.require(category);
    const faults = declared.faultsOf(data);
    if (faults.length > 0) throw invalidRequest(faults);
    const now = this.clock.nowIso();
    const emptied = merges
      ? await this.merge(tx, subject, category, data, now)
      : await this.put(tx, subject, category, json, now);
    await this.audit.record(tx, subject, emptied ? 'data_deleted' : 'data_submitted', { category });
    return viewOf(subject, category, now);
  }

  /** Stores submissions that replace, each row once; those that merge, empty or are refused are left to {@link alone}. */
  async together(tx: Tx, given: readonly Submission[]): Promise<(SubmittedView | undefined)[]> {
    const subjects = given.map(({ subject }) => subject);
    const [declared, scopes, claimed] = await Promise.all([
      this.declarations.findAll(
        tx,
        given.map(({ subject, category }) => ({ botId: subject.botId, key: category })),
      ),
      consentsInForce(tx, subjects),
      claimedBefore(
        tx,
        given.map(({ claim }) => claim),
      ),
      this.keys.prefetch(tx, subjects),
    ]);
    const rows = new Set<string>();
    const stored = given.map((submission, at) => {
      const { subject, category, data, json, merges } = submission;
      const row = `${subject.botId} ${subject.guildId} ${subject.userId} ${category}`;
      if (merges || claimed[at] === true || rows.has(row) || scopes[at]?.covers(category) !== true)
        return undefined;
      if (declared[at]?.faultsOf(data).length !== 0) return undefined;
      if (json !== undefined) rows.add(row);
      return json;
    });
    const now = this.clock.nowIso();
    await this.putAll(tx, given, stored, now);
    const outcomes = given.map(({ subject, category }, at) =>
      stored[at] === undefined ? undefined : viewOf(subject, category, now),
    );
    await keepAll(
      tx,
      given.flatMap((submission, at) => {
        const [{ claim }, outcome] = [submission, outcomes[at]];
        return outcome === undefined ? [] : [{ claim, form: this.formOf(submission), outcome }];
      }),
    );
    return outcomes;
  }

  /** Of an answer a repeat does not know the time only. */
  formOf({ subject, category }: Submission): Form<SubmittedView> {
    const stored = this.forms.ofSubject<string>(subject);
    return {
      write: ({ updated_at }, ...rest) => stored.write(updated_at, ...rest),
      read: async (found) => viewOf(subject, category, (await stored.read(found)) ?? ''),
    };
  }

  /** `data` without its nulls as JSON text; undefined when no value is left. @throws ApiError 413 */
  storable(data: Readonly<Record<string, unknown>>): string | undefined {
    const entries = Object.entries(data).filter(([, value]) => value !== null);
    if (entries.length === 0) return undefined;
    const text = `{${entries.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(',')}}`;
    requireBytes('data', text, this.config.dataLimitBytes);
    return text;
  }

  /** Answers whether a value was removed. */
  private async put(
    tx: Tx,
    subject: Subject,
    category: string,
    value: string | undefined,
    now: string,
  ): Promise<boolean> {
    const { botId, guildId, userId } = subject;
    const row = [botId, guildId, userId, category];
    if (value === undefined) return (await tx.run(`DELETE FROM user_data WHERE ${KEY}`, ...row)) > 0;
    await tx.run(PUT, ...row, await this.encrypted(tx, subject, category, value), now, now, now);
    return false;
  }

  private async merge(
    tx: Tx,
    subject: Subject,
    category: string,
    patch: object,
    now: string,
  ): Promise<boolean> {
    const { botId, guildId, userId } = subject;
    const row = [botId, guildId, userId, category];
    const sql = `SELECT value FROM user_data WHERE ${KEY} FOR UPDATE`;
    const found = await tx.get<{ value: string }>(sql, ...row);
    const key = await this.keys.forWriting(tx, subject);
    const before: unknown =
      found === undefined ? {} : JSON.parse(openValue(key, subject, category, found.value));
    const value = this.storable(mergePatch(before, patch) as Record<string, unknown>);
    if (found !== undefined || value === undefined) return this.put(tx, subject, category, value, now);
    const encrypted = sealValue(key, subject, category, value);
    if ((await tx.run(CREATE, ...row, encrypted, now, now, now)) === 0) throw new ConcurrentChange();
    return false;
  }

  private async encrypted(tx: Tx, subject: Subject, category: string, json: string): Promise<string> {
    return sealValue(await this.keys.forWriting(tx, subject), subject, category, json);
  }

  private async putAll(
    tx: Tx,
    given: readonly Submission[],
    values: readonly (string | undefined)[],
    now: string,
  ): Promise<void> {
    const taken = given.flatMap(({ subject, category }, at) =>
      values[at] === undefined ? [] : [{ subject, category, value: values[at] }],
    );
    if (taken.length === 0) return;
    const keys = await this.keys.allForWriting(
      tx,
      taken.map(({ subject }) => subject),
    );
    const encrypted = taken.map(({ subject, category, value }, at) => {
      const key = keys[at];
      if (key === undefined) throw new OwnError('The subject key could not be created');
      return sealValue(key, subject, category, value);
    });
    await Promise.all([
      putRows(
        tx,
        taken.map(({ subject: { botId, guildId, userId }, category }) => [botId, guildId, userId, category]),
        encrypted,
        now,
      ),
      this.audit.recordAll(
        tx,
        taken.map(({ subject, category }) => ({ subject, type: 'data_submitted', details: { category } })),
      ),
    ]);
  }
}

async function putRows(tx: Tx, rows: readonly string[][], values: readonly string[], now: string) {
  if (tx.engine === 'postgres') {
    const columns = [0, 1, 2, 3].map((place) => rows.map((row) => row[place] ?? ''));
    const times = rows.map(() => now);
    await tx.run(PUT_ALL, ...columns, values, times);
    return;
  }
  for (const [at, row] of rows.entries()) await tx.run(PUT, ...row, values[at] ?? '', now, now, now);
}

function viewOf({ ids }: NamedSubject, category: string, now: string): SubmittedView {
  return { user_id: ids.user_id, guild_id: ids.guild_id, category, stored: true, updated_at: now };
}
