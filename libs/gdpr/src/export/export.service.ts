import { Injectable } from '@nestjs/common';
import { findBot } from '@app/bots';
import { HeldSubjects, type NamedSubject } from '@app/crypto';
import { inPortions, type Tx, UnitOfWork } from '@app/database';
import { type Acting, type Actor, AnswerStream, grouped, jsonOf, JsonText } from '@app/http';
import { Acts, NO_CLAIM } from '@app/acts';
import { Clock, notFound, unlessMissing } from '@app/kernel';
import { ASKED_GUILDS_MAX } from '../holders/holder-questions';
import { EXPORT_SCHEMA, ExportReader, sections, shownBot, type WantedBy } from './export-reader';
import { ExportAct } from './export.act';

/** How a document that is not JSON shows an export. */
export interface ExportForm {
  /** The beginning of a guild. */
  guild(record: GuildRecord, subject: NamedSubject): Promise<string>;
  /** An entry of its data, in its texts. */
  entry(name: string, value: unknown): Iterable<string>;
  /** An item of a further section, in its texts. The items of a section follow each other. */
  item(section: string, item: Readonly<Record<string, unknown>>): AsyncIterable<string>;
  /** The end of a guild. */
  readonly end: string;
}

/** What an export says of a guild, besides its data. */
export interface GuildRecord {
  readonly guildId: string;
  readonly consent: { readonly version: string } | null;
}

/** A user of a bot, in one guild or in all. */
interface About {
  readonly botId: string;
  readonly userId: string;
  /** undefined for all guilds. */
  readonly subject: NamedSubject | undefined;
}

type Write = (piece: string) => Promise<void>;

/** How often a streamed export checks for an erasure of its subject. */
const CHECK_MS = 20;

