import type { OnApplicationShutdown, OnModuleInit } from '@nestjs/common';
import { randomUUID } from 'node:crypto';
import { Client, type ClientConfig, type Notification } from 'pg';
import type { OnFault } from './database.engine';

/**
 * Short messages between the processes of one database. Every other process receives a message within milliseconds, or
 * it is lost: a receiver must also poll the database. Sending never blocks and never fails.
 */
export abstract class Signals {
  /**
   * Sends a message to all other processes; call it after the commit. Equal messages of one turn of the event loop are
   * sent once. `payload` is an id: PostgreSQL refuses a notification of 8,000 bytes.
   */
  abstract tell(topic: string, payload: string): void;

  /** Registers `listener` for messages of other processes about the topic. */
  abstract on(topic: string, listener: (payload: string) => void): void;

  /** Registers `listener` for times when messages may have been lost: the loss of the connection, and its return. */
  abstract onGap(listener: () => void): void;
}

/** For an engine with a single process: there is no receiver. */
export const NO_SIGNALS: Signals = {
  tell: () => undefined,
  on: () => undefined,
  onGap: () => undefined,
};

const CHANNEL = 'lethe';
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;
/** The interval of the heartbeat, in milliseconds. It detects a connection that was lost silently. */
const HEARTBEAT_MS = 5_000;

type Word = readonly [topic: string, payload: string];

interface Message {
  readonly from: string;
  /** A list, since another release on the database sends several words in one. */
  readonly words: readonly Word[];
}

/**
 * Signals over LISTEN and NOTIFY, on a separate connection that is opened again after each loss. A notification takes a
 * server-wide lock at its commit, so it is never part of an act's transaction and does not wait for the disk.
 */
export class PostgresSignals extends Signals implements OnModuleInit, OnApplicationShutdown {
  private readonly me = randomUUID();
  private readonly listeners = new Map<string, ((payload: string) => void)[]>();
  private readonly gapListeners: (() => void)[] = [];
  private readonly waiting = new Set<string>();
  private client: Client | undefined;
  private pauseMs = FIRST_PAUSE_MS;
  private reopening: NodeJS.Timeout | undefined;
  private heartbeat: NodeJS.Timeout | undefined;
  private closed = false;

  constructor(
    private readonly config: ClientConfig,
    private readonly onFault: OnFault,
  ) {
    super();
  }

  /** The service starts even if the first connection fails. */
  async onModuleInit(): Promise<void> {
    await this.open();
    this.heartbeat = setInterval(() => void this.beat(), HEARTBEAT_MS).unref();
  }

  async onApplicationShutdown(): Promise<void> {
    // Signals that modules send during the shutdown are still sent.
    const { client } = this;
    if (client !== undefined) await this.send(client);
    this.closed = true;
    clearTimeout(this.reopening);
    clearInterval(this.heartbeat);
    this.client = undefined;
    await client?.end().catch(() => undefined);
  }

  tell(topic: string, payload: string): void {
    if (this.closed) return;
    if (this.waiting.size === 0)
      setImmediate(() => {
        // If there is no connection, the signals are lost, as in transit.
        if (this.client === undefined) this.waiting.clear();
        else void this.send(this.client);
      });
    this.waiting.add(JSON.stringify({ from: this.me, words: [[topic, payload]] } satisfies Message));
  }

  on(topic: string, listener: (payload: string) => void): void {
    this.listeners.set(topic, [...(this.listeners.get(topic) ?? []), listener]);
  }

  onGap(listener: () => void): void {
    this.gapListeners.push(listener);
  }

  private async send(client: Client): Promise<void> {
    const messages = [...this.waiting];
    if (messages.length === 0) return;
    this.waiting.clear();
    await client
      .query('SELECT pg_notify($1, message) FROM unnest($2::text[]) AS message', [CHANNEL, messages])
      .catch(() => this.lost(client));
  }

  private async open(): Promise<void> {
    const client = new Client({ ...this.config, application_name: 'lethe-signals' });
    client.on('error', () => this.lost(client)).on('end', () => this.lost(client));
    client.on('notification', (notification) => this.hear(notification));
    try {
      await client.connect();
      await client.query('SET synchronous_commit = off');
      await client.query(`LISTEN ${CHANNEL}`);
    } catch (error) {
      this.call(() => this.onFault(error));
      client.end().catch(() => undefined);
      this.openLater();
      return;
    }
    if (this.closed) return void client.end().catch(() => undefined);
    this.client = client;
    this.pauseMs = FIRST_PAUSE_MS;
    this.tellOfGap();
  }

  private lost(client: Client): void {
    if (this.client !== client) return;
    this.client = undefined;
    client.end().catch(() => undefined);
    this.tellOfGap();
    this.openLater();
  }

  private openLater(): void {
    if (this.closed) return;
    this.reopening = setTimeout(() => void this.open(), this.pauseMs * (0.5 + Math.random() / 2)).unref();
    this.pauseMs = Math.min(this.pauseMs * 2, LONGEST_PAUSE_MS);
  }

  private async beat(): Promise<void> {
    const { client } = this;
    if (client === undefined) return;
    const late = setTimeout(() => this.lost(client), HEARTBEAT_MS);
    await client.query('SELECT 1').catch(() => this.lost(client));
    clearTimeout(late);
  }

  private hear({ payload = '' }: Notification): void {
    const message = parsed(payload);
    if (message === undefined || message.from === this.me) return;
    for (const [topic, word] of message.words)
      for (const listener of this.listeners.get(topic) ?? []) this.call(() => listener(word));
  }

  private tellOfGap(): void {
    for (const listener of this.gapListeners) this.call(listener);
  }

  private call(listener: () => void): void {
    try {
      listener();
    } catch (error) {
      this.onFault(error);
    }
  }
}

/** Undefined for a payload that no process of Lethe has sent. */
function parsed(text: string): Message | undefined {
  try {
    const { from, words } = JSON.parse(text) as Partial<Message>;
    const isMessage = typeof from === 'string' && Array.isArray(words) && words.every(isWord);
    return isMessage ? { from, words } : undefined;
  } catch {
    return undefined;
  }
}

function isWord(word: unknown): word is Word {
  return Array.isArray(word) && word.length === 2 && word.every((part) => typeof part === 'string');
}
