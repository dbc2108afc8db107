import { ApiProperty } from '@nestjs/swagger';
import { field, matches } from './field-rule';
import { QueryInteger } from './fields';

const DEFAULT_PAGE_SIZE = 20;
const CURSOR = /^[\w.-]{1,500}$/;

/** The query of every list. */
export class PageQuery {
  @QueryInteger(1, Number.MAX_SAFE_INTEGER, 1) page?: string;
  @QueryInteger(1, 100, DEFAULT_PAGE_SIZE) page_size?: string;
  @field(
    {
      name: 'cursor',
      check: matches(CURSOR),
      message: 'must be the pagination.next of a page of this list',
      schema: { type: 'string', pattern: CURSOR.source },
    },
    {
      optional: true,
      description:
        '`pagination.next` of the page before, in place of `page`: a walk misses no row and repeats none',
    },
  )
  after?: string;
}

export class Pagination {
  @ApiProperty({ type: 'integer', nullable: true, description: 'null for a page that `after` asked for' })
  page: number | null;
  @ApiProperty({ type: 'integer' }) page_size: number;
  @ApiProperty({
    type: 'integer',
    description: 'Of the whole list; a walk by `after` counts once, where it begins',
  })
  total_count: number;
  @ApiProperty({ type: 'integer' }) total_pages: number;
  @ApiProperty({
    type: String,
    nullable: true,
    description: '`after` of the next page; null on the last one',
  })
  next: string | null;
}

/** The place of a row in a list: the values by which the list is ordered. */
export type Position = readonly (string | number)[];

/** One page of a list: its place and size in the database, and the answer's `pagination`. */
export class Page<At extends Position> {
  readonly size: number;
  private readonly number: number;
  private next: At | undefined;

  /** `after` is the last row of the page before, and `counted` the total of its walk; without it the page has a number. */
  constructor(
    query: PageQuery,
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

  /** The rows of the page, of at most {@link limit} that were read; `at` answers the place of one. */
  cut<Row>(read: readonly Row[], at: (last: Row) => At): readonly Row[] {
    const rows = read.slice(0, this.size);
    const last = rows.at(-1);
    this.next = read.length > this.size && last !== undefined ? at(last) : undefined;
    return rows;
  }

  /** The rows of the whole list. A walk counts them once, where it begins: counting can cost more than the page. */
  async total(count: () => Promise<number>): Promise<number> {
    return this.counted ?? count();
  }

  /** The totals count every row of the list, wherever the page is; those of a walk stay. */
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
