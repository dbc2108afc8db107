import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import type { FakeDiscord } from './fake-discord';

interface Packet {
  readonly op: number;
}

/** Where an interaction took place, and which guild has installed the bot for it. */
interface Interaction {
  readonly guild_id?: string;
  readonly authorizing_integration_owners?: { readonly 0?: string };
}

const [DISPATCH, HEARTBEAT, IDENTIFY, HELLO, HEARTBEAT_ACK] = [0, 1, 2, 10, 11];

/** The gateway of Discord: says hello, takes the identification, and dispatches events. */
export class FakeGateway {
  private readonly server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  /** Whether a bot has logged in. */
  isIdentified = false;
  private socket: WebSocket;
  private sequence = 0;
  private readonly guilds = new Set<string>();

  constructor(private readonly discord: FakeDiscord) {
    this.server.on('connection', (socket) => {
      this.socket = socket;
      socket.on('message', (data: Buffer) => this.received(JSON.parse(data.toString()) as Packet));
      this.send({ op: HELLO, d: { heartbeat_interval: 41_250 } });
    });
  }

  async start(): Promise<this> {
    if (this.server.address() === null) await once(this.server, 'listening');
    this.discord.gatewayUrl = `ws://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
    return this;
  }

  dispatch(type: string, data: object): void {
    this.send({ op: DISPATCH, t: type, s: ++this.sequence, d: data });
  }

  /** Dispatches an interaction, and before the first one of a guild that the bot is in, that guild. */
  interact(payload: object): void {
    const { guild_id: id, authorizing_integration_owners: owners } = payload as Interaction;
    if (id !== undefined && owners?.[0] === id && !this.guilds.has(id)) {
      this.guilds.add(id);
      // It is known since the login: no event of a bot says that it has joined it.
      this.dispatch('GUILD_CREATE', { id, unavailable: false });
    }
    this.dispatch('INTERACTION_CREATE', payload);
  }

  async stop(): Promise<void> {
    for (const client of this.server.clients) client.terminate();
    await new Promise((closed) => this.server.close(closed));
  }

  private received({ op }: Packet): void {
    if (op === HEARTBEAT) this.send({ op: HEARTBEAT_ACK });
    if (op !== IDENTIFY) return;
    this.isIdentified = true;
    const { applicationId: id, userId = id, gatewayUrl } = this.discord;
    const user = { id: userId, username: 'Birthday Bot', discriminator: '0', avatar: null, bot: true };
    const session = { session_id: 'x', resume_gateway_url: gatewayUrl, shard: [0, 1] };
    this.dispatch('READY', { v: 10, user, guilds: [], application: { id, flags: 0 }, ...session });
  }

  private send(packet: object): void {
    this.socket.send(JSON.stringify(packet));
  }
}
