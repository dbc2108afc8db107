import { useEffect, useRef, useState } from 'preact/hooks';
import { hasEd25519 } from '@lethe/sdk/evidence/web';
import { firstLanguage, keepLanguage, type Language, LanguageContext } from '../language';
import { LanguageSwitch } from '../language-switch';
import { examine, type Finding, type Named, tiesOf } from './examine';
import { Result } from './result';
import { VERIFY_TEXTS } from './texts';

const iconAddress = new URL('../icon.svg', import.meta.url).href;

/** The page `/verify`. It asks the service for its public keys and for nothing else. */
export function VerifyApp() {
  const [language, setLanguage] = useState<Language>(firstLanguage);
  const texts = VERIFY_TEXTS[language];
  const change = (to: Language): void => {
    keepLanguage(to);
    setLanguage(to);
  };
  useEffect(() => {
    document.documentElement.lang = language;
    document.title = `${texts.title} · Lethe`;
  }, [language]);
  return (
    <LanguageContext.Provider value={{ language, change }}>
      <header class="top">
        <p class="brand">
          <img src={iconAddress} alt="" width="24" height="24" /> Lethe
        </p>
        <div class="actions">
          <a href="/">{texts.home}</a>
          <LanguageSwitch />
        </div>
      </header>
      <main class="narrow">
        <h1>{texts.title}</h1>
        <p>{texts.lead}</p>
        <VerifyForm language={language} />
      </main>
    </LanguageContext.Provider>
  );
}

function VerifyForm({ language }: { readonly language: Language }) {
  const texts = VERIFY_TEXTS[language];
  const [text, setText] = useState('');
  const [named, setNamed] = useState<Named>({ salt: '', userId: '', guildId: '' });
  const [finding, setFinding] = useState<Finding>();
  const [isAble, setAble] = useState(true);
  /** A check of the text before that of a chosen file would show nothing. */
  const [isReading, setReading] = useState(false);
  const latest = useRef({});
  const answer = useRef<HTMLDivElement>(null);
  const { keys, setKeys, isAway } = useKeys();
  const isTied = Object.values(tiesOf(text)).every((part) => part !== '');
  // The button is below what it asks about, and the answer above.
  useEffect(() => {
    if (finding !== undefined) answer.current?.scrollIntoView({ block: 'nearest' });
  }, [finding]);
  useEffect(() => void hasEd25519().then(setAble), []);
  const drop = (): void => {
    latest.current = {};
    setFinding(undefined);
  };
  const change = (to: string): void => {
    setText(to);
    drop();
  };
  const read = (file: File | undefined): void => {
    if (file === undefined) return;
    setReading(true);
    void file
      .text()
      .then(change)
      .finally(() => setReading(false));
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    drop();
    const asked = (latest.current = {});
    void examine(text, keys, isTied ? { ...named, salt: '', guildId: '' } : named).then((found) => {
      // A result of a text that was changed meanwhile is not shown.
      if (latest.current === asked) setFinding(found);
    });
  };
  if (!isAble)
    return (
      <p class="notice warn" role="alert">
        {texts.noCrypto}
      </p>
    );
  return (
    <form class="lines" onSubmit={submit}>
      <div role="status" id="finding" ref={answer}>
        {finding !== undefined && <Result finding={finding} language={language} text={text} />}
      </div>
      <Area
        id="statement"
        label={texts.statement}
        hint={texts.statementHint}
        value={text}
        onText={change}
        onFile={read}
      />
      <label>
        {texts.file}
        <input type="file" onChange={(event) => read(event.currentTarget.files?.[0])} />
      </label>
      <details open={isAway}>
        <summary>{texts.keys}</summary>
        <Area
          id="keys"
          label={texts.keys}
          hint={isAway ? texts.keysAway : texts.keysHint}
          value={keys}
          onText={(to) => {
            setKeys(to);
            drop();
          }}
        />
      </details>
      <SubjectFields
        language={language}
        named={named}
        isTied={isTied}
        onNamed={(to) => {
          setNamed(to);
          drop();
        }}
      />
      <button class="primary" type="submit" disabled={isReading}>
        {texts.check}
      </button>
    </form>
  );
}

/** The user a certificate is to be about. */
function SubjectFields(given: {
  readonly language: Language;
  readonly named: Named;
  /** The text has the salt and the server. */
  readonly isTied: boolean;
  readonly onNamed: (named: Named) => void;
}) {
  const { language, named, isTied, onNamed } = given;
  const texts = VERIFY_TEXTS[language];
  const fields = { salt: texts.salt, userId: texts.user, guildId: texts.guild };
  return (
    <fieldset>
      <legend>{texts.subject}</legend>
      <p class="small">{isTied ? texts.tied : texts.subjectHint}</p>
      {(isTied ? (['userId'] as const) : (['salt', 'userId', 'guildId'] as const)).map((name) => (
        <label key={name}>
          {fields[name]}
          <input
            value={named[name]}
            autocomplete="off"
            spellcheck={false}
            onInput={(event) => onNamed({ ...named, [name]: event.currentTarget.value })}
          />
        </label>
      ))}
    </fieldset>
  );
}

function Area(given: {
  readonly id: string;
  readonly label: string;
  readonly hint: string;
  readonly value: string;
  readonly onText: (text: string) => void;
  readonly onFile?: (file: File | undefined) => void;
}) {
  const { id, label, hint, value, onText, onFile } = given;
  return (
    <div class="area">
      <label for={id}>{label}</label>
      <p class="small" id={`${id}-hint`}>
        {hint}
      </p>
      <textarea
        id={id}
        rows={6}
        spellcheck={false}
        aria-describedby={`${id}-hint`}
        value={value}
        onInput={(event) => onText(event.currentTarget.value)}
        onDragOver={(event) => onFile !== undefined && event.preventDefault()}
        onDrop={(event) => {
          const file = event.dataTransfer?.files[0];
          if (onFile === undefined || file === undefined) return;
          event.preventDefault();
          onFile(file);
        }}
      />
    </div>
  );
}

/** The public keys of this installation, until others are pasted. */
function useKeys() {
  const [keys, setKeys] = useState('');
  const [isAway, setAway] = useState(false);
  useEffect(() => {
    fetch('/.well-known/lethe-keys.json', { credentials: 'omit' })
      .then(async (response) => {
        if (!response.ok) return setAway(true);
        const text = await response.text();
        // What was pasted in the meantime has priority.
        setKeys((pasted) => (pasted === '' ? text : pasted));
      })
      .catch(() => setAway(true));
  }, []);
  return { keys, setKeys, isAway };
}
