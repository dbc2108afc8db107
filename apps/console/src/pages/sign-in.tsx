import { useState } from 'preact/hooks';
import { submits } from '../confirm';
import { LanguageSwitch } from '../language-switch';
import { useWords } from '../language';
import { type AnySession, signIn, SessionError } from '../service';
import type { TextName } from '../texts';

/** Begins a session with an API key or the token of the operator, which the page forgets at once. */
export function SignInPage({
  hasEnded,
  onSession,
}: {
  readonly hasEnded: boolean;
  readonly onSession: (session: AnySession) => void;
}) {
  const { t } = useWords();
  const [key, setKey] = useState('');
  const [fault, setFault] = useState<TextName | undefined>();
  const [isRunning, setRunning] = useState(false);
  const submit = async (): Promise<void> => {
    setRunning(true);
    setFault(undefined);
    try {
      onSession(await signIn(key.trim()));
    } catch (error) {
      const status = error instanceof SessionError ? error.status : 0;
      setFault(
        status === 429 ? 'tooManyRequests' : status === 401 || status === 400 ? 'keyInvalid' : 'serviceAway',
      );
    } finally {
      setRunning(false);
    }
  };
  return (
    <main class="sign-in">
      <LanguageSwitch />
      <form
        onSubmit={submits(() => {
          if (!isRunning) void submit();
        })}
      >
        <h1>{t('appName')}</h1>
        <p>{t('signInLead')}</p>
        {hasEnded && (
          <p class="notice warn" role="status">
            {t('sessionEnded')}
          </p>
        )}
        <label>
          {t('apiKey')}
          <input
            type="password"
            autocomplete="off"
            spellcheck={false}
            required
            maxLength={258}
            value={key}
            aria-invalid={fault === 'keyInvalid'}
            aria-describedby="sign-in-fault"
            onInput={(event) => setKey(event.currentTarget.value)}
          />
        </label>
        <p id="sign-in-fault" role="alert" class={fault === undefined ? 'hidden' : 'notice bad'}>
          {fault !== undefined && t(fault)}
        </p>
        <button class="primary" type="submit" disabled={isRunning}>
          {t('signIn')}
        </button>
      </form>
    </main>
  );
}
