/** What a state of a consent means. A new state says all of it. */
interface State {
  /** Whether data may be stored under it. */
  readonly stores: boolean;
  /**
   * What a new request makes of it. `stays`: the request waits beside it, and a refusal leaves it. `replaced, restorable`: a refusal of
   * the request restores it with the state `revoked`. `replaced`: the refusal restores what this one had replaced, if anything.
   */
  readonly onRequest: 'stays' | 'replaced, restorable' | 'replaced';
  /** In which categories data of an earlier, withdrawn consent can still be stored. */
  readonly leavesData: 'in none' | 'in all' | 'in those it does not name';
}

/** `consent-changes.ts` is the rule that leads from one to another. */
export const CONSENT_STATES = {
  none: { stores: false, onRequest: 'replaced', leavesData: 'in none' },
  pending: { stores: false, onRequest: 'replaced', leavesData: 'in all' },
  accepted: { stores: true, onRequest: 'stays', leavesData: 'in those it does not name' },
  revoked: { stores: false, onRequest: 'replaced, restorable', leavesData: 'in all' },
} as const satisfies Record<string, State>;
export type ConsentStatus = keyof typeof CONSENT_STATES;
export const CONSENT_STATUSES = Object.keys(CONSENT_STATES) as readonly ConsentStatus[];

/** What an action of the history means. A new action says all of it. */
interface Action {
  /** Whether it puts the consent in force or ends that; null if it does neither. */
  readonly inForce: boolean | null;
  /** Whether an earlier refusal is still the answer to the newest request. */
  readonly leavesRefusal: boolean;
}

/** `shown`: a request that waits was repeated, with changed texts or in another language. */
const ACTIONS = {
  requested: { inForce: null, leavesRefusal: false },
  shown: { inForce: null, leavesRefusal: false },
  accepted: { inForce: true, leavesRefusal: false },
  declined: { inForce: null, leavesRefusal: false },
  revoked: { inForce: false, leavesRefusal: true },
  categories_withdrawn: { inForce: null, leavesRefusal: true },
} as const satisfies Record<string, Action>;
export type ConsentAction = keyof typeof ACTIONS;
export const CONSENT_ACTIONS = Object.keys(ACTIONS) as readonly ConsentAction[];

/** The names of a table that mean this. */
function meaning<Facts>(
  table: Readonly<Record<string, Facts>>,
  isMeant: (facts: Facts) => boolean,
): readonly string[] {
  return Object.keys(table).filter((name) => isMeant(table[name] as Facts));
}

const inSql = (names: readonly string[]) => names.map((name) => `'${name}'`).join(', ');

const STORES = meaning<State>(CONSENT_STATES, ({ stores }) => stores);
export const STORING = inSql(STORES);
export const PUTTING_IN_FORCE = inSql(meaning<Action>(ACTIONS, ({ inForce }) => inForce === true));
/** The newest of these says whether the consent has been in force since. */
export const DECISIVE = inSql(meaning<Action>(ACTIONS, ({ inForce }) => inForce !== null));
export const LEAVING_REFUSAL = inSql(meaning<Action>(ACTIONS, ({ leavesRefusal }) => leavesRefusal));

/**
 * Whether a consent is in force, so that data may be stored under it: never while its subject is being erased, nor in a state
 * that only a newer version knows.
 */
export function isInForce({
  status,
  erasing,
}: {
  readonly status: ConsentStatus;
  readonly erasing: number;
}): boolean {
  return STORES.includes(status) && erasing === 0;
}

/** {@link isInForce} as a condition on rows of `consents` under this name. */
export const inForce = (consents: string): string =>
  `${consents}.status IN (${STORING}) AND ${consents}.erasing = 0`;
