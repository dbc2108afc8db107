import type { Language } from '../language';
import { type Finding, namesIn } from './examine';
import { holderSentences, sentenceOf, signedIn, unsignedNames } from './sentence';
import { VERIFY_TEXTS } from './texts';

const TONES = { holds: 'good', fails: 'bad', unclear: 'warn' } as const;

interface Given {
  readonly finding: Finding;
  readonly language: Language;
  readonly text: string;
}

/** What a check has found: in a sentence, for a final certificate with the answers, and what was signed. */
export function Result(given: Given) {
  const { finding, language } = given;
  const names = unsignedNames(language, finding, namesIn(given.text));
  const answers = holderSentences(language, finding);
  return (
    <>
      <p class={`notice ${TONES[finding.result]}`}>{sentenceOf(language, finding)}</p>
      {answers.length > 0 && (
        <>
          <p>{VERIFY_TEXTS[language].answers}</p>
          <ul class="answers">
            {answers.map((answer) => (
              <li key={answer}>{answer}</li>
            ))}
          </ul>
          <p class="small">{VERIFY_TEXTS[language].whoSaidWhat}</p>
        </>
      )}
      {names !== undefined && <p class="small">{names}</p>}
      {finding.result === 'holds' && (
        <details>
          <summary>{VERIFY_TEXTS[language].signed}</summary>
          <pre class="statement">{JSON.stringify(signedIn(finding), null, 2)}</pre>
        </details>
      )}
    </>
  );
}
