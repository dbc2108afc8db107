/** Where a PostgreSQL server listens. */
export interface Place {
  readonly host: string;
  readonly port: number;
}

/** A password can contain `@`: the hosts begin behind the last one, as WHATWG's URL reads it. */
const URI = /^(postgres(?:ql)?:\/\/(?:[^/?#]*@)?)([^@/?#]*)(.*)$/;
const PLACE = /^(\[[^\]]+\]|[^:]*)(?::(\d{1,5}))?$/;
const DEFAULT_PORT = 5432;

/**
 * The servers that a PostgreSQL URI names, as libpq reads it (`HOST:PORT,HOST:PORT`), and the URI with the first of them
 * alone, which other programs can read. No places for a text that is no such URI.
 */
export function postgresPlaces(text: string): { readonly url: string; readonly places: readonly Place[] } {
  const [, before, hosts = '', behind] = URI.exec(text) ?? [];
  const parts = hosts.split(',');
  const places = parts.flatMap((part) => {
    const [, host, port] = PLACE.exec(part) ?? [];
    if (before === undefined || host === undefined || (host === '' && parts.length > 1)) return [];
    return [{ host: decodeURIComponent(host.replace(/^\[|\]$/g, '')), port: Number(port ?? DEFAULT_PORT) }];
  });
  if (places.length < parts.length) return { url: text, places: [] };
  return { url: `${before}${parts[0]}${behind}`, places };
}
