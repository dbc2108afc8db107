import { promises as dns } from 'node:dns';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';

export interface Address {
  readonly address: string;
  readonly family: 4 | 6;
}

const HOSTS_FILE = '/etc/hosts';
const LOCALHOST: readonly Address[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/**
 * Finds the addresses of a receiver in the hosts file and by its own DNS queries. The resolver of the system runs on two
 * threads for the whole process, so that two slow names would delay every other receiver.
 */
export class NameResolver {
  constructor(
    private readonly resolver = new dns.Resolver({ timeout: 2_000, tries: 2 }),
    private readonly hostsFile = HOSTS_FILE,
  ) {}

  /** Every address of `name`; empty for an unknown name or without an answer in time. */
  async resolve(name: string): Promise<readonly Address[]> {
    const host = name.toLowerCase().replace(/\.$/, '');
    if (host === 'localhost' || host.endsWith('.localhost')) return LOCALHOST;
    const known = await this.inHostsFile(host);
    if (known.length > 0) return known;
    const [v4, v6] = await Promise.all([
      this.resolver.resolve4(host).catch(() => []),
      this.resolver.resolve6(host).catch(() => []),
    ]);
    return [...v4, ...v6].map(asAddress);
  }

  private async inHostsFile(host: string): Promise<Address[]> {
    const text = await readFile(this.hostsFile, 'utf8').catch(() => '');
    return text
      .split('\n')
      .map((line) => line.replace(/#.*/, '').trim().toLowerCase().split(/\s+/))
      .filter(([address = '', ...names]) => isIP(address) !== 0 && names.includes(host))
      .map(([address = '']) => asAddress(address));
  }
}

export function asAddress(address: string): Address {
  return { address, family: isIP(address) === 6 ? 6 : 4 };
}
