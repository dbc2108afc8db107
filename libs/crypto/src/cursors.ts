import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Page, type PageQuery, type Position, type WalkQuery } from '@app/http';
import { invalidRequest } from '@app/kernel';
import { ifReadable } from './aead';
import { InstallationKeys } from './installation-keys';

/** What a cursor holds: the last row that was read, and the total of its walk. */
interface Place<At extends Position> {
  readonly at: At;
  readonly counted?: number;
}

const PLACE = ['page', 'page_size', 'after'];

/**
 * The pages of lists, and the cursors by which a walk continues after the last row that it has read. A cursor is
 * encrypted: it shows no stored id, and a caller cannot make one that reads more than a page. It is bound to the bot, the list
 * and its filters.
 */
@Injectable()
export class Cursors {
  constructor(private readonly keys: InstallationKeys) {}

  /**
   * The page that `query` asks for, by its number or after a cursor. `list` names the list.
   * @throws ApiError 400 for a number beside a cursor, and for a text that is no cursor of this list with these filters
   */
  page<At extends Position>(botId: string, list: string, query: PageQuery | WalkQuery): Page<At> {
    const { page, after } = query;
    const context = contextOfCursor(botId, list, query);
    const write = (at: At, counted: number): string =>
      this.keys.installation.encrypt(JSON.stringify({ at, counted }), context);
    if (after == null) return new Page<At>(query, write);
    if (page != null) throw refused('continues behind a row, so that it needs no page: send one of them');
    const { at, counted } = this.read<At>(after, context);
    return new Page<At>(query, write, at, counted);
  }

  private read<At extends Position>(cursor: string, context: string): Place<At> {
    const json = ifReadable(() => this.keys.installation.decrypt(cursor, context));
    if (json === undefined)
      throw refused('must be the pagination.next of a page of this list, asked for with the same filters');
    const read = JSON.parse(json) as At | Place<At>;
    // A cursor that an earlier build has made is a place alone.
    return Array.isArray(read) ? { at: read as unknown as At } : (read as Place<At>);
  }
}

function refused(message: string): Error {
  return invalidRequest([{ field: 'after', message }]);
}

/** The place of a cursor. Filters can be long; their digest is not. */
function contextOfCursor(botId: string, list: string, query: PageQuery | WalkQuery): string {
  const filters = Object.entries(query).filter(([name, value]) => !PLACE.includes(name) && value != null);
  const digest = createHash('sha256').update(JSON.stringify(filters.sort())).digest('base64url');
  return `cursor/${botId}/${list}/${digest}`;
}