/** The right of access (GDPR Art. 15): the data of all holders about a subject in one JSON document. */
@Injectable()
export class ExportService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly acts: Acts,
    private readonly act: ExportAct,
    private readonly reader: ExportReader,
    private readonly held: HeldSubjects,
    private readonly clock: Clock,
  ) {}

  /**
   * Exports one subject and records it (`data_exported`) in one unit, so that no erasure comes in between: a large export
   * when it has its place among the streams.
   * @throws ApiError 404 when nothing is stored, or during the erasure of the subject.
   */
  export(subject: NamedSubject, full: boolean, by: Actor): Promise<JsonText | AnswerStream> {
    return this.recorded(subject, { full, by });
  }

  /**
   * Exports one user in every guild of the bot with data. Each guild is an export of its own, with its own record.
   * A guild in which the user is being erased is left out.
   * @throws ApiError 404 when nothing is stored in any guild.
   */
  async exportAllGuilds({ botId, actor: by }: Acting, user_id: string, full: boolean): Promise<AnswerStream> {
    const wanted: WantedBy = { full, scope: 'all_guilds', by };
    const bot = await this.unitOfWork.read((tx) => findBot(tx, botId));
    const subjects = await this.fromFirstHeld(await this.held.inAllGuilds(botId, user_id), wanted);
    const head = {
      ...(full && { schema: EXPORT_SCHEMA }),
      userId: user_id,
      exportedAt: this.clock.nowIso(),
      bot: shownBot(bot),
    };
    return new AnswerStream(async (write) => {
      let before = `${JSON.stringify(head).slice(0, -1)},"guilds":[`;
      for (const [at, subject] of subjects.entries()) {
        const held = await this.recorded(subject, askedAt(at, wanted)).catch(unlessMissing);
        if (held === undefined) continue;
        await write(before);
        await (held instanceof JsonText ? write(held.text) : held.writeTo(write));
        before = ',';
      }
      // Everything was erased while the answer waited for its place.
      if (before !== ',') throw notFound('Data of this user');
      await write(']}');
    });
  }

  /**
   * What answers a request for the headers of an export alone, of one subject or of all guilds: nothing is recorded, and no holder of
   * the bot is asked. @throws ApiError 404 when nothing is stored
   */
  async headers(about: About, full: boolean, by: Actor): Promise<AnswerStream> {
    await this.fromFirstHeld(await this.subjectsOf(about), { full, by });
    return new AnswerStream((write) => write(''));
  }

  /**
   * The export of one subject, or of all guilds, in another form: one guild after the other, each with its own record.
   * @throws ApiError 404 when nothing is stored; so does the writing when everything was erased meanwhile
   */
  async exportAs(form: ExportForm, about: About, by: Actor): Promise<(write: Write) => Promise<void>> {
    const wanted: WantedBy = { full: true, by, ...(about.subject === undefined && { scope: 'all_guilds' }) };
    const subjects = await this.fromFirstHeld(await this.subjectsOf(about), wanted);
    return async (write) => {
      let isTold = false;
      for (const [at, each] of subjects.entries()) {
        let isBegun = false;
        const tell = async (piece: string): Promise<void> => {
          isBegun = true;
          await write(piece);
        };
        await this.stream(each, askedAt(at, wanted), tell, form).catch((error: unknown) => {
          // A guild that was begun is not left half.
          if (isBegun) throw error;
          unlessMissing(error);
        });
        isTold ||= isBegun;
      }
      if (!isTold) throw notFound('Data of this user');
    };
  }

  private async subjectsOf({ botId, userId, subject }: About): Promise<readonly NamedSubject[]> {
    return subject === undefined ? this.held.inAllGuilds(botId, userId) : [subject];
  }

  /** The subjects from the first one on about which something is held. Nothing is recorded: the answer may still be refused. @throws ApiError 404 if there is none */
  private async fromFirstHeld(
    subjects: readonly NamedSubject[],
    wanted: WantedBy,
  ): Promise<readonly NamedSubject[]> {
    for (const [at, subject] of subjects.entries()) {
      const begun = this.unitOfWork.read((tx) => this.reader.begin(tx, subject, wanted));
      if ((await begun.catch(unlessMissing)) !== undefined) return subjects.slice(at);
    }
    throw notFound('Data of this user');
  }

  private async recorded(subject: NamedSubject, wanted: WantedBy): Promise<JsonText | AnswerStream> {
    const { text } = await this.acts.run(this.act, { subject, wanted }, NO_CLAIM);
    return text === undefined
      ? new AnswerStream((write) => this.stream(subject, wanted, write))
      : new JsonText(text);
  }

  /** Records the export once it can be sent: one that is refused because no place is free is not recorded. */
  private async stream(
    subject: NamedSubject,
    wanted: WantedBy,
    write: Write,
    form?: ExportForm,
  ): Promise<void> {
    const { head, keyId } = await this.unitOfWork.write((tx) => this.act.begin(tx, { subject, wanted }));
    await write(
      form === undefined ? head : await form.guild(JSON.parse(`${head}}}`) as GuildRecord, subject),
    );
    try {
      for await (const portion of inPortions(this.unitOfWork, (tx) =>
        this.pieces(tx, subject, wanted, form),
      )) {
        let checkedMs = -Infinity;
        for (const piece of portion) {
          // An erasure that began during the export ends the export: a portion that is read later lacks what is erased.
          if (this.clock.monotonicMs() - checkedMs >= CHECK_MS) {
            checkedMs = this.clock.monotonicMs();
            await this.reader.requireOpen(this.unitOfWork, subject, keyId);
          }
          if (form === undefined) await write(piece);
          else for await (const part of grouped(told(form, piece))) await write(part);
        }
      }
      if (form !== undefined) await write(form.end);
    } catch (error) {
      // The key of an erased subject is destroyed: that its values cannot be decrypted is not a fault.
      await this.reader.requireOpen(this.unitOfWork, subject, keyId);
      throw error;
    }
  }

  private async *pieces(
    tx: Tx,
    subject: NamedSubject,
    wanted: WantedBy,
    form: ExportForm | undefined,
  ): AsyncGenerator<string, void> {
    const { data, further } = await this.reader.gather(tx, subject, wanted);
    if (form !== undefined) {
      yield* data();
      for (const [section, items] of further)
        for await (const item of items) yield `[${JSON.stringify(section)},${jsonOf(item)}]`;
      return;
    }
    yield* grouped(data());
    yield* grouped(sections(further));
  }
}

/** In its form: an entry, which is given as a member of a JSON object with its comma, or the item of a section. */
async function* told(form: ExportForm, entry: string): AsyncGenerator<string> {
  if (entry.startsWith('[')) {
    yield* form.item(...(JSON.parse(entry) as Parameters<ExportForm['item']>));
    return;
  }
  const read = JSON.parse(`{${entry.replace(/^,/, '')}}`) as Record<string, unknown>;
  for (const [name, value] of Object.entries(read)) yield* form.entry(name, value);
}

/** The first guilds of an export of all ask the holders of the bot. */
function askedAt(at: number, wanted: WantedBy): WantedBy {
  return at < ASKED_GUILDS_MAX ? wanted : { ...wanted, asks: false };
}
