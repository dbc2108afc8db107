import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import type { FakeDiscord } from './fake-discord';

interface Packet {
  readonly op: number;
}

const [DISPATCH, HEARTBEAT, IDENTIFY, HELLO, HEARTBEAT_ACK] = [0, 1, 2, 10, 11];

/** The gateway of Discord: says hello, takes the identification, and dispatches events. */
export class FakeGateway {
  private readonly server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  /** Whether a bot has logged in. */
  isIdentified = false;
  private socket: WebSocket;
  private sequence = 0;

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

  async stop(): Promise<void> {
    for (const client of this.server.clients) client.terminate();
    await new Promise((closed) => this.server.close(closed));
  }

  private received({ op }: Packet): void {
    if (op === HEARTBEAT) this.send({ op: HEARTBEAT_ACK });
    if (op !== IDENTIFY) return;
    this.isIdentified = true;
    const { applicationId: id, gatewayUrl } = this.discord;
    const user = { id, username: 'Birthday Bot', discriminator: '0', avatar: null, bot: true };
    const session = { session_id: 'x', resume_gateway_url: gatewayUrl, shard: [0, 1] };
    this.dispatch('READY', { v: 10, user, guilds: [], application: { id, flags: 0 }, ...session });
  }

  private send(packet: object): void {
    this.socket.send(JSON.stringify(packet));
  }
}
