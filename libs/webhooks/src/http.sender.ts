import { type LookupAddress, promises as dns } from 'node:dns';
import { readFile } from 'node:fs/promises';
import { type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { Clock, type Config, type EgressPolicy } from '@app/kernel';
import {
  type CallResult,
  type Outcome,
  outcomeOf,
  retryAfterMs,
  type WebhookCall,
  WebhookSender,
} from './webhook-call';

const LOCALHOST = ['127.0.0.1', '::1'].map(asAddress);
/** How long addresses of one family wait for those of the other: some name servers are silent about IPv6. */
const OTHER_FAMILY_MS = 500;

/**
 * Finds the addresses of a receiver in the hosts file and by its own DNS queries. The resolver of the system runs on two
 * threads for the whole process, so that two slow names would delay every other receiver.
 */
export class NameResolver {
  constructor(
    private readonly resolver = new dns.Resolver({ timeout: 2_000, tries: 2 }),
    private readonly hostsFile = '/etc/hosts',
  ) {}

  /** The addresses of `name`, without a family that is late; empty for an unknown name or without an answer in time. */
  async resolve(name: string): Promise<readonly LookupAddress[]> {
    const host = name.toLowerCase().replace(/\.$/, '');
    if (host === 'localhost' || host.endsWith('.localhost')) return LOCALHOST;
    const known = await this.inHostsFile(host);
    if (known.length > 0) return known;
    return this.byFamilies(this.resolver.resolve4(host), this.resolver.resolve6(host));
  }

  private async byFamilies(...families: readonly Promise<string[]>[]): Promise<LookupAddress[]> {
    const found = families.map((): string[] => []);
    let late: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      const ended = families.map(async (family, at) => {
        const addresses = await family.catch(() => []);
        found[at] = addresses;
        if (addresses.length > 0) late ??= setTimeout(resolve, OTHER_FAMILY_MS);
      });
      void Promise.all(ended).then(() => resolve());
    });
    clearTimeout(late);
    return found.flat().map(asAddress);
  }

  private async inHostsFile(host: string): Promise<LookupAddress[]> {
    const text = await readFile(this.hostsFile, 'utf8').catch(() => '');
    return text
      .split('\n')
      .map((line) => line.replace(/#.*/, '').trim().toLowerCase().split(/\s+/))
      .filter(([address = '', ...names]) => isIP(address) !== 0 && names.includes(host))
      .map(([address = '']) => asAddress(address));
  }
}

function asAddress(address: string): LookupAddress {
  return { address, family: isIP(address) };
}

const HEADERS_MAX_BYTES = 16_384;
const BODY_MAX_BYTES = 65_536;
const INTERIM_ANSWERS_MAX = 5;
/** After this time the next address is tried; Node's 250 ms are too short for distant receivers. */
const ADDRESS_TIMEOUT_MS = 1_000;

type Limits = Pick<Config, 'webhookTimeoutMs' | 'webhookConnectTimeoutMs'>;
type Ended = Omit<CallResult, 'durationMs'>;

/**
 * Sends calls over node:http(s). It connects only to addresses that it has just checked. It does not follow redirects.
 * The connection and the whole call have deadlines that slow bytes do not extend. It reads a bounded part of the answer
 * and keeps nothing but the status.
 */
export class HttpWebhookSender extends WebhookSender {
  constructor(
    private readonly limits: Limits,
    private readonly egress: EgressPolicy,
    private readonly clock: Clock,
    private readonly names = new NameResolver(),
    /** Certificates of authorities that replace the default ones. */
    private readonly authorities?: string,
  ) {
    super();
  }

  async send(call: WebhookCall, signal: AbortSignal): Promise<CallResult> {
    const startedMs = this.clock.monotonicMs();
    const attempt = new Attempt(this.limits, signal);
    void this.connect(call, attempt).catch(() => attempt.end({ outcome: 'connection_failed' }));
    const ended = await attempt.ended;
    return { ...ended, durationMs: Math.round(this.clock.monotonicMs() - startedMs) };
  }

  private async connect(call: WebhookCall, attempt: Attempt): Promise<void> {
    // The URL was checked when it was stored; the policy may have changed since.
    if (this.egress.refusalOf(call.url) !== undefined) return attempt.end({ outcome: 'blocked_address' });
    const url = new URL(call.url);
    const host = url.hostname.replace(/^\[|\]$/g, '');
    // Node calls no lookup for a literal address: it is checked like a resolved one.
    const addresses = isIP(host) !== 0 ? [asAddress(host)] : await this.names.resolve(host);
    if (attempt.isOver) return;
    if (addresses.length === 0) return attempt.end({ outcome: 'name_not_found' });
    // One forbidden address among several is a rebinding attempt or a mistake: no address is called.
    if (!addresses.every(({ address }) => this.egress.allowsAddress(address)))
      return attempt.end({ outcome: 'blocked_address' });
    const options: RequestOptions & { autoSelectFamilyAttemptTimeout: number } = {
      method: 'POST',
      headers: { ...call.headers, 'content-length': String(Buffer.byteLength(call.body)) },
      agent: false,
      lookup: lookupOf(addresses),
      autoSelectFamilyAttemptTimeout: ADDRESS_TIMEOUT_MS,
      maxHeaderSize: HEADERS_MAX_BYTES,
      ca: this.authorities,
    };
    const request = url.protocol === 'https:' ? httpsRequest(url, options) : httpRequest(url, options);
    attempt.watch(request, url.protocol === 'https:' ? 'secureConnect' : 'connect', this.clock);
    request.end(call.body);
  }
}

/** A `lookup` that returns the checked addresses without a query. */
function lookupOf(addresses: readonly LookupAddress[]): LookupFunction {
  return (_name, { all }, callback) => {
    const [first] = addresses;
    if (all) callback(null, [...addresses]);
    else callback(null, first?.address ?? '', first?.family);
  };
}

/** One running call with its deadlines. It ends exactly once and leaves no socket or timer open. */
class Attempt {
  readonly ended: Promise<Ended>;
  isOver = false;
  private resolve: (ended: Ended) => void;
  private request: ClientRequest | undefined;
  private readonly timers: NodeJS.Timeout[];
  private readonly interrupt = (): void => this.end({ outcome: 'interrupted' });

  constructor(
    { webhookTimeoutMs, webhookConnectTimeoutMs }: Limits,
    private readonly signal: AbortSignal,
  ) {
    this.ended = new Promise((resolve) => (this.resolve = resolve));
    this.timers = [
      setTimeout(() => this.end({ outcome: 'not_connected_in_time' }), webhookConnectTimeoutMs),
      setTimeout(() => this.end({ outcome: 'timed_out' }), webhookTimeoutMs),
    ];
    signal.addEventListener('abort', this.interrupt);
    if (signal.aborted) this.interrupt();
  }

  end(ended: Ended): void {
    if (this.isOver) return;
    this.isOver = true;
    for (const timer of this.timers) clearTimeout(timer);
    this.signal.removeEventListener('abort', this.interrupt);
    this.request?.destroy();
    this.resolve(ended);
  }

  watch(request: ClientRequest, connected: 'connect' | 'secureConnect', clock: Clock): void {
    this.request = request;
    let interim = 0;
    request.on('socket', (socket) => socket.once(connected, () => clearTimeout(this.timers[0])));
    request.on('information', () => {
      if (++interim > INTERIM_ANSWERS_MAX) this.end({ outcome: 'invalid_answer' });
    });
    request.on('upgrade', () => this.end({ outcome: 'invalid_answer' }));
    let answer: IncomingMessage | undefined;
    request.on('response', (response) => this.read((answer = response), clock));
    request.on('error', (error) => {
      // Bytes after a whole answer are not a part of it, such as a body after a 204 (RFC 9112, section 6.3): its end follows.
      if (!answer?.complete) this.end({ outcome: faultOf(error) });
    });
    request.on('close', () => this.end({ outcome: 'connection_failed' }));
  }

  /** An answer counts when it is complete: a status whose body never ends is no confirmation. */
  private read(response: IncomingMessage, clock: Clock): void {
    const status = response.statusCode ?? 0;
    let read = 0;
    response.on('data', (chunk: Buffer) => {
      read += chunk.length;
      if (read > BODY_MAX_BYTES) this.end({ outcome: 'answer_too_large', status });
    });
    response.on('error', () => this.end({ outcome: 'connection_failed', status }));
    response.on('end', () =>
      this.end({
        outcome: outcomeOf(status),
        status,
        retryAfterMs: retryAfterMs(response.headers['retry-after'], clock.wallMs()),
      }),
    );
  }
}

function faultOf(error: Error & { code?: string }): Outcome {
  const code = error.code ?? '';
  if (code.startsWith('HPE_')) return 'invalid_answer';
  if (/^ERR_TLS|^ERR_SSL|CERT|^UNABLE_TO_|^EPROTO$|^HOSTNAME_MISMATCH$/.test(code)) return 'tls_failed';
  return 'connection_failed';
}
