import { hash } from 'node:crypto';
import type { ConsentNotice, ConsentTexts } from './consent-texts';

type Plain = string | readonly Plain[] | { readonly [key: string]: Plain | undefined };

/** Canonical JSON (RFC 8785) for objects of texts: sorted keys, no white space. */
function canonical(value: Plain): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (isList(value)) return `[${value.map(canonical).join(',')}]`;
  const entries = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  const written = entries.flatMap(([key, each]) =>
    each === undefined ? [] : [`${JSON.stringify(key)}:${canonical(each)}`],
  );
  return `{${written.join(',')}}`;
}

function isList(value: Plain): value is readonly Plain[] {
  return Array.isArray(value);
}

/** SHA-256 over the canonical JSON (RFC 8785, UTF-8) of the shown text, which a bot can recompute. */
export function textDigest(content: ConsentTexts, notice: ConsentNotice | null = null): string {
  return digestOf({ ...content, ...notice });
}

/** {@link textDigest} of a part of a text. */
export function digestOf(part: Plain): string {
  return `sha256:${hash('sha256', canonical(part), 'hex')}`;
}
