import { BlockList, isIP, isIPv6 } from 'node:net';
import { Config } from './config';

/** A network as `address/bits`. */
function ranges(...texts: string[]): BlockList {
  const list = new BlockList();
  for (const text of texts) {
    const [network = '', bits] = text.split('/');
    list.addSubnet(network, Number(bits), network.includes(':') ? 'ipv6' : 'ipv4');
  }
  return list;
}

/**
 * IPv6 prefixes that contain an IPv4 address and are routed to it: mapped addresses, and the well-known prefix of NAT64
 * (RFC 4291, 2.5.5.2; RFC 6052, 2.1).
 */
const EMBEDS_IPV4 = ranges('::ffff:0:0/96', '64:ff9b::/96');

/** The eight groups of an IPv6 address. The URL parser normalises every notation of it. */
export function ipv6Groups(address: string): number[] {
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const read = (part: string): number[] =>
    part === '' ? [] : part.split(':').map((text) => parseInt(text, 16));
  if (tail === undefined) return read(head);
  const [front, back] = [read(head), read(tail)];
  return [...front, ...new Array<number>(8 - front.length - back.length).fill(0), ...back];
}

/** The IPv4 address that an IPv6 address without a zone leads to, in any notation; undefined for one that leads to none. */
function ipv4In(address: string): string | undefined {
  if (!isIPv6(address) || !EMBEDS_IPV4.check(address, 'ipv6')) return undefined;
  return ipv6Groups(address)
    .slice(6)
    .flatMap((group) => [group >> 8, group & 0xff])
    .join('.');
}

/** An address with a port, or in brackets. */
const WRAPPED = /^(?:\[([^\]]{2,64})\](?::\d{1,5})?|([\d.]{7,15}):\d{1,5})$/;

/**
 * The address in a text as proxies write it: with or without a port, brackets and a zone; an IPv6 address that leads to an
 * IPv4 address as the latter. Undefined for any other text.
 */
export function addressIn(text: string): string | undefined {
  const [, bracketed, beforePort] = WRAPPED.exec(text) ?? [];
  const [address = ''] = (bracketed ?? beforePort ?? text).split('%');
  return isIP(address) === 0 ? undefined : (ipv4In(address) ?? address);
}

/** The class of an address that decides whether webhooks may reach it. */
type Reach = 'public' | 'loopback' | 'private' | 'never';

const LOOPBACK = ranges('127.0.0.0/8', '::1/128');

/** Private networks: private use, shared address space, benchmarks, unique local. */
const PRIVATE = ranges(
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '100.64.0.0/10',
  '198.18.0.0/15',
  'fc00::/7',
);

/**
 * Refused in every mode: metadata services of clouds, link-local, "this" network, multicast, reserved and documentation
 * ranges, and forms of IPv6 that wrap an IPv4 address but reach no receiver.
 */
const NEVER = ranges(
  '0.0.0.0/8',
  '169.254.0.0/16',
  '168.63.129.16/32',
  '100.100.100.200/32',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  'fd00:ec2::/32',
  'fd20:ce::/32',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '3fff::/20',
);

/** All public IPv6. Addresses outside it that are neither loopback nor private are reserved. */
const GLOBAL_UNICAST = ranges('2000::/3');
/** Interface ids of ISATAP, which tunnels to the IPv4 address that follows. */
const ISATAP = /^0?2?0?0?:0*5efe$/;

/** The only allowed ports below 1024. */
const WEB_PORTS = new Set([80, 443]);
/** Ports above 1023 of services that accept commands and are not web servers. */
const SERVICE_PORTS = new Set([
  1433, 1521, 1719, 1720, 1723, 2049, 2181, 2375, 2376, 2379, 2380, 3306, 3389, 3659, 4045, 4190, 5060, 5061,
  5432, 5672, 5900, 5984, 6000, 6379, 6443, 6566, 6665, 6666, 6667, 6668, 6669, 6697, 9042, 9092, 9200, 9300,
  10080, 10250, 11211, 27017,
]);

const LOOPBACK_NAME = /^(?:.+\.)?localhost\.?$/i;

