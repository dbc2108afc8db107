import { setImmediate as nextTurn } from 'node:timers/promises';
import { applyDecorators } from '@nestjs/common';
import { ValidateBy } from 'class-validator';
import { jsonOf, JsonText } from './answer';
import { field, matches, presence, QueryInteger } from './fields';
import { Of } from './nested.fields';
import { AnswerStream, grouped } from './streams';

const DEFAULT_PAGE_SIZE = 20;
const CURSOR = /^[\w.-]{1,500}$/;

const PageSize = () => QueryInteger(1, 100, DEFAULT_PAGE_SIZE);
const After = (description: string) =>
  field(
    {
      check: matches(CURSOR),
      message: 'must be the pagination.next of a page of this list',
      schema: { type: 'string', pattern: CURSOR.source },
    },
    { optional: true, description },
  );

const Refused = (message: string) =>
  applyDecorators(
    ...presence({ optional: true }),
    ValidateBy({ name: 'refused', validator: { validate: () => false } }, { message }),
  );

/** The query of every list that is counted. */
export class PageQuery {
  @QueryInteger(1, Number.MAX_SAFE_INTEGER, 1) page?: string;
  @PageSize() page_size?: string;
  @After('`pagination.next` of the page before, in place of `page`: a walk misses no row and repeats none')
  after?: string;
}

/** The query of a list that is walked and never counted: it has no numbered pages. */
export class WalkQuery {
  @PageSize() page_size?: string;
  @After('`pagination.next` of the page before') after?: string;
  /** Not documented. Ignored, it would answer the first page to every number. */
  @Refused('does not exist in this list: send the pagination.next of the page before as after')
  page?: undefined;
}

export class Pagination {
  @Of('integer', { nullable: true, description: 'null for a page that `after` asked for' })
  page: number | null;
  @Of('integer') page_size: number;
  @Of('integer', 'Of the whole list; a walk by `after` counts once, where it begins') total_count: number;
  @Of('integer') total_pages: number;
  @Of(String, { nullable: true, description: '`after` of the next page; null on the last one' })
  next: string | null;
}

export class WalkPagination {
  @Of('integer') page_size: number;
  @Of(String, {
    nullable: true,
    description:
      '`after` of the next page; null on the last one. A page before it can have fewer rows, or none',
  })
  next: string | null;
}

/** The place of a row in a list: the values by which the list is ordered. */
export type Position = readonly (string | number)[];

/** A list of which no index has the rows that it shows: each statement looks at a part of it, behind a place. */
export interface ListInParts<Unit, Row> {
  readonly begin: string;
  /** Does `work` on one snapshot: a row that is added or removed between two statements would move the end of a part. */
  unit<Result>(work: (unit: Unit) => Promise<Result>): Promise<Result>;
  /** How many rows of the part behind `place` the list shows, and the place of the next part; undefined after the last one. */
  count(unit: Unit, place: string): Promise<CountedPart>;
  /** Some of the rows that the list shows of this part. */
  read(unit: Unit, place: string, skip: number, take: number): Promise<readonly Row[]>;
}

export interface CountedPart {
  readonly shown: number;
  readonly next: string | undefined;
}

interface Part<Row> extends CountedPart {
  readonly rows: readonly Row[];
}

/** One page of a list: its place and size in the database, and the answer's `pagination`. */
export class Page<At extends Position> {
  readonly size: number;
  private readonly number: number;
  private next: At | undefined;

  /** `after` is the last row of the page before, and `counted` the total of its walk; a page without `after` has a number. */
  constructor(
    query: PageQuery | WalkQuery,
    private readonly cursorOf: (at: At, counted: number) => string,
    readonly after?: At,
    private readonly counted?: number,
  ) {
    this.number = Number(query.page ?? 1);
    this.size = Number(query.page_size ?? DEFAULT_PAGE_SIZE);
  }

  /** The number of rows before this page, at most what a database accepts as an offset. */
  get offset(): number {
    return this.after === undefined ? Math.min((this.number - 1) * this.size, Number.MAX_SAFE_INTEGER) : 0;
  }

