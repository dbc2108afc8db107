import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { faultsOf } from './discord-limits';
import { PATIENT_SERVER } from './patient';
import { snowflake } from './snowflakes';

/** A message as Discord stores it. */
export interface DiscordMessage {
  readonly id: string;
  readonly flags: number;
  readonly content: string;
  readonly embeds: { title?: string; description?: string; footer?: { text: string } }[];
  readonly components: { components: DiscordComponent[] }[];
  readonly files: Readonly<Record<string, string>>;
}

export interface DiscordComponent {
  readonly type: number;
  readonly custom_id: string;
  readonly label?: string;
  /** Of a button that opens an address, which has no `custom_id`. */
  readonly url?: string;
  readonly disabled?: boolean;
  readonly options?: { label: string; value: string; default?: boolean }[];
}

export type Payload = Readonly<Record<string, unknown>> & { readonly token: string };

/** How an interaction reaches the bot. */
export type Deliver = (payload: Payload) => Promise<void> | void;

interface Open {
  message?: DiscordMessage;
  /** A deferred answer, until its text is there. */
  isLoading?: boolean;
  isDeleted?: boolean;
  /** The message that the component belongs to. */
  readonly pressed?: DiscordMessage;
  readonly wake: (message: DiscordMessage) => void;
  readonly answered: Promise<DiscordMessage>;
}

const [DEFERRED_REPLY, DEFERRED_UPDATE] = [5, 6];
/** The bit of a message whose text is not there yet. */
const LOADING = 128;

/** A local server that answers the REST calls of a bot as Discord's documentation says, and refuses what Discord refuses. */
export class FakeDiscord {
  applicationId = snowflake();
  /** Of the user of the bot, where it is not that of the application. */
  userId: string | undefined;
  /** Where clients of the gateway connect, if there is one. */
  gatewayUrl = '';
  /** The guilds of the bot. */
  guilds: string[] = [];
  commands: { name: string; options: object[] }[] = [];
  /** Answered in place of the next calls: a status, or the loss of the connection. */
  faults: (number | 'lost')[] = [];
  readonly requests: string[] = [];
  /** How many interactions the bot has deferred. */
  deferred = 0;
  /** The last message that the bot has sent or changed. */
  last: DiscordMessage | undefined;
  url: string;
  private server: Server;
  private readonly open = new Map<string, Open>();

