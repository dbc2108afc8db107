import { EPHEMERAL } from './asked';
import type { CommandData } from './commands';
import { leavesFiles, type Reply } from './reply';

const API = 'https://discord.com/api/v10';
const USER_AGENT = 'DiscordBot (@lethe/discord, 0.1.0)';
const ATTEMPTS = 5;
const PAUSE_MS = 250;
const PAUSE_MAX_MS = 30_000;
/** Of one attempt. The token of an interaction lasts for 15 minutes. */
const TIMEOUT_MS = 15_000;
/** Of one with files: 10 MiB over a slow line. */
const FILES_TIMEOUT_MS = 150_000;
/** An answer before Discord has stored the deferral: the message is there a moment later. */
const NOT_YET = [10_008, 10_015];

export interface RestOptions {
  /** The token of the bot. The answer to an interaction needs none. */
  readonly token?: string;
  readonly api?: string;
  readonly fetch?: typeof globalThis.fetch;
}

/** Discord refused a request, or did not answer it. */
export class DiscordError extends Error {
  override readonly name = 'DiscordError';

  constructor(
    message: string,
    readonly status: number | undefined,
    readonly code: number | undefined,
  ) {
    super(message);
  }
}

/** The few calls of Discord's REST interface that are needed here, repeated after 429, 5xx and faults of the network. */
export class DiscordRest {
  constructor(private readonly options: RestOptions = {}) {}

  get(path: string): Promise<unknown> {
    return this.send('GET', path);
  }

  put(path: string, body: unknown): Promise<unknown> {
    return this.send('PUT', path, () => json(body));
  }

  /** Puts the answer in the place of a deferred one. */
  async answer(applicationId: string, token: string, reply: Reply): Promise<void> {
    const path = `/webhooks/${applicationId}/${token}/messages/@original`;
    await this.send('PATCH', path, () => formOf(reply));
  }

  /** Adds a message that only the acting user sees. It is repeated too: twice is better than not at all, where the answer is lost. */
  async followUp(applicationId: string, token: string, reply: Reply): Promise<void> {
    await this.send('POST', `/webhooks/${applicationId}/${token}`, () => formOf(reply, { flags: EPHEMERAL }));
  }

  /**
   * Declares all commands of the bot: those that are not listed are removed. A repeat changes nothing.
   * With `guildId` in one guild alone, where they appear at once.
   */
  async putCommands(applicationId: string, commands: readonly (CommandData | object)[], guildId?: string) {
    const guild = guildId === undefined ? '' : `/guilds/${guildId}`;
    await this.put(`/applications/${applicationId}${guild}/commands`, commands);
  }

  private async send(method: string, path: string, content?: () => Content): Promise<unknown> {
    for (let attempt = 1; ; attempt++) {
      const { pauseMs, ...result } = await this.once(method, path, content?.());
      if (result.error === undefined) return result.answer;
      if (pauseMs === undefined || pauseMs > PAUSE_MAX_MS || attempt === ATTEMPTS) throw result.error;
      await new Promise((resolve) => setTimeout(resolve, Math.max(pauseMs, PAUSE_MS * attempt)));
    }
  }

  private async once(method: string, path: string, content?: Content): Promise<Attempted> {
    const { token, api = API, fetch = globalThis.fetch } = this.options;
    const headers: Record<string, string> = { 'user-agent': USER_AGENT, ...content?.headers };
    if (token !== undefined) headers['authorization'] = `Bot ${token}`;
    // A path can contain the token of an interaction.
    const name = `${method} ${path.replace(/(\/webhooks\/\d+\/)[^/]+/, '$1…')}`;
    try {
      const signal = AbortSignal.timeout(content?.body instanceof FormData ? FILES_TIMEOUT_MS : TIMEOUT_MS);
      const init = { method, headers, signal, ...(content && { body: content.body }) };
      const response = await fetch(api + path, init);
      const answer = parsed(await response.text());
      if (response.ok) return { answer };
      const { code } = (answer ?? {}) as { code?: number };
      const error = new DiscordError(`${name}: ${response.status}`, response.status, code);
      return { error, pauseMs: pauseMsOf(response, code) };
    } catch (error) {
      return { error: new DiscordError(`${name}: ${String(error)}`, undefined, undefined), pauseMs: 0 };
    }
  }
}

interface Content {
  readonly body: string | FormData;
  readonly headers?: Record<string, string>;
}

interface Attempted {
  readonly answer?: unknown;
  readonly error?: DiscordError;
  /** How long to wait before the next attempt; undefined where there is none. */
  readonly pauseMs?: number | undefined;
}

function pauseMsOf({ status, headers }: Response, code: number | undefined): number | undefined {
  if (status === 429) {
    const seconds = Number(headers.get('retry-after') ?? 1);
    // A proxy may write a date, and a pause of NaN is none.
    return (Number.isFinite(seconds) ? seconds : 1) * 1000;
  }
  const isPassing = status >= 500 || (status === 404 && code !== undefined && NOT_YET.includes(code));
  return isPassing ? 0 : undefined;
}

const json = (body: unknown): Content => ({
  body: JSON.stringify(body),
  headers: { 'content-type': 'application/json' },
});

/** The message, with its files as parts of a form. Files of an earlier answer are removed, unless the reply leaves them. */
function formOf(reply: Reply, given: object = {}): Content {
  const { content, embeds, components, files, isNote } = reply;
  const attachments = files.map(({ name }, id) => ({ id, filename: name }));
  const shown = { content, ...(isNote !== true && { embeds, components }) };
  const message = {
    ...shown,
    ...(!leavesFiles(reply) && { attachments }),
    allowed_mentions: { parse: [] },
    ...given,
  };
  if (files.length === 0) return json(message);
  const form = new FormData();
  form.append('payload_json', JSON.stringify(message));
  for (const [at, { name, data }] of files.entries()) form.append(`files[${at}]`, new Blob([data]), name);
  return { body: form };
}

function parsed(text: string): unknown {
  try {
    return text === '' ? undefined : JSON.parse(text);
  } catch {
    return undefined;
  }
}