/**
 * Decides where webhooks may be sent. It checks a URL before it is stored, and an address before a connection is made.
 */
export class EgressPolicy {
  constructor(private readonly config: Config) {}

  /**
   * The reason why `url` can never be called, as the end of "webhook_url …"; undefined for an allowed URL. Resolves no
   * name.
   */
  refusalOf(url: string): string | undefined {
    const { protocol, username, password, hash, port, hostname } = new URL(url);
    if (protocol !== 'http:' && protocol !== 'https:') return 'must be an http or https URL';
    if (protocol === 'http:' && requiresHttps(this.config)) return 'must be an https URL';
    if (username !== '' || password !== '') return 'must not hold a user name or password';
    if (hash !== '' || url.includes('#')) return 'must not hold a fragment';
    const host = hostname.replace(/^\[|\]$/g, '');
    if (port !== '' && !portAllowed(Number(port)) && !this.isOfDeveloper(host))
      return 'must name port 80, 443 or one that is open to web servers';
    const local = LOOPBACK_NAME.test(host) && !this.allows('loopback');
    if (local || (isIP(host) !== 0 && !this.allowsAddress(host)))
      return 'must not lead to a private, local or reserved address';
    return undefined;
  }

  /** Whether a connection to `address` is allowed. A text that is not an IP address is refused. */
  allowsAddress(address: string): boolean {
    return this.allows(reachOf(address));
  }

  /** Whether `host` is this machine, and only callers of this machine can name it: they reach each of its ports anyway. */
  private isOfDeveloper(host: string): boolean {
    return this.isInDevelopment && (LOOPBACK_NAME.test(host) || reachOf(host) === 'loopback');
  }

  private allows(reach: Reach): boolean {
    const { webhookAllowPrivateNetworks: mode } = this.config;
    if (reach === 'public') return true;
    if (reach === 'never' || mode === 'false') return false;
    if (mode === 'true') return true;
    return reach === 'loopback' && this.isInDevelopment;
  }

  private get isInDevelopment(): boolean {
    return isInDevelopment(this.config);
  }
}

/** Whether a webhook URL must have the scheme https. */
export function requiresHttps({ webhookRequireHttps, nodeEnv }: Config): boolean {
  return webhookRequireHttps === 'auto' ? nodeEnv === 'production' : webhookRequireHttps === 'true';
}

/** Whether callers are of this machine: behind a proxy a service on loopback is reached by anyone. */
function isInDevelopment({ host, trustProxy, nodeEnv }: Config): boolean {
  const isLocal = reachOf(host) === 'loopback' || LOOPBACK_NAME.test(host);
  return isLocal && trustProxy === 0 && nodeEnv !== 'production';
}

/** Whether users of other machines are led to an address of this one: links and forms have it where no `PUBLIC_URL` is set. */
export function lacksPublicUrl(config: Config): boolean {
  return config.publicUrl === undefined && !isInDevelopment(config);
}

function portAllowed(port: number): boolean {
  return WEB_PORTS.has(port) || (port >= 1024 && !SERVICE_PORTS.has(port));
}

function reachOf(address: string): Reach {
  const version = isIP(address);
  // Only link-local addresses have a zone (fe80::1%eth0).
  if (version === 0 || address.includes('%')) return 'never';
  if (version === 4) return reachIn(address, 'ipv4') ?? 'public';
  const embedded = ipv4In(address);
  if (embedded !== undefined) return reachOf(embedded);
  const isatap = ISATAP.test(
    ipv6Groups(address)
      .slice(4, 6)
      .map((group) => group.toString(16))
      .join(':'),
  );
  if (isatap) return 'never';
  return reachIn(address, 'ipv6') ?? (GLOBAL_UNICAST.check(address, 'ipv6') ? 'public' : 'never');
}

function reachIn(address: string, family: 'ipv4' | 'ipv6'): Reach | undefined {
  if (NEVER.check(address, family)) return 'never';
  if (LOOPBACK.check(address, family)) return 'loopback';
  return PRIVATE.check(address, family) ? 'private' : undefined;
}