  async start(): Promise<this> {
    this.server = createServer((request, response) => {
      void this.answerTo(request).then(({ status, body, headers }) => {
        if (status === 0) return response.destroy();
        if (status === 204) return response.writeHead(204).end();
        response.writeHead(status, { 'content-type': 'application/json', ...headers });
        return response.end(JSON.stringify(body));
      });
    });
    Object.assign(this.server, PATIENT_SERVER);
    await new Promise<void>((listening) => this.server.listen(0, '127.0.0.1', listening));
    this.url = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/api`;
    return this;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((closed) => this.server.close(closed));
  }

  /** Delivers an interaction, and answers the message that the user sees at the end. */
  async interact(deliver: Deliver, payload: Payload, pressed?: DiscordMessage): Promise<DiscordMessage> {
    let wake: Open['wake'] = () => undefined;
    const answered = new Promise<DiscordMessage>((resolve) => (wake = resolve));
    this.open.set(payload.token, { wake, answered, ...(pressed && { pressed }) });
    await deliver(payload);
    return answered;
  }

  /** What the bot answers at once: to the callback, or in the HTTP answer. */
  begin(token: string, { type, data }: { type: number; data?: { flags?: number } }): boolean {
    const open = this.open.get(token);
    if (open === undefined || open.message !== undefined) return false;
    if (type === DEFERRED_UPDATE && open.pressed !== undefined) open.message = open.pressed;
    else if (type === DEFERRED_REPLY) {
      open.isLoading = true;
      open.message = {
        id: snowflake(),
        flags: data?.flags ?? 0,
        content: '',
        embeds: [],
        components: [],
        files: {},
      };
    }
    if (open.message !== undefined) this.deferred += 1;
    return open.message !== undefined;
  }

  private async answerTo(request: IncomingMessage): Promise<Answer> {
    const body = await bodyOf(request);
    const path = request.url?.replace('/api/v10', '') ?? '';
    this.requests.push(`${request.method} ${path.replace(/\?.*/, '')}`);
    const fault = this.faults.shift();
    if (fault === 'lost') return { status: 0 };
    if (fault !== undefined)
      return {
        status: fault,
        body: { message: 'fault', retry_after: 0.01 },
        headers: { 'retry-after': '0.01' },
      };
    const [, top, one, two] = path.split(/[/?]/);
    if (top === 'interactions') {
      const { payload } = await partsOf(request, body);
      return this.begin(two ?? '', payload as { type: number }) ? { status: 204 } : unknown(10_062);
    }
    if (top === 'webhooks') return this.edited(request, two ?? '', body);
    if (path.startsWith('/users/@me/guilds')) return { status: 200, body: this.page(path) };
    if (path === '/users/@me') return { status: 200, body: userOf(this.userId ?? this.applicationId) };
    if (path === '/oauth2/applications/@me') return { status: 200, body: applicationOf(this.applicationId) };
    if (path === '/gateway/bot') return { status: 200, body: gatewayOf(this.gatewayUrl) };
    if (top === 'applications' && one === this.applicationId && request.method === 'PUT') {
      this.commands = JSON.parse(body.toString()) as typeof this.commands;
      const given = { application_id: this.applicationId, default_member_permissions: null, version: '1' };
      return {
        status: 200,
        body: this.commands.map((command) => ({ id: snowflake(), ...given, ...command })),
      };
    }
    return unknown(0);
  }

  /** The original message (GET, PATCH, DELETE), or a follow-up (POST). */
  private async edited(request: IncomingMessage, token: string, body: Buffer): Promise<Answer> {
    const open = this.open.get(token);
    if (open?.message === undefined) return unknown(10_015);
    if (open.isDeleted === true && request.method !== 'POST') return unknown(10_008);
    if (request.method === 'GET') return { status: 200, body: shownMessage(open.message, open.isLoading) };
    if (request.method === 'DELETE') {
      [open.isDeleted, open.isLoading] = [true, false];
      return { status: 204 };
    }
    const { payload, files } = await partsOf(request, body);
    const given = payload as unknown as DiscordMessage;
    const faults = faultsOf(given);
    if (faults.length > 0) return { status: 400, body: { code: 50_035, message: faults.join() } };
    // The first message after a deferral takes its place, with the flags of the deferral.
    const isNew = request.method === 'POST' && open.isLoading !== true;
    const before = isNew ? { id: snowflake(), flags: given.flags } : open.message;
    // A change leaves what it does not name.
    const { content, embeds = [], components = [] } = isNew ? given : { ...open.message, ...given };
    const { id, flags } = before;
    const isKept = !isNew && payload['attachments'] === undefined && Object.keys(files).length === 0;
    open.message = { id, flags, content, embeds, components, files: isKept ? open.message.files : files };
    open.isLoading = false;
    this.last = open.message;
    open.wake(open.message);
    return { status: 200, body: shownMessage(open.message) };
  }

  private page(path: string): { id: string }[] {
    const query = new URLSearchParams(path.split('?')[1]);
    const after = BigInt(query.get('after') ?? '0');
    const sorted = this.guilds.map(BigInt).sort((one, other) => (one < other ? -1 : 1));
    const ids = sorted.filter((id) => id > after).slice(0, Number(query.get('limit') ?? 200));
    return ids.map((id) => ({ id: String(id) }));
  }
}

interface Answer {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

const gatewayOf = (url: string) => ({
  ...{ url, shards: 1 },
  session_start_limit: { total: 1000, remaining: 1000, reset_after: 0, max_concurrency: 1 },
});

const userOf = (id: string) => ({
  id,
  username: 'Birthday Bot',
  discriminator: '0',
  avatar: null,
  bot: true,
});

const applicationOf = (id: string) => ({
  ...{ id, name: 'Birthday Bot', icon: null, description: '', flags: 0, verify_key: '' },
  ...{ bot_public: true, bot_require_code_grant: false, owner: userOf(snowflake()) },
});

const shownMessage = (message: DiscordMessage, isLoading = false): object => ({
  ...rawMessage(message),
  ...(isLoading && { flags: message.flags | LOADING }),
});

const unknown = (code: number): Answer => ({ status: 404, body: { code, message: 'Unknown' } });

/** A message as it is sent with the interaction of its component. */
export const rawMessage = ({ files, ...message }: DiscordMessage): object => ({
  ...{ ...message, channel_id: '1', type: 0, tts: false, pinned: false, mention_everyone: false },
  ...{
    mentions: [],
    mention_roles: [],
    edited_timestamp: null,
    timestamp: '2026-01-01T00:00:00.000000+00:00',
  },
  author: { id: '2', username: 'bot', discriminator: '0', avatar: null, bot: true },
  attachments: Object.keys(files).map((filename, id) => ({
    id: String(id),
    filename,
    size: 1,
    url: '',
    proxy_url: '',
  })),
});

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

/** The message of a request, as JSON or as the parts of a form. */
async function partsOf(request: IncomingMessage, body: Buffer) {
  const type = request.headers['content-type'] ?? '';
  if (!type.startsWith('multipart/'))
    return { payload: JSON.parse(body.toString()) as Record<string, unknown>, files: {} };
  const form = await new Response(body, { headers: { 'content-type': type } }).formData();
  const files: Record<string, string> = {};
  for (const [name, part] of form.entries())
    if (name.startsWith('files[') && typeof part !== 'string') files[part.name] = await part.text();
  return { payload: JSON.parse(form.get('payload_json') as string) as Record<string, unknown>, files };
}

/** Starts the server before the tests of the calling file, and stops it after them. */
export function useFakeDiscord(): FakeDiscord {
  const discord = new FakeDiscord();
  beforeAll(() => discord.start());
  afterAll(() => discord.stop());
  return discord;
}
