import { Injectable } from '@nestjs/common';
import { findBot } from '@app/bots';
import { HeldSubjects } from '@app/crypto';
import { inPortions, type Tx, UnitOfWork } from '@app/database';
import { SubjectErasures } from '@app/erasure';
import { JsonStream, JsonText } from '@app/http';
import { ApiError, Clock, notFound } from '@app/kernel';
import type { NamedSubject } from '@app/subjects';
import { EXPORT_SCHEMA, inPieces } from './export-document';
import { ExportReader, shownBot, type Wanted } from './export-reader';
import { ExportAct } from './export.act';

/** How often a streamed export checks for an erasure of its subject. */
const CHECK_MS = 20;

/** The right of access (GDPR Art. 15): the data of all holders about a subject in one JSON document. */
@Injectable()
export class ExportService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly act: ExportAct,
    private readonly reader: ExportReader,
    private readonly held: HeldSubjects,
    private readonly erasures: SubjectErasures,
    private readonly clock: Clock,
  ) {}

  /**
   * Exports one subject and records it (`data_exported`) in one unit, so that no erasure comes in between.
   * @throws ApiError 404 when nothing is stored, or during the erasure of the subject.
   */
  export(subject: NamedSubject, full: boolean, via?: string): Promise<JsonText | JsonStream> {
    return this.recorded(subject, { full, via });
  }

  /**
   * Exports one user in every guild of the bot with data. Each guild is an export of its own, with its own record. A guild in which the user is being erased is left out.
   * @throws ApiError 404 when nothing is stored in any guild.
   */
  async exportAllGuilds(botId: string, user_id: string, full: boolean, via?: string): Promise<JsonStream> {
    const bot = await this.unitOfWork.read((tx) => findBot(tx, botId));
    const guilds = this.heldBy(await this.held.inAllGuilds(botId, user_id), {
      full,
      scope: 'all_guilds',
      via,
    });
    const first = await guilds.next();
    if (first.done === true) throw notFound('Data of this user');
    const head = {
      ...(full && { schema: EXPORT_SCHEMA }),
      userId: user_id,
      exportedAt: this.clock.nowIso(),
      bot: shownBot(bot),
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
    wanted: Wanted,
  ): AsyncGenerator<JsonText | JsonStream, undefined> {
    for (const subject of subjects) {
      const held = await this.recorded(subject, wanted).catch(unlessMissing);
      if (held !== undefined) yield held;
    }
  }

  private async recorded(subject: NamedSubject, wanted: Wanted): Promise<JsonText | JsonStream> {
    const { text } = await (wanted.full || wanted.scope !== undefined || wanted.via !== undefined
      ? this.unitOfWork.write((tx) => this.act.alone(tx, subject, wanted))
      : this.unitOfWork.share(this.act, subject));
    return text === undefined
      ? new JsonStream((write) => this.stream(subject, wanted, write))
      : new JsonText(text);
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
            await this.reader.requireOpen(this.unitOfWork, subject, known);
          }
          await write(piece);
        }
      }
    } catch (error) {
      // The key of an erased subject is destroyed: that its values cannot be decrypted is no fault.
      await this.reader.requireOpen(this.unitOfWork, subject, known);
      throw error;
    }
  }

  private async *pieces(tx: Tx, subject: NamedSubject, wanted: Wanted): AsyncGenerator<string> {
    const { head, data, tail } = await this.reader.gather(tx, subject, wanted);
    yield head;
    yield* inPieces(data());
    yield* inPieces(tail());
  }
}

function writeGuild(held: JsonText | JsonStream, write: (piece: string) => Promise<void>): Promise<void> {
  return held instanceof JsonText ? write(held.text) : held.writeTo(write);
}

/** Undefined for a 404: the guild was erased meanwhile, or held only records of an erasure. */
function unlessMissing(error: unknown): undefined {
  if (error instanceof ApiError && error.code === 'not_found') return undefined;
  throw error;
}
