import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { LetheError } from '@lethe/sdk';
import { useWords, type Words } from '../language';
import type { TextName } from '../texts';
import { Leaving } from '../leaving';
import { Fault } from '../ui';
import './settings.css';

/** What the service says of a field, and how people say it. */
const FIELD_WORDS: readonly (readonly [RegExp, TextName])[] = [
  [/^must be a text of 1 to (\d+)/, 'fieldLength'],
  [/^must be a text of at least 1/, 'fieldText'],
  [/^must be a text,/, 'fieldBlank'],
  [/^must be a text of at most (\d+)/, 'fieldMax'],
  [/e-mail/, 'fieldEmail'],
  [/absolute https URL/, 'fieldHttps'],
  [/URL/, 'fieldUrl'],
  [/letters of a country/, 'fieldCountry'],
  [/by a public notice/, 'fieldController'],
  [/must explain the decisions/, 'fieldDecisions'],
  [/17 to 20 digits/, 'fieldId'],
  [/^must be lower-case.* (\d+) characters/, 'fieldSlug'],
  [/^must be 1 to 64 letters/, 'fieldVersion'],
  [/^must be a whole number from (\d+) to (\d+)/, 'fieldNumber'],
  [/^must differ/, 'fieldTwice'],
  [/in the future/, 'fieldFuture'],
  [/^must be a list of/, 'fieldSome'],
];

/** Why the present state refuses an act, in words, and the field that mends it. */
const REASONS: Readonly<Record<string, readonly [TextName, field?: string]>> = {
  category_exists: ['reasonCategoryExists', 'key'],
  category_in_use: ['reasonCategoryInUse'],
  text_exists: ['reasonTextExists', 'consent_version'],
  limit_reached: ['reasonLimit'],
  last_admin_key: ['reasonLastAdmin'],
  rotation_in_progress: ['reasonRotation'],
  deletion_in_progress: ['reasonDeletion'],
  nothing_scheduled: ['reasonNothingScheduled'],
};

/** What is wrong with each field, by its name as the interface has it. */
export type Faults = ReadonlyMap<string, string>;

export function faultsOf(error: Error | null, { t }: Words): Faults {
  if (!(error instanceof LetheError)) return new Map();
  const [reason, at] = REASONS[error.reason ?? ''] ?? [];
  if (reason !== undefined && at !== undefined) return new Map([[at, t(reason)]]);
  return new Map(
    error.fields.map(({ field, message }) => {
      for (const [pattern, name] of FIELD_WORDS) {
        const [, a = '', b = ''] = pattern.exec(message) ?? [undefined];
        if (pattern.test(message)) return [field, t(name, { a, b })];
      }
      return [field, message];
    }),
  );
}

/** An error that no field of the form shows. */
export function Refusal({
  error,
  beside = () => false,
}: {
  readonly error: Error | null;
  /** Whether the form shows what is wrong with a field beside it. */
  readonly beside?: (field: string) => boolean;
}) {
  const words = useWords();
  const place = useRef<HTMLSpanElement>(null);
  // A long form shows the first field that is wrong.
  useEffect(
    () => place.current?.closest('form')?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus(),
    [error],
  );
  if (!(error instanceof LetheError)) return <Fault error={error} />;
  const faults = faultsOf(error, words);
  if (faults.size > 0 && [...faults.keys()].every(beside)) return <span ref={place} hidden />;
  const [reason] = REASONS[error.reason ?? ''] ?? [];
  if (reason === undefined) return <Fault error={error} />;
  return (
    <p class="notice bad" role="alert">
      {words.t(reason, { limit: Number(error.details['limit'] ?? 0) })}
    </p>
  );
}

/** A field with its label, what it is for, and what is wrong with it. With `rows` it has several lines. */
export function Field({
  label,
  hint,
  fault,
  value,
  onInput,
  rows,
  ...given
}: {
  readonly label: string;
  readonly hint?: ComponentChildren;
  readonly fault?: string | undefined;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly rows?: number;
  readonly type?: string;
  readonly inputMode?: 'numeric' | 'url' | 'email';
  readonly lang?: string;
  readonly disabled?: boolean;
  readonly maxLength?: number;
}) {
  const id = useId();
  const shared = {
    ...given,
    id,
    value,
    autocomplete: 'off',
    'aria-invalid': fault !== undefined,
    'aria-describedby': `${id}-hint ${id}-fault`,
  };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {rows === undefined ? (
        <input {...shared} onInput={(event) => onInput(event.currentTarget.value)} />
      ) : (
        <textarea {...shared} rows={rows} onInput={(event) => onInput(event.currentTarget.value)} />
      )}
      <p id={`${id}-fault`} class="fault" role={fault === undefined ? undefined : 'alert'}>
        {fault}
      </p>
      <p id={`${id}-hint`} class="hint">
        {hint}
      </p>
    </div>
  );
}

/** The end of a form: what is not saved yet, and the ways to save or discard it. Asks before the page is left. */
export function SaveBar({
  draft: { isChanged, discard },
  save,
  isSaved = save.isSuccess,
  act,
  children,
}: {
  readonly draft: { readonly isChanged: boolean; readonly discard: () => void };
  readonly save: { readonly isPending: boolean; readonly isSuccess: boolean; readonly reset: () => void };
  readonly isSaved?: boolean;
  readonly act?: string;
  readonly children?: ComponentChildren;
}) {
  const { t } = useWords();
  const { isPending: isSaving } = save;
  const undo = (): void => {
    discard();
    save.reset();
  };
  return (
    <>
      <Leaving isAsked={isChanged} loses="draft" />
      <div class={isChanged ? 'save-bar changed' : 'save-bar'}>
        <span role="status">
          {isSaving ? t('saving') : isChanged ? t('unsaved') : isSaved ? t('saved') : ''}
        </span>
        <span class="ways">
          {isChanged && (
            <button type="button" disabled={isSaving} onClick={undo}>
              {t('discard')}
            </button>
          )}
          {children}
          <button class="primary" type="submit" disabled={isSaving || !isChanged}>
            {act ?? t('save')}
          </button>
        </span>
      </div>
    </>
  );
}
