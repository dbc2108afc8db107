import { Injectable } from '@nestjs/common';
import { Acts, NO_CLAIM } from '@app/acts';
import { AuditService } from '@app/audit';
import type { NamedSubject } from '@app/crypto';
import { EXPONENT_FROM, type FormFields } from '@app/http';
import { ApiError, Clock } from '@app/kernel';
import { CorrectAct, isValueChanged, UserValues } from '@app/user-data';
import { heldIn } from './html';
import { type Correctable, digestOf, type RefusedCorrection, writtenOf } from './page-correct';
import { VIA } from './page-events';
import { ownOfDay, requireActive } from './page-opening';
import { fieldsOf } from './page-parts';
import { PageReading } from './page-reading';
import type { OpenLink } from './privacy-links.service';
import type { PageNote } from './texts';

/** Corrections of a subject in a day, among its newest submits: each leaves an audit event. */
const CORRECTIONS_MAX = 20;
const NUMBER = /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i;

/** A correction that the page answers with its form. */
interface NotCorrected {
  readonly one: Correctable;
  readonly refused: RefusedCorrection;
}

/** Corrections by users (GDPR Art. 16). Each is a submit of the one field that was shown. */
@Injectable()
export class PageCorrections {
  constructor(
    private readonly reading: PageReading,
    private readonly values: UserValues,
    private readonly correcting: CorrectAct,
    private readonly acts: Acts,
    private readonly audit: AuditService,
    private readonly clock: Clock,
  ) {}

  /**
   * What `server/category/field` names of a link; undefined for what its user cannot correct: no consent in force covers it, the
   * field is not declared as editable, or it has no value. @throws ApiError 403 for a suspended bot
   */
  async find(link: OpenLink, named: string): Promise<Correctable | undefined> {
    if (!link.allow.includes('view') || !link.allow.includes('correct')) return undefined;
    const [guild = '', category = '', key = ''] = named.split('/', 3);
    const one = await this.reading.categoryOf(link, `${guild}/${category}`);
    if (one === undefined) return undefined;
    requireActive(await this.reading.about(link, []));
    const { subject, purpose, servers } = one;
    const field = fieldsOf(purpose).get(key);
    const stored = await this.values.ofCategory(subject, category).catch(unlessUncovered);
    const value = stored !== undefined && Object.hasOwn(stored, key) ? stored[key] : undefined;
    if (field?.editable !== true || writtenOf(value) === undefined) return undefined;
    return { subject, purpose, field, value, servers };
  }

  /** Stores what was typed over what was shown, or says why not. Nothing is recorded for a value that is stored already. */
  async correct(link: OpenLink, { shown, value }: FormFields): Promise<PageNote | 'often' | NotCorrected> {
    const [guild, category = '', key, digest = ''] = (shown?.[0] ?? '').split('/', 4);
    const named = `${guild}/${category}/${key}`;
    const one = await this.find(link, named);
    if (one === undefined) return 'uncorrected';
    const { subject, field } = one;
    const typed = inLines(value?.[0] ?? '');
    // A text that differs in what a form cannot hold alone was not changed.
    const given = isSameText(one.value, typed) ? one.value : valueOf(field.type, typed);
    const refused = (why: RefusedCorrection['why'], now = one): NotCorrected => ({
      one: now,
      refused: { why, typed },
    });
    // Also a second click.
    if (digestOf(given) === digestOf(one.value)) return 'same';
    if (digestOf(one.value) !== digest) return refused('changed');
    if (await this.isOften(subject)) return 'often';
    const isShown = (stored: unknown): boolean => digestOf(stored) === digest;
    try {
      const input = this.correcting.of(subject, category, { field: field.key, value: given, isShown }, VIA);
      await this.acts.run(this.correcting, input, NO_CLAIM);
      return 'corrected';
    } catch (error) {
      const why = whyOf(error);
      // What the user could correct when the form was read can have ended meanwhile.
      const now = await this.find(link, named);
      return now === undefined || why === undefined ? 'uncorrected' : refused(why, now);
    }
  }

  private async isOften(subject: NamedSubject): Promise<boolean> {
    const own = await ownOfDay(this.audit, this.clock, subject, 'data_submitted');
    return own.length >= CORRECTIONS_MAX;
  }
}

/** What was typed as a value of the type; what is none stays a text, which the check of a submit refuses. */
function valueOf(type: string, typed: string): unknown {
  const text = typed.trim();
  if (type === 'number') return NUMBER.test(text) && !losesDigits(text) ? Number(text) : typed;
  if (type === 'boolean') return text === 'true' || (text === 'false' ? false : typed);
  return type === 'date' ? text : typed;
}

/**
 * Whether a number is as large as those with an exponent, and was written as digits. Once it
 * is a number nothing distinguishes the two.
 */
function losesDigits(text: string): boolean {
  return !/e/i.test(text) && Math.abs(Number(text)) >= EXPONENT_FROM;
}

/** Browsers have one form of line breaks. */
const inLines = (text: string): string => text.replace(/\r\n?/g, '\n');

function isSameText(stored: unknown, typed: string): boolean {
  return typeof stored === 'string' && heldIn(inLines(stored)) === heldIn(typed);
}

/** Why a correction was not stored; undefined where its user cannot correct the value any more. */
function whyOf(error: unknown): RefusedCorrection['why'] | undefined {
  if (isValueChanged(error)) return 'changed';
  if (!(error instanceof ApiError)) throw error;
  if (error.code === 'invalid_request') return 'wrong';
  if (error.code === 'payload_too_large') return 'large';
  return unlessUncovered(error);
}

function unlessUncovered(error: unknown): undefined {
  if (error instanceof ApiError && ['consent_required', 'not_found'].includes(error.code)) return undefined;
  throw error;
}
