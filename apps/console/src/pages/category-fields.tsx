import { useWords } from '../language';
import { Field, type Faults } from './settings-form';

const TYPES = ['string', 'number', 'boolean', 'date', 'json'] as const;
const FIELDS_MAX = 50;

export interface EditedField {
  readonly key: string;
  readonly type: (typeof TYPES)[number];
  readonly label_de: string;
  readonly label_en: string;
  readonly editable: boolean;
}

export const NEW_FIELD: EditedField = {
  key: '',
  type: 'string',
  label_de: '',
  label_en: '',
  editable: false,
};

/** No user can write an object. */
const retyped = (field: EditedField, type: EditedField['type']): Partial<EditedField> => ({
  type,
  editable: field.editable && type !== 'json',
});

/** The fields of a category. Of declared ones only the labels, and whether users may correct them, can be changed. */
export function FieldsEditor({
  fields,
  declared,
  faults,
  onChange,
}: {
  readonly fields: readonly EditedField[];
  /** The keys of the declared fields; undefined for a category that is new. */
  readonly declared: readonly string[] | undefined;
  readonly faults: Faults;
  readonly onChange: (fields: readonly EditedField[]) => void;
}) {
  const { t } = useWords();
  if (declared?.length === 0) return <p class="small">{t('fieldsAny')}</p>;
  const isDeclared = (at: number): boolean => at < (declared?.length ?? 0);
  const change = (at: number, more: Partial<EditedField>): void =>
    onChange(fields.map((field, place) => (place === at ? { ...field, ...more } : field)));
  return (
    <>
      <h2>{t('fieldsTitle')}</h2>
      <p class="small">{t('fieldsLead')}</p>
      <p class="small">{t('fieldEditableHint')}</p>
      {fields.map((field, at) => {
        const text = (name: 'key' | 'label_de' | 'label_en') => ({
          value: field[name],
          fault: faults.get(`fields[${at}].${name}`),
          onInput: (value: string) => change(at, { [name]: value }),
        });
        return (
          <div class="field-row" key={at}>
            <Field label={t('fieldKey')} {...text('key')} disabled={isDeclared(at)} />
            <div class="field">
              <label>
                {t('fieldType')}
                <select
                  value={field.type}
                  disabled={isDeclared(at)}
                  onChange={(event) =>
                    change(at, retyped(field, event.currentTarget.value as EditedField['type']))
                  }
                >
                  {TYPES.map((type) => (
                    <option key={type} value={type}>
                      {t(`type_${type}`)}
                    </option>
                  ))}
                </select>
              </label>
            </div>
            <Field label={t('fieldDe')} lang="de" {...text('label_de')} />
            <Field label={t('fieldEn')} lang="en" {...text('label_en')} />
            {!isDeclared(at) && fields.length > 1 && (
              <button
                type="button"
                title={t('removeField')}
                aria-label={t('removeField')}
                onClick={() => onChange(fields.filter((_, place) => place !== at))}
              >
                ✕
              </button>
            )}
            {field.type !== 'json' && (
              <label class="check">
                <input
                  type="checkbox"
                  checked={field.editable}
                  onChange={(event) => change(at, { editable: event.currentTarget.checked })}
                />{' '}
                {t('fieldEditable')}
              </label>
            )}
          </div>
        );
      })}
      <p class="fault">{faults.get('fields')}</p>
      <button
        type="button"
        disabled={fields.length >= FIELDS_MAX}
        onClick={() => onChange([...fields, NEW_FIELD])}
      >
        {t('addField')}
      </button>
    </>
  );
}
