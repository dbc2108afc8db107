import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { basename, join } from 'node:path';

const ROOT = join(__dirname, '../..');

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly dist: { readonly tarball: string; readonly integrity: string };
}

/** The body of `npm publish`. */
interface Published {
  readonly name: string;
  readonly versions: Readonly<Record<string, Manifest>>;
  readonly _attachments: Readonly<Record<string, { readonly data: string }>>;
}

interface Locked {
  /** Of a package that is installed under another name. */
  readonly name?: string;
  readonly version: string;
  readonly integrity?: string;
}

/**
 * A registry of npm on the loopback address, which takes publications. Of every other package it has the versions of the lock
 * file, whose bytes npm has in its cache; else they are in the registry `upstream`.
 */
export class NpmRegistry {
  /** Each `NAME@VERSION`, in the order of their publication. */
  readonly published: string[] = [];
  /** Packages whose publication is refused. */
  readonly refused = new Set<string>();
  private readonly packages = new Map<string, Published>();
  private server: Server | undefined;
  url = '';

  constructor(private readonly upstream = '') {}

  async start(): Promise<this> {
    this.server = createServer((request, response) => void this.answer(request, response));
    await new Promise<void>((resolve) => this.server?.listen(0, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
    return this;
  }

  stop(): void {
    this.server?.close().closeAllConnections();
  }

  /** The settings of a user who may publish here. */
  get npmrc(): string {
    return `registry=${this.url}/\n${this.url.replace('http:', '')}/:_authToken=${'t'.repeat(8)}\n`;
  }

  /** Makes the registry state another content of a package than it was published with. */
  replace(name: string, integrity: string): void {
    const found = this.packages.get(name);
    if (found === undefined) throw new Error(`${name} is not published`);
    const versions = Object.entries(found.versions).map(([version, manifest]) => [
      version,
      { ...manifest, dist: { ...manifest.dist, integrity } },
    ]);
    this.packages.set(name, { ...found, versions: Object.fromEntries(versions) as Published['versions'] });
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const path = decodeURIComponent(new URL(request.url ?? '/', this.url).pathname).slice(1);
    // A later registry at this port has other packages.
    response.setHeader('cache-control', 'no-store');
    const { status, body } =
      request.method === 'PUT' ? this.take(path, Buffer.concat(chunks).toString()) : this.give(path);
    response.writeHead(status).end(body instanceof Buffer ? body : JSON.stringify(body));
  }

  private take(name: string, body: string): { status: number; body: object } {
    const given = JSON.parse(body) as Published;
    const [version = ''] = Object.keys(given.versions);
    if (this.refused.has(name)) return { status: 403, body: { error: 'not now' } };
    if (this.packages.has(name)) return { status: 403, body: { error: 'published already' } };
    const [attachment] = Object.values(given._attachments);
    const digest = createHash('sha512').update(Buffer.from(attachment?.data ?? '', 'base64'));
    if (given.versions[version]?.dist.integrity !== `sha512-${digest.digest('base64')}`)
      return { status: 400, body: { error: 'these are other bytes' } };
    this.packages.set(name, given);
    this.published.push(`${name}@${version}`);
    return { status: 201, body: { ok: true } };
  }

  private give(path: string): { status: number; body: object } {
    const [name = '', file] = path.split('/-/');
    const own = this.packages.get(name);
    if (file !== undefined && own !== undefined)
      return { status: 200, body: Buffer.from(own._attachments[file]?.data ?? '', 'base64') };
    const versions = own?.versions ?? lockedVersions(name, this.upstream);
    const [latest] = Object.keys(versions);
    if (latest === undefined) return { status: 404, body: { error: 'Not found' } };
    return { status: 200, body: { name, 'dist-tags': { latest }, versions } };
  }
}

/** The versions of a package that this project has, the one of the top folder first. */
function lockedVersions(wanted: string, upstream: string): Readonly<Record<string, object>> {
  const lock = JSON.parse(readFileSync(join(ROOT, 'package-lock.json'), 'utf8')) as {
    packages: Readonly<Record<string, Locked>>;
  };
  const found = Object.entries(lock.packages)
    .map(([path, locked]) => ({ ...locked, name: locked.name ?? path.split('node_modules/').at(-1) }))
    .filter(({ name, integrity }) => name === wanted && integrity !== undefined);
  return Object.fromEntries(
    found.map(({ integrity, ...manifest }) => {
      const tarball = `${upstream}${wanted}/-/${basename(wanted)}-${manifest.version}.tgz`;
      return [manifest.version, { ...manifest, dist: { tarball, integrity } }];
    }),
  );
}
