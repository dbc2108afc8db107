import { isIP } from 'node:net';
import { ApiError, type Config } from '@app/kernel';

const LOOPBACK_NAMES = ['localhost', '127.0.0.1', '[::1]'];

/** The name of a `Host` header, without its port. */
const NAME = /^(\[[^\]]*\]|[^:]*)(?::\d*)?$/;

/**
 * Decides by the `Host` header whether a request is answered. While the service listens on loopback, only loopback names
 * and `ALLOWED_HOSTS` are: a page in a browser on the same machine cannot reach it under a name of its own (DNS
 * rebinding).
 */
export function servesHost({ host, allowedHosts }: Pick<Config, 'host' | 'allowedHosts'>) {
  const own = host.toLowerCase();
  const isLoopback = own === 'localhost' || own === '::1' || /^127(\.\d+){3}$/.test(own);
  const served = new Set([...LOOPBACK_NAMES, isIP(own) === 6 ? `[${own}]` : own, ...allowedHosts]);
  return (header: string | undefined): boolean =>
    !isLoopback || header === undefined || served.has(NAME.exec(header.toLowerCase())?.[1] ?? '');
}

/** 421 for a name that is not served. */
export function misdirected(): ApiError {
  return new ApiError(
    'misdirected_request',
    'This service listens on loopback and does not answer to this Host: its operator sets ALLOWED_HOSTS',
  );
}