  /** The rows to read: one more than the page has shows that there is a further page. */
  get limit(): number {
    return this.size + 1;
  }

  /** The rows of the page, of at most {@link limit} that were read; `at` returns the place of one. */
  cut<Row>(read: readonly Row[], at: (last: Row) => At): readonly Row[] {
    const rows = read.slice(0, this.size);
    const last = rows.at(-1);
    this.next = read.length > this.size && last !== undefined ? at(last) : undefined;
    return rows;
  }

  /** The rows to {@link cut} of a list in parts, between which other requests are answered, and its total. */
  async inParts<Unit, Row>(list: ListInParts<Unit, Row>): Promise<{ rows: Row[]; total: number }> {
    const rows: Row[] = [];
    let [total, place]: [number, string | undefined] = [0, String(this.after?.[0] ?? list.begin)];
    for (; place !== undefined; await nextTurn()) {
      const part: Part<Row> = await this.partOf(list, place, total, this.limit - rows.length);
      rows.push(...part.rows);
      total += part.shown;
      place = part.next;
    }
    return { rows, total };
  }

  /** The rows of the page, `take` at most, in the part behind `place`, and its count. */
  private partOf<Unit, Row>(
    list: ListInParts<Unit, Row>,
    place: string,
    before: number,
    take: number,
  ): Promise<Part<Row>> {
    return list.unit(async (unit) => {
      if (this.after === undefined) {
        const [counted, skip] = [await list.count(unit, place), Math.max(0, this.offset - before)];
        const isRead = take > 0 && counted.shown > skip;
        return { rows: isRead ? await list.read(unit, place, skip, take) : [], ...counted };
      }
      // A walk was counted where it began: it counts only to pass over a part that does not fill the page.
      const rows = await list.read(unit, place, 0, take);
      return rows.length === take
        ? { rows, shown: 0, next: undefined }
        : { rows, ...(await list.count(unit, place)) };
    });
  }

  /** A page of a list that is not counted; the next one begins behind `last`, unless this is the end. */
  walked(last: At | undefined): WalkPagination {
    return { page_size: this.size, next: last === undefined ? null : this.cursorOf(last, 0) };
  }

  /** The rows of the whole list. A walk counts them once, where it begins: counting can cost more than the page. */
  async total(count: () => Promise<number>): Promise<number> {
    return this.counted ?? count();
  }

  /** The totals count every row of the list, wherever the page is; during a walk they stay the same. */
  of(total: number): Pagination {
    const totalCount = this.counted ?? total;
    return {
      page: this.after === undefined ? this.number : null,
      page_size: this.size,
      total_count: totalCount,
      total_pages: Math.ceil(totalCount / this.size),
      next: this.next === undefined ? null : this.cursorOf(this.next, totalCount),
    };
  }
}

/** A longer page is sent in pieces, in UTF-16 units. */
const WHOLE_MAX = 256 * 1024;

/** One page of a list. Each of its `items` becomes JSON when it is sent, so that no page stops other requests. */
export class ListPage {
  constructor(
    private readonly name: string,
    readonly items: Iterable<object>,
    private readonly pagination: Pagination | WalkPagination,
  ) {}

  /** The result: one text, or a stream for a large page. Both have the same bytes. */
  content(): JsonText | AnswerStream {
    return inPieces(this.texts());
  }

  private *texts(): Generator<string, undefined> {
    yield `{${JSON.stringify(this.name)}:[`;
    let separator = '';
    for (const item of this.items) {
      yield separator + jsonOf(item);
      separator = ',';
    }
    yield `],"pagination":${JSON.stringify(this.pagination)}}`;
  }
}

/** The JSON that consists of `texts`: one text, or a stream for a large one. Both have the same bytes. */
export function inPieces(texts: Generator<string, undefined>): JsonText | AnswerStream {
  let begun = '';
  for (let next = texts.next(); next.done !== true; next = texts.next()) {
    begun += next.value;
    if (begun.length <= WHOLE_MAX) continue;
    return new AnswerStream(async (write) => {
      await write(begun);
      for await (const piece of grouped(texts)) await write(piece);
    });
  }
  return new JsonText(begun);
}
