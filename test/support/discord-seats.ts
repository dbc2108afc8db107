import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { askedOf, DiscordRest, Privacy, type PrivacyOptions, type RawInteraction } from '@lethe/discord';
import { HttpInteractions, type HttpOptions } from '@lethe/discord/http';
import { DiscordJsPrivacy, type DiscordJsOptions } from '@lethe/discord/discord-js';
import { Client, type Interaction } from 'discord.js';
import type { Deliver, FakeDiscord, Payload } from './fake-discord';
import { PATIENT_SERVER } from './patient';

/** A bot at one end, and how interactions reach it. */
export interface BotSeat {
  readonly deliver: Deliver;
  readonly stop: () => Promise<void>;
}

interface Packets {
  readonly ws: { status: number; handlePacket(packet: object, shard: object): void };
}

/** The limit of a call, which no call of a test is to meet. */
const REST_MAX_MS = 60_000;

/** A client of discord.js that is not connected: its REST calls reach the local server, packets are handed in. */
export function discordJsClient(discord: FakeDiscord) {
  const client = new Client({ intents: [], rest: { api: discord.url, retries: 0, timeout: REST_MAX_MS } });
  client.rest.setToken('token-of-the-bot');
  const gateway = client as unknown as Packets;
  gateway.ws.status = 0;
  // Only so that packets are handed on.
  Object.assign(client, { isReady: () => false });
  const packet = (type: string, data: object): void =>
    gateway.ws.handlePacket({ op: 0, t: type, d: data }, { id: 0 });
  return { client, packet };
}

/** A bot with discord.js. `own` sees every interaction that is not of `/privacy`. */
export function discordJsSeat(
  discord: FakeDiscord,
  options: DiscordJsOptions,
  own?: (interaction: Interaction, kit: DiscordJsPrivacy) => Promise<unknown>,
): BotSeat & { kit: DiscordJsPrivacy } {
  const { client, packet } = discordJsClient(discord);
  const kit = new DiscordJsPrivacy(options);
  client.on('interactionCreate', (interaction) => {
    void kit.handleInteraction(interaction).then((isDone) => (isDone ? undefined : own?.(interaction, kit)));
  });
  return { kit, deliver: (payload) => packet('INTERACTION_CREATE', payload), stop: () => client.destroy() };
}

const { publicKey, privateKey } = generateKeyPairSync('ed25519');

/** The public key as the developer portal shows it. */
export const PUBLIC_KEY = publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('hex');

/** A request that Discord has signed. */
export function signedRequest(body: string, key: KeyObject = privateKey, timeMs = Date.now()) {
  const timestamp = String(Math.floor(timeMs / 1000));
  const signature = sign(null, Buffer.from(timestamp + body), key).toString('hex');
  const headers = {
    'x-signature-ed25519': signature,
    'x-signature-timestamp': timestamp,
    'content-type': 'application/json',
  };
  return { method: 'POST', body, headers };
}

/** Sends interactions to the URL of a bot, as Discord does. */
export const signedDelivery =
  (discord: FakeDiscord, url: string, now = Date.now) =>
  async (payload: Payload): Promise<void> => {
    const answer = await fetch(url, signedRequest(JSON.stringify(payload), undefined, now()));
    if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`);
    discord.begin(payload.token, (await answer.json()) as { type: number });
  };

/** A bot that receives interactions by HTTP. */
export async function httpSeat(
  discord: FakeDiscord,
  { token, ...given }: Omit<HttpOptions, 'publicKey' | 'rest'> & { readonly token?: string },
): Promise<BotSeat & { url: string; handler: HttpInteractions }> {
  const rest = { api: `${discord.url}/v10`, ...(token !== undefined && { token }) };
  const handler = new HttpInteractions({ ...given, publicKey: PUBLIC_KEY, rest });
  const server = createServer((request, response) => void handler.node(request, response));
  Object.assign(server, PATIENT_SERVER);
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const deliver = signedDelivery(discord, url, given.now);
  const stop = async (): Promise<void> => {
    await handler.settled();
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  };
  return { url, handler, deliver, stop };
}

/** The conversation without an adapter. */
export function coreSeat(discord: FakeDiscord, options: PrivacyOptions): BotSeat & { privacy: Privacy } {
  const privacy = new Privacy(options);
  const rest = new DiscordRest({ api: `${discord.url}/v10` });
  const deliver = async (payload: Payload): Promise<void> => {
    const interaction = payload as unknown as RawInteraction;
    const asked = askedOf(interaction);
    if (asked === undefined) throw new Error('The interaction has no act');
    const isUpdate = asked.act.kind === 'component' && asked.act.isPrivate;
    discord.begin(payload.token, isUpdate ? { type: 6 } : { type: 5, data: { flags: 64 } });
    await rest.answer(interaction.application_id, payload.token, await privacy.reply(asked));
  };
  return { privacy, deliver, stop: async () => undefined };
}
