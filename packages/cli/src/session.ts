import { resolve } from 'node:path';
import { type Command, InvalidArgumentError } from 'commander';
import { type Hooks, Lethe, momentMs } from '@lethe/sdk';
import { NAMES, readEnvFile, textAt, type Values } from './env-file';
import { wrongUsage } from './failures';
import { Output } from './output';
import { notingLosses } from './unknown-outcome';

export const DEFAULT_URL = 'http://127.0.0.1:3000';
/** The limiter of the service begins anew each minute, and an erasure in many guilds takes its time. */
export const PATIENT = { timeoutMs: 150_000 };

type Given = Hooks & { readonly timeoutMs?: number };

interface GlobalOptions {
  readonly json?: boolean;
  readonly url?: string;
  readonly dotenv: string;
}

/** What a command works with: its settings, a client, and where it writes. */
export class Session {
  readonly output: Output;
  readonly envFile: string;
  /** The `Date` of the latest answer of the service, and this machine's time at that moment. */
  clock?: { readonly serviceMs: number; readonly hereMs: number; readonly answeredMs: number };
  private readonly values: Values;
  private readonly givenUrl: string | undefined;

  constructor(command: Command) {
    const options = command.optsWithGlobals<GlobalOptions>();
    this.output = new Output(options.json === true);
    this.envFile = resolve(options.dotenv);
    this.givenUrl = options.url;
    const inFile = readEnvFile(this.envFile);
    this.values = Object.fromEntries(
      NAMES.map((name) => [name, process.env[name] || inFile[name] || undefined]),
    );
  }

  get url(): string {
    return (this.givenUrl ?? this.values['LETHE_URL'] ?? DEFAULT_URL).replace(/(?<!\/)\/+$/, '');
  }

  /** The API key. It comes from the environment or `.env`, since other users of the machine can read arguments. */
  get key(): string | undefined {
    return this.values['LETHE_KEY'];
  }

  /** That there is no key, and whether there is a file that could have it. */
  get missingKey(): string {
    const isThere = textAt(this.envFile) !== undefined;
    return `LETHE_KEY is missing${isThere ? '' : `, and there is no ${this.envFile}`}`;
  }

  get hasSecret(): boolean {
    return this.values['LETHE_WEBHOOK_SECRET'] !== undefined;
  }

  get secret(): string {
    const secret = this.values['LETHE_WEBHOOK_SECRET'];
    if (secret !== undefined && /^whsec_[A-Za-z0-9+/]+={0,2}$/.test(secret)) return secret;
    throw wrongUsage(
      `LETHE_WEBHOOK_SECRET is ${secret === undefined ? 'missing' : 'no webhook secret'}, and calls are signed with it.`,
      'Set it in .env or in the environment: it is the webhook_secret of the registration (whsec_…).',
    );
  }

  /** Whether a value comes from the environment, which has priority over the file. */
  isFromEnvironment(name: (typeof NAMES)[number]): boolean {
    return Boolean(process.env[name]);
  }

  /** A client without a key, for what every caller may read. */
  anonymous(): Lethe {
    return this.clientWith(undefined);
  }

  client(given?: Given): Lethe {
    if (this.key === undefined)
      throw wrongUsage(
        `${this.missingKey}.`,
        'Register the bot with lethe init, or set the API key in .env or in the environment. It is no option, since other users of the machine see arguments.',
      );
    if (this.isFromEnvironment('LETHE_KEY')) this.requireOwnAddress('LETHE_KEY');
    return this.clientWith(this.key, given);
  }

  /**
   * A secret of the environment is not sent to an address that a file of the folder names: the folder may be somebody else's.
   * @throws Failure of wrong usage
   */
  requireOwnAddress(secret: string): void {
    if (this.givenUrl !== undefined || this.isFromEnvironment('LETHE_URL') || !this.values['LETHE_URL'])
      return;
    throw wrongUsage(
      `${secret} comes from the environment, and the address ${this.url} from ${this.envFile}: nothing was sent there.`,
      'If the address is right, give it with --url or set LETHE_URL in the environment too.',
    );
  }

  clientWith(key: string | undefined, given: Given = {}): Lethe {
    if (key !== undefined && !/^[\x21-\x7e]+$/.test(key))
      throw wrongUsage(
        'LETHE_KEY is no API key.',
        'It is the key alone (sk_live_…), without "Bearer", blanks or line breaks.',
      );
    const url = webAddress(this.url, 'LETHE_URL');
    const options = { ...given, ...(key !== undefined && { key }), ...notingLosses(given) };
    return new Lethe({ url, fetch: this.fetch, retries: 2, ...options });
  }

  readonly fetch: typeof globalThis.fetch = async (...given) => {
    const startedMs = Date.now();
    const response = await fetch(...given);
    const serviceMs = Date.parse(response.headers.get('date') ?? '');
    const answeredMs = Date.now();
    if (!Number.isNaN(serviceMs))
      this.clock = { serviceMs, hereMs: (startedMs + answeredMs) / 2, answeredMs };
    return response;
  };
}

/** An address of the web. @throws Failure of wrong usage */
export function webAddress(text: string, name: string): string {
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text;
  throw wrongUsage(
    `${name} is no address of the web: ${text}`,
    'Write it with its scheme, like http://127.0.0.1:3000.',
  );
}

/** Parses an argument that is an id of the platform. */
export function snowflake(text: string): string {
  if (/^\d{17,20}$/.test(text)) return text;
  throw new InvalidArgumentError('An id has 17 to 20 digits.');
}

/** Parses an argument that is a moment, into UTC. */
export function moment(text: string): string {
  const ms = momentMs(text);
  if (ms !== undefined) return new Date(ms).toISOString();
  throw new InvalidArgumentError(
    'It must be an ISO 8601 time of a day that exists, with its zone, like 2026-01-31T08:00:00Z.',
  );
}

/** Parses an argument that is a number of at least one. */
export function positive(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number from 1 on.');
}
