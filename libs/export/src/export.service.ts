import { Injectable } from '@nestjs/common';
import { AuditService } from '@app/audit';
import { findBot } from '@app/bots';
import { holdSubject } from '@app/consent';
import { HeldSubjects, SubjectKeys } from '@app/crypto';
import { inPortions, type Tx, UnitOfWork } from '@app/database';
import { SubjectErasures } from '@app/erasure';
import { JsonStream, JsonText } from '@app/http';
import { ApiError, Clock, notFound } from '@app/kernel';
import { type NamedSubject, type Subject, SubjectDataHolders } from '@app/subjects';
import { entries, EXPORT_SCHEMA, inPieces, sections } from './export-document';

/** A larger export is streamed instead of being held in memory; in UTF-16 units. */
const HELD_MAX = 256 * 1024;

/** How often a streamed export checks for an erasure of its subject. */
const CHECK_MS = 20;

/** The requested form: the record of the contract or the full one; for one guild or as one of several. */
interface Wanted {
  readonly full: boolean;
  readonly scope?: 'all_guilds';
}

/** The document in pieces; each is read when it is needed. */
interface Gathered {
  readonly head: string;
  readonly data: () => AsyncGenerator<string>;
  readonly tail: () => AsyncGenerator<string>;
  /** Also true for the history of a consent alone. */
  readonly hasConsent: boolean;
}

