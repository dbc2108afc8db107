import { ApiProperty } from '@nestjs/swagger';
import { QueryInteger } from './fields';

const DEFAULT_PAGE_SIZE = 20;

/** The query of every list. */
export class PageQuery {
  @QueryInteger(1, Number.MAX_SAFE_INTEGER, 1) page?: string;
  @QueryInteger(1, 100, DEFAULT_PAGE_SIZE) page_size?: string;
}

export class Pagination {
  @ApiProperty({ type: 'integer' }) page: number;
  @ApiProperty({ type: 'integer' }) page_size: number;
  @ApiProperty({ type: 'integer' }) total_count: number;
  @ApiProperty({ type: 'integer' }) total_pages: number;
}

/** One page of a list: its offset and size in the database, and the answer's `pagination`. */
export class Page {
  readonly number: number;
  readonly size: number;

  constructor(query: PageQuery) {
    this.number = Number(query.page ?? 1);
    this.size = Number(query.page_size ?? DEFAULT_PAGE_SIZE);
  }

  /** The number of rows before this page, at most what a database accepts as an offset. */
  get offset(): number {
    return Math.min((this.number - 1) * this.size, Number.MAX_SAFE_INTEGER);
  }

  of(totalCount: number): Pagination {
    return {
      page: this.number,
      page_size: this.size,
      total_count: totalCount,
      total_pages: Math.ceil(totalCount / this.size),
    };
  }
}
