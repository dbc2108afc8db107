import { ApiError, invalidRequest } from '@app/kernel';

/**
 * Parses a query string into single text values. A repeated parameter, or a bracket form of an array or object, is a
 * fault. A parser must not throw, so the fault is returned and the validation pipe answers it.
 */
export function parseQuery(text: string | null | undefined): Record<string, string> | ApiError {
  const found = Object.create(null) as Record<string, string>;
  if (!text) return found;
  for (const [name, value] of PLAIN.test(text) ? plainPairs(text) : new URLSearchParams(text)) {
    if (name.includes('['))
      return invalidRequest([{ field: name, message: 'must be a plain parameter, not an array or object' }]);
    if (name in found) return invalidRequest([{ field: name, message: 'must be given once' }]);
    found[name] = value;
  }
  return found;
}

/** A query without encoding or brackets, as most queries are. */
const PLAIN = /^\w+=[\w.-]*(&\w+=[\w.-]*)*$/;

function plainPairs(text: string): [string, string][] {
  return text.split('&').map((pair) => {
    const at = pair.indexOf('=');
    return [pair.slice(0, at), pair.slice(at + 1)];
  });
}