/** The right of access (GDPR Art. 15): the data of all holders about a subject in one JSON document. */
@Injectable()
export class ExportService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly holders: SubjectDataHolders,
    private readonly held: HeldSubjects,
    private readonly keys: SubjectKeys,
    private readonly audit: AuditService,
    private readonly erasures: SubjectErasures,
    private readonly clock: Clock,
  ) {}

  /**
   * Exports one subject and records it (`data_exported`) in one unit, so that no erasure comes in between.
   * @throws ApiError 404 when nothing is stored, or during the erasure of the subject.
   */
  export(subject: NamedSubject, full: boolean): Promise<JsonText | JsonStream> {
    return this.recorded(subject, { full });
  }

  /**
   * Exports one user in every guild of the bot with data. Each guild is an export of its own, with its own record. A guild in which the user is being erased is left out.
   * @throws ApiError 404 when nothing is stored in any guild.
   */
  async exportAllGuilds(botId: string, user_id: string, full: boolean): Promise<JsonStream> {
    const bot = await this.unitOfWork.read((tx) => botOf(tx, botId));
    const guilds = this.heldBy(await this.held.inAllGuilds(botId, user_id), full);
    const first = await guilds.next();
    if (first.done === true) throw notFound('Data of this user');
    const head = {
      ...(full && { schema: EXPORT_SCHEMA }),
      userId: user_id,
      exportedAt: this.clock.nowIso(),
      bot,
    };
    return new JsonStream(async (write) => {
      await write(`${JSON.stringify(head).slice(0, -1)},"guilds":[`);
      await writeGuild(first.value, write);
      for await (const guild of guilds) {
        await write(',');
        await writeGuild(guild, write);
      }
      await write(']}');
    });
  }

  private async *heldBy(
    subjects: readonly NamedSubject[],
    full: boolean,
  ): AsyncGenerator<JsonText | JsonStream, undefined> {
    for (const subject of subjects) {
      const held = await this.recorded(subject, { full, scope: 'all_guilds' }).catch(unlessMissing);
      if (held !== undefined) yield held;
    }
  }

  private async recorded(subject: NamedSubject, wanted: Wanted): Promise<JsonText | JsonStream> {
    const text = await this.unitOfWork.write(async (tx) => {
      await holdSubject(tx, subject);
      // The holders find this key, also where it is not committed yet.
      await this.keys.inForce(tx, subject);
      const held = await this.heldText(tx, subject, wanted);
      const { full, ...scope } = wanted;
      await this.audit.record(tx, subject, 'data_exported', { format: full ? 'full' : 'record', ...scope });
      return held;
    });
    return text === undefined
      ? new JsonStream((write) => this.stream(subject, wanted, write))
      : new JsonText(text);
  }

  /** The whole document; undefined when it is too large for the memory. */
  private async heldText(tx: Tx, subject: NamedSubject, wanted: Wanted): Promise<string | undefined> {
    const { head, data, tail, hasConsent } = await this.gather(tx, subject, wanted);
    let values = '';
    for await (const piece of data()) if ((values += piece).length > HELD_MAX) return undefined;
    if (values === '' && !hasConsent) throw notFound('Data of this user');
    let text = head + values;
    for await (const piece of tail()) if ((text += piece).length > HELD_MAX) return undefined;
    return text;
  }

  private async stream(
    subject: NamedSubject,
    wanted: Wanted,
    write: (piece: string) => Promise<void>,
  ): Promise<void> {
    const known = await this.unitOfWork.read((tx) => this.erasures.idsOf(tx, subject));
    try {
      for await (const portion of inPortions(this.unitOfWork, (tx) => this.pieces(tx, subject, wanted))) {
        let checkedMs = -Infinity;
        for (const piece of portion) {
          // An erasure that began during the export ends the export. Behind it a portion lacks what is erased.
          if (this.clock.monotonicMs() - checkedMs >= CHECK_MS) {
            checkedMs = this.clock.monotonicMs();
            await this.requireOpen(this.unitOfWork, subject, known);
          }
          await write(piece);
        }
      }
    } catch (error) {
      // The key of an erased subject is destroyed: that its values cannot be decrypted is no fault.
      await this.requireOpen(this.unitOfWork, subject, known);
      throw error;
    }
  }

  private async *pieces(tx: Tx, subject: NamedSubject, wanted: Wanted): AsyncGenerator<string> {
    const { head, data, tail } = await this.gather(tx, subject, wanted);
    yield head;
    yield* inPieces(data());
    yield* inPieces(tail());
  }

  private async gather(tx: Tx, subject: NamedSubject, { full, scope }: Wanted): Promise<Gathered> {
    // All queries are sent first and their answers read in order: PostgreSQL needs one round trip.
    const asked = this.holders.all().map((holder) => holder.export(tx, subject, full));
    const [, bot, parts] = await Promise.all([
      this.requireOpen(tx, subject),
      botOf(tx, subject.botId),
      Promise.all(asked),
    ]);
    const consent = parts.find((part) => part.consent !== undefined)?.consent ?? null;
    const { user_id: userId, guild_id: guildId } = subject.ids;
    const record =
      scope === undefined
        ? {
            ...(full && { schema: EXPORT_SCHEMA }),
            ...{ userId, guildId, exportedAt: this.clock.nowIso(), bot, consent },
          }
        : { guildId, consent };
    return {
      head: `${JSON.stringify(record).slice(0, -1)},"data":{`,
      data: () => entries(parts.map((part) => part.data ?? [])),
      tail: () => sections(parts.map((part) => part.full ?? {})),
      hasConsent: parts.some((part) => part.consent !== undefined),
    };
  }

  /** @throws ApiError 404 while the subject is being erased, or once it was in an erasure that is not one of the `known`. */
  private async requireOpen(
    reader: Pick<UnitOfWork, 'get'>,
    subject: Subject,
    known?: string,
  ): Promise<void> {
    if (await this.erasures.areOthers(reader, subject, known)) throw notFound('Data of this user');
  }
}

async function botOf(tx: Tx, botId: string): Promise<{ id?: string; name?: string }> {
  const bot = await findBot(tx, botId);
  return { id: bot?.id, name: bot?.name };
}

function writeGuild(held: JsonText | JsonStream, write: (piece: string) => Promise<void>): Promise<void> {
  return held instanceof JsonText ? write(held.text) : held.writeTo(write);
}

/** Undefined for a 404: the guild was erased meanwhile, or held only records of an erasure. */
function unlessMissing(error: unknown): undefined {
  if (error instanceof ApiError && error.code === 'not_found') return undefined;
  throw error;
}
