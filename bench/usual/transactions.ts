import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { isPostgres } from './entities';

/**
 * One transaction per request. On SQLite TypeORM has one connection, on which a second concurrent transaction would
 * become part of the first: there they queue up, as in every service whose author has met that.
 */
@Injectable()
export class Transactions {
  private last: Promise<unknown> = Promise.resolve();

  constructor(private readonly dataSource: DataSource) {}

  run<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    if (isPostgres) return this.dataSource.transaction(work);
    const turn = this.last.then(() => this.dataSource.transaction(work));
    this.last = turn.catch(() => undefined);
    return turn;
  }
}
