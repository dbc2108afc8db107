import { BlockList, isIP, isIPv6 } from 'node:net';

/** A network as `address/bits`. */
export function ranges(...texts: string[]): BlockList {
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
export function ipv4In(address: string): string | undefined {
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
