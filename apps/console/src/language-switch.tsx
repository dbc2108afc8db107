import { type Language, LanguageContext, useWords } from './language';
import { TEXTS } from './texts';

/** The switch of the languages; each is named in itself. */
export function LanguageSwitch() {
  const { language, t } = useWords();
  return (
    <LanguageContext.Consumer>
      {({ change }) => (
        <label class="switch">
          <span class="hidden">{t('theme')}</span>
          <select value={language} onChange={(event) => change(event.currentTarget.value as Language)}>
            {Object.entries(TEXTS).map(([name, texts]) => (
              <option key={name} value={name}>
                {texts.language}
              </option>
            ))}
          </select>
        </label>
      )}
    </LanguageContext.Consumer>
  );
}
