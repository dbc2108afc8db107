import { Injectable } from '@nestjs/common';
import { type BotFacts, findBot, findBots } from '@app/bots';
import type { Tx, UnitOfWork } from '@app/database';
import { areBeingErased, isErased } from '../erasure/deletion-requests.sql';
import { type Actor, jsonOf } from '@app/http';
import { Clock, notFound } from '@app/kernel';
import { type NamedSubject, type Subject, SubjectDataHolders, type SubjectExport } from '@app/crypto';

/** Name and version of the schema of the full export; docs/export-schema.json describes it. */
export const EXPORT_SCHEMA = 'lethe-export/1';

/** A larger export is streamed instead of being held in memory; in UTF-16 units. */
const HELD_MAX = 256 * 1024;

/** The requested form: the record of the contract or the full one; for one guild or as one of several. */
export interface Wanted {
  readonly full: boolean;
  readonly scope?: 'all_guilds';
  /** false: a full export that asks no holder of the bot. */
  readonly asks?: false;
}

/** {@link Wanted} by a caller, whom the audit event names. */
export interface WantedBy extends Wanted {
  readonly by: Actor;
}

/** Ends `data`, and the document. */
const END = '}';

type Data = NonNullable<SubjectExport['data']>;
type Further = readonly (readonly [string, NonNullable<SubjectExport['full']>[string]])[];

/** The document in pieces; each is read when it is needed. */
interface Gathered {
  readonly head: string;
  readonly data: () => AsyncGenerator<string>;
  /** The further sections of the full form by their names, with their items. */
  readonly further: Further;
  /** Whether there is anything without a value: a consent, its history alone, or what a holder says is held. */
  readonly isHeld: boolean;
}

/** Reads what the holders have about subjects, and makes documents from it. */
@Injectable()
export class ExportReader {
  constructor(
    private readonly holders: SubjectDataHolders,
    private readonly clock: Clock,
  ) {}

  /** @throws ApiError 404 while the subject is being erased */
  async gather(tx: Tx, subject: NamedSubject, wanted: Wanted): Promise<Gathered> {
    // All queries are sent first and their answers read in order: PostgreSQL needs one round trip.
    const asked = this.holders.all().map((holder) => holder.export(tx, subject, wanted.full));
    const [, bot, parts] = await Promise.all([
      this.requireOpen(tx, subject),
      findBot(tx, subject.botId),
      Promise.all(asked),
    ]);
    return this.gathered(subject, wanted, bot, parts);
  }

  /** The records of subjects that the unit has locked; undefined for one that has to be read alone. PostgreSQL only. */
  async texts(tx: Tx, subjects: readonly NamedSubject[]): Promise<(string | undefined)[]> {
    const [closed, bots, parts] = await Promise.all([
      areBeingErased(tx, subjects),
      findBots(tx, [...new Set(subjects.map(({ botId }) => botId))]),
      this.holders.exportAll(tx, subjects),
    ]);
    return Promise.all(
      subjects.map(async (subject, at) => {
        const held = parts[at];
        if (closed[at] === true || held === undefined) return undefined;
        const gathered = this.gathered(subject, { full: false }, bots.get(subject.botId), held);
        // Its error belongs to one caller, who gets it from a reading alone.
        return await heldText(gathered).catch(() => undefined);
      }),
    );
  }

  /** The whole document; undefined when it is too large for the memory. @throws ApiError 404 when nothing is stored */
  async text(tx: Tx, subject: NamedSubject, wanted: Wanted): Promise<string | undefined> {
    return heldText(await this.gather(tx, subject, wanted));
  }

  /** The beginning of a document that is sent in pieces. @throws ApiError 404 when nothing is stored */
  async begin(tx: Tx, subject: NamedSubject, wanted: Wanted): Promise<string> {
    const { head, data, isHeld } = await this.gather(tx, subject, wanted);
    if (!isHeld && (await isEmpty(data()))) throw notFound('Data of this user');
    return head;
  }

  /** @throws ApiError 404 while the subject is being erased, or once its key is not this one any more. */
  async requireOpen(reader: Pick<UnitOfWork, 'get'>, subject: Subject, keyId?: string): Promise<void> {
    if (await isErased(reader, subject, keyId)) throw notFound('Data of this user');
  }

  private gathered(
    subject: NamedSubject,
    { full, scope }: Wanted,
    bot: BotFacts | undefined,
    parts: readonly SubjectExport[],
  ): Gathered {
    const consent = parts.find((part) => part.consent !== undefined)?.consent ?? null;
    const { user_id: userId, guild_id: guildId } = subject.ids;
    const record =
      scope === undefined
        ? {
            ...(full && { schema: EXPORT_SCHEMA }),
            userId,
            guildId,
            exportedAt: this.clock.nowIso(),
            bot: shownBot(bot),
            consent,
          }
        : { guildId, consent };
    return {
      head: `${JSON.stringify(record).slice(0, -1)},"data":{`,
      data: () => entries(parts.flatMap(({ data }) => (data === undefined ? [] : [data]))),
      further: parts.flatMap((part) => Object.entries(part.full ?? {})),
      isHeld: parts.some((part) => part.consent !== undefined || part.isHeld === true),
    };
  }
}

/** The bot as an export names it. */
export function shownBot(bot: BotFacts | undefined): Partial<Pick<BotFacts, 'id' | 'name'>> {
  return { id: bot?.id, name: bot?.name };
}

async function isEmpty(pieces: AsyncGenerator<string>): Promise<boolean> {
  for await (const piece of pieces) if (piece !== '') return false;
  return true;
}

async function heldText({ head, data, further, isHeld }: Gathered): Promise<string | undefined> {
  let values = '';
  for await (const piece of data()) if ((values += piece).length > HELD_MAX) return undefined;
  if (values === '' && !isHeld) throw notFound('Data of this user');
  if (further.length === 0) {
    const text = head + values + END + END;
    return text.length > HELD_MAX ? undefined : text;
  }
  let text = head + values;
  for await (const piece of sections(further)) if ((text += piece).length > HELD_MAX) return undefined;
  return text;
}

/** The entries of `data` with their commas; each is read when it is needed. */
async function* entries(sources: readonly Data[]): AsyncGenerator<string> {
  let separator = '';
  for (const source of sources) {
    for await (const [name, json] of source) {
      yield `${separator}${JSON.stringify(name)}:${json}`;
      separator = ',';
    }
  }
}

/** Closes `data` and appends every further section as a list. */
export async function* sections(further: Further): AsyncGenerator<string> {
  yield END;
  for (const [name, items] of further) {
    let separator = `,${JSON.stringify(name)}:[`;
    for await (const item of items) {
      yield separator + jsonOf(item);
      separator = ',';
    }
    yield separator === ',' ? ']' : `${separator}]`;
  }
  yield END;
}
