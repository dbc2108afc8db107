import { webCrypto } from '../web-crypto';
import type { Json } from './fake-consent';
import { present } from './fake-ids';
import { type Check, FakeRefusal, isObject, isText, notFound, requireAll } from './fake-refusal';

export interface Category extends Json {
  readonly key: string;
  readonly fields: readonly { readonly key: string; readonly type: string }[];
}

/** What an answer has only where it was declared. */
const OPTIONAL = [
  ...['labels', 'description_de', 'description_en', 'descriptions'],
  ...['requires_consent', 'reason_de', 'reason_en'],
];

const NEEDS_CONSENT =
  'Values of this category need a consent, although its legal_basis is another one: where none is needed, say so by requires_consent: false with reason_de and reason_en';

/** What a bot of the fake has declared. */
export class FakeCategories {
  private readonly declared = new Map<string, Category>();

  constructor(private readonly tools: { readonly newId: () => string; readonly nowIso: () => string }) {}

  register(given: Json): Json {
    const { key, label_de, label_en, fields } = given as Category;
    requireDeclaration(given);
    requireReasons(given);
    if (this.declared.has(key))
      throw new FakeRefusal('conflict', 'This category exists', { reason: 'category_exists' });
    const { description = null, retention_days = null, legal_basis = 'consent' } = given;
    const declared = OPTIONAL.map((name) => [name, given[name]] as const).filter(
      ([name, words]) => words !== undefined && (name !== 'requires_consent' || words === false),
    );
    const shown = fields.map((field) => ({ description: null, ...present(field) }));
    const further = { description, retention_days, legal_basis, fields: shown };
    const category: Category = {
      ...{ id: this.tools.newId(), key, label_de, label_en, ...further, created_at: this.tools.nowIso() },
      ...(Object.fromEntries(declared) as Json),
    };
    this.declared.set(key, category);
    const isMeant = legal_basis === 'consent' || !this.needsConsent(key);
    return isMeant ? category : { ...category, warnings: [NEEDS_CONSENT] };
  }

  /** @throws FakeRefusal 404 for what is not declared */
  named(key: unknown): Category {
    const found = this.declared.get(String(key));
    if (found === undefined) throw notFound('Category');
    return found;
  }

  /** The version of a request without one, whatever the order of its categories. */
  async versionOf(keys: readonly string[]): Promise<string> {
    const { subtle } = await webCrypto();
    const declared = new TextEncoder().encode(JSON.stringify([...keys].sort().map((key) => this.named(key))));
    const bytes = [...new Uint8Array(await subtle.digest('SHA-256', declared))].slice(0, 16);
    return `sha256:${bytes.map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
  }

  get keys(): string[] {
    return [...this.declared.keys()];
  }

  /** Whether a declared category can be part of a consent. */
  needsConsent(key: string): boolean {
    return this.declared.get(key)?.['requires_consent'] !== false;
  }

  /** @throws FakeRefusal 404 for what is not declared, 400 for what needs no consent */
  requireAskable(keys: unknown): void {
    const named = (keys ?? []) as readonly string[];
    for (const key of named) this.named(key);
    const fields = named.flatMap((key, at) =>
      this.needsConsent(key)
        ? []
        : [
            {
              field: `categories[${at}]`,
              message: 'needs no consent (requires_consent is false): leave it out',
            },
          ],
    );
    if (fields.length > 0) throw new FakeRefusal('invalid_request', 'The request is malformed', { fields });
  }

  get all(): Category[] {
    return [...this.declared.values()];
  }
}

const TYPES = ['string', 'number', 'boolean', 'date', 'json'];
const BASES = [
  ...['consent', 'contract', 'legal_obligation', 'vital_interests', 'public_task', 'legitimate_interests'],
];

/** The key and the labels of a category or a field. */
const named = (given: Json, place: string): Check[] => [
  {
    field: `${place}key`,
    isRight: /^[a-z_][a-z0-9_]{0,99}$/.test(String(given['key'])),
    message: 'must be lower-case letters, digits and _, not starting with a digit, at most 100 characters',
  },
  ...['label_de', 'label_en'].map((name) => ({
    field: `${place}${name}`,
    isRight: isText(given[name]),
    message: 'must be a text',
  })),
];

/** @throws FakeRefusal 400 for a declaration that is malformed */
function requireDeclaration(given: Json): void {
  const { fields, retention_days: days = 1, legal_basis: basis = 'consent' } = given;
  const list: readonly unknown[] = Array.isArray(fields) ? fields : [];
  requireAll(
    ...named(given, ''),
    {
      field: 'fields',
      isRight: list.length > 0 && list.length <= 50 && list.every(isObject),
      message: 'must be a list of 1 to 50 fields',
    },
    {
      field: 'retention_days',
      isRight: Number.isInteger(days) && Number(days) >= 1 && Number(days) <= 3650,
      message: 'must be a whole number from 1 to 3650',
    },
    {
      field: 'legal_basis',
      isRight: BASES.includes(String(basis)),
      message: `must be one of ${BASES.join(', ')}`,
    },
    ...list.filter(isObject).flatMap((field, at) => [
      ...named(field, `fields[${at}].`),
      {
        field: `fields[${at}].key`,
        isRight: list.findIndex((one) => isObject(one) && one['key'] === field['key']) === at,
        message: 'is declared twice',
      },
      {
        field: `fields[${at}].type`,
        isRight: TYPES.includes(String(field['type'])),
        message: `must be one of ${TYPES.join(', ')}`,
      },
    ]),
  );
}

/** @throws FakeRefusal 400 for reasons that are missing, or without `requires_consent: false` and another legal basis */
function requireReasons({
  requires_consent: requires,
  legal_basis: basis = 'consent',
  ...given
}: Json): void {
  const reasons = ['reason_de', 'reason_en'].filter((name) => {
    const reason = given[name];
    if (requires !== false) return reason !== undefined;
    return typeof reason !== 'string' || reason.trim() === '';
  });
  const faults = [...reasons, ...(requires === false && basis === 'consent' ? ['legal_basis'] : [])];
  const fields = faults.map((field) => ({ field, message: 'does not fit requires_consent' }));
  if (fields.length > 0) throw new FakeRefusal('invalid_request', 'The request is malformed', { fields });
}
