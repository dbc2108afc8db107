import { StartError } from '@app/kernel';

/** The error for an address that cannot be used, with the remedy; `setting` is the one of the port. */
export function listenFault(
  error: unknown,
  { host, port, setting }: { host: string; port: number; setting: string },
): unknown {
  const noAddress = `HOST names ${host}, which is not an address of this machine.`;
  const reasons: Readonly<Record<string, string>> = {
    EADDRINUSE: `Port ${port} of ${host} is in use. Stop the program that listens there, or choose another port with ${setting}.`,
    EACCES: `Port ${port} may not be used by this user. Choose one above 1023 with ${setting}.`,
    EADDRNOTAVAIL: noAddress,
    ENOTFOUND: noAddress,
    EAI_AGAIN: noAddress,
  };
  const reason = reasons[(error as NodeJS.ErrnoException).code ?? ''];
  return reason === undefined ? error : new StartError(reason);
}

/** The address of a process for callers on the same machine. */
export function reachableUrl(host: string, port: number): string {
  if (isWildcard(host)) return `http://localhost:${port}`;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

export function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::';
}
