import { useState } from 'preact/hooks';
import { useMutation, useQueryClient } from '@tanstack/preact-query';
import { useTries } from '../idempotency';
import { useWords } from '../language';
import { Secret } from '../secret';
import { lethe, type Scope } from '../service';
import { submits, useSingle } from '../confirm';
import { faultsOf, Field, Refusal } from './settings-form';

const SCOPES: readonly Scope[] = ['read', 'write', 'erase', 'admin'];
/** Days that a key is valid for; 0 for one that lasts. */
const DAYS = [0, 7, 30, 90, 365];
const DAY_MS = 86_400_000;

type Made = Awaited<ReturnType<typeof lethe.keys.create>>;

/** Makes a key with a name, scopes and an end, and shows it once. */
export function NewKey() {
  const words = useWords();
  const { t } = words;
  const queries = useQueryClient();
  const [name, setName] = useState('');
  const [days, setDays] = useState(0);
  const [scopes, setScopes] = useState<readonly Scope[]>(['read']);
  // Each stays beside a further one: it is shown only once.
  const [made, setMade] = useState<readonly Made[]>([]);
  const tries = useTries();
  const create = useMutation({
    mutationFn: () =>
      tries.run([scopes, name, days], (tried) =>
        lethe.keys.create(
          {
            scopes: [...scopes],
            ...(name !== '' && { name }),
            ...(days > 0 && { expires_at: new Date(tried.at + days * DAY_MS).toISOString() }),
          },
          tried,
        ),
      ),
    onSuccess: (key) => {
      setMade((before) => [key, ...before]);
      setName('');
    },
    // Also where no answer came: the key may be made.
    onSettled: () => void queries.invalidateQueries({ queryKey: ['keys'] }),
  });
  const begin = useSingle(create.isPending, create.error, () => create.mutate());
  const toggle = (scope: Scope): void =>
    setScopes(SCOPES.filter((one) => (one === scope) !== scopes.includes(one)));
  return (
    <form class="setting" noValidate onSubmit={submits(begin)}>
      <h2>{t('newKey')}</h2>
      <div class="inline">
        <Field
          label={t('keyName')}
          hint={t('keyNameHint')}
          fault={faultsOf(create.error, words).get('name')}
          value={name}
          onInput={setName}
        />
        <div class="field">
          <label>
            {t('expiryField')}
            <select value={days} onChange={(event) => setDays(Number(event.currentTarget.value))}>
              {DAYS.map((each) => (
                <option key={each} value={each}>
                  {each === 0 ? t('expiryNever') : t('expiryDays', { days: each })}
                </option>
              ))}
            </select>
          </label>
        </div>
      </div>
      <fieldset>
        <legend>{t('scopes')}</legend>
        {SCOPES.map((scope) => (
          <label key={scope} class="check">
            <input type="checkbox" checked={scopes.includes(scope)} onChange={() => toggle(scope)} />{' '}
            {t(`scope_${scope}`)}
          </label>
        ))}
      </fieldset>
      <Refusal error={create.error} beside={(field) => field === 'name'} />
      <button class="primary" type="submit" disabled={create.isPending || scopes.length === 0}>
        {t('createKey')}
      </button>
      {made.map(({ api_key: key, api_key_prefix: prefix, name: given = `${prefix}…` }) => (
        <Secret key={key} text={key} name={given} />
      ))}
    </form>
  );
}
