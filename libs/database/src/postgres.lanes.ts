import { Client, type ClientConfig } from 'pg';
import { databaseUnavailable } from './database-faults';
import { prepared } from './postgres.tx';
import type { SqlValue } from './tx';

/** Connections over which single reads travel; each carries many at once, so that few suffice. */
const LANES = 2;

/**
 * Reads of one statement each: sent one behind the other without waiting for the answers in between (the pipelining
 * of the protocol), which saves them a connection of their own. A lane that breaks is opened anew by the next read.
 */
export class PostgresLanes {
  private readonly lanes: (Promise<Client> | undefined)[] = new Array<undefined>(LANES).fill(undefined);
  private next = 0;
  private closed = false;

  constructor(
    private readonly config: ClientConfig,
    private readonly onFault: (error: unknown) => void,
  ) {}

  async get(sql: string, values: readonly SqlValue[]): Promise<unknown> {
    this.next = (this.next + 1) % LANES;
    const client = await (this.lanes[this.next] ?? this.open(this.next));
    const { name, text } = prepared(sql);
    const { rows } = await client.query<Record<string, unknown>>({ name, text, values: values as unknown[] });
    return rows[0];
  }

  async close(): Promise<void> {
    this.closed = true;
    for (const lane of this.lanes) await lane?.then((client) => client.end()).catch(this.onFault);
  }

  private open(at: number): Promise<Client> {
    if (this.closed) throw databaseUnavailable();
    const client = new Client(this.config);
    const abandon = (): void => {
      if (this.lanes[at] === lane) this.lanes[at] = undefined;
    };
    const lane = client.connect().then(
      () => client,
      (error: unknown) => {
        abandon();
        throw error;
      },
    );
    // A lost connection is no news to anyone but the reads that wait on it, and these are refused by the driver.
    client.on('error', abandon).on('end', abandon);
    this.lanes[at] = lane;
    return lane;
  }
}
