import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { ApiError, type Config, invalidRequest } from '@app/kernel';

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'];

/** The name of a `Host` header, without its port. */
const NAME = /^(\[[^\]]*\]|[^:]*)(?::\d*)?$/;

/**
 * The fault of the `Host` header of a request, if any. While the service listens on loopback, only loopback names and
 * `ALLOWED_HOSTS` are answered: a page in a browser on the same machine cannot reach it under a name of its own (DNS
 * rebinding). Node.js keeps the first of two lines, and a proxy may have read the second (RFC 9112, section 3.2).
 */
export function hostFault({ host, allowedHosts }: Pick<Config, 'host' | 'allowedHosts'>) {
  const own = host.toLowerCase();
  const isLoopback = own === 'localhost' || own === '::1' || /^127(\.\d+){3}$/.test(own);
  const served = new Set([...LOOPBACK_NAMES, isIP(own) === 6 ? `[${own}]` : own, ...allowedHosts]);
  return ({ headers: { host: header }, httpVersion, rawHeaders }: IncomingMessage): ApiError | undefined => {
    const isMissing = header === undefined && httpVersion === '1.1';
    if (isMissing || hostLines(rawHeaders) > 1)
      return invalidRequest([{ field: 'Host', message: 'must be sent once' }]);
    if (!isLoopback || header === undefined) return undefined;
    if (served.has(NAME.exec(header.toLowerCase())?.[1] ?? '')) return undefined;
    return new ApiError(
      'misdirected_request',
      'This service listens on loopback and does not answer to this Host: its operator sets ALLOWED_HOSTS',
    );
  };
}

function hostLines(rawHeaders: readonly string[]): number {
  let count = 0;
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (rawHeaders[at]?.length === 4 && rawHeaders[at]?.toLowerCase() === 'host') count++;
  return count;
}

/** The address of a process for callers on the same machine. */
export function reachableUrl(host: string, port: number): string {
  if (isWildcard(host)) return `http://localhost:${port}`;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Whether a service with this `HOST` listens on every address of its machine. */
export function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}
