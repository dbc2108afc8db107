import { Injectable } from '@nestjs/common';
import type { Act } from '@app/acts';
import type { NamedSubject } from '@app/crypto';
import type { Tx } from '@app/database';
import type { Actor } from '@app/http';
import { ApiError, DomainEvents, invalidRequest } from '@app/kernel';
import { type Submission, SubmitAct, type SubmitChange, type SubmitState } from './submit.act';
import type { SubmittedView } from './user-data.dto';

/** The value that a user puts in the place of the one that was shown. */
interface Correction {
  readonly submission: Submission;
  readonly field: string;
  /** Whether a stored value, undefined where there is none, is the one that was shown. */
  readonly isShown: (value: unknown) => boolean;
}

interface CorrectedChange {
  readonly change: SubmitChange;
  readonly field: string;
}

/** Values that users have corrected (GDPR Art. 16). Published inside the unit that stores them. */
export class DataCorrected {
  constructor(
    readonly tx: Tx,
    readonly corrected: readonly Corrected[],
  ) {}
}

/** A correction of one field. Its value is not named. */
export interface Corrected {
  readonly subject: NamedSubject;
  readonly category: string;
  readonly fields: readonly string[];
  readonly at: string;
}

/** Why a correction is refused: what is stored is not what the user saw. It is never answered to a bot. */
class ValueChanged extends ApiError {
  constructor() {
    super('conflict', 'The value has changed since it was shown');
  }
}

export function isValueChanged(error: unknown): boolean {
  return error instanceof ValueChanged;
}

/**
 * A submit by the user: it stores one field that the category declares as `editable`, by the rules and with the audit event of
 * a submit, and only over the value that the user was shown.
 */
@Injectable()
export class CorrectAct implements Act<Correction, SubmitState, CorrectedChange, SubmittedView> {
  constructor(
    private readonly submitting: SubmitAct,
    private readonly events: DomainEvents,
  ) {}

  /** The correction of one field. @throws ApiError 413 */
  of(
    subject: NamedSubject,
    category: string,
    { field, value, isShown }: Pick<Correction, 'field' | 'isShown'> & { readonly value: unknown },
    actor: Actor,
  ): Correction {
    const { botId, ids } = subject;
    const input = { ...ids, category, data: { [field]: value }, mode: 'merge' as const };
    // The guild of the subject may be unknown.
    return { submission: { ...this.submitting.of({ botId, actor }, input), subject }, field, isShown };
  }

  /** A restriction is the user's own: it does not stop what the user does (GDPR Art. 18(2)). */
  async load(tx: Tx, given: readonly Correction[]): Promise<(SubmitState | undefined)[]> {
    const states = await this.submitting.load(
      tx,
      given.map(({ submission }) => submission),
    );
    return states.map((state) =>
      state?.refusal === 'restriction' ? { ...state, refusal: undefined } : state,
    );
  }

  /** @throws ApiError as a submit; 400 for a field that is not editable; {@link isValueChanged} */
  decide(state: SubmitState, { submission, field, isShown }: Correction, now: string): CorrectedChange {
    const change = this.submitting.decide(state, submission, now);
    if (state.declared?.isEditable(field) !== true)
      throw invalidRequest([{ field: `data.${field}`, message: 'is not declared as editable' }]);
    const stored = JSON.parse(state.before?.() ?? '{}') as Readonly<Record<string, unknown>>;
    if (!isShown(stored[field])) throw new ValueChanged();
    return { change, field };
  }

  async store(tx: Tx, changes: readonly CorrectedChange[]): Promise<SubmittedView[]> {
    const views = await this.submitting.store(
      tx,
      changes.map(({ change }) => change),
    );
    const corrected = changes.map(({ change: { subject, category, now: at }, field }) => ({
      ...{ subject, category, at },
      fields: [field],
    }));
    await this.events.publish(new DataCorrected(tx, corrected));
    return views;
  }
}
