import { filled, useWords, type Words } from '../language';
import { ADVICE_DE } from './advice.de';
import { operatorDe } from './texts.de';
import { operatorEn, type OperatorTextName } from './texts.en';

const TEXTS = { en: operatorEn, de: operatorDe };
const MIB = 1_048_576;

interface Advice {
  readonly says: string;
  readonly mend: string;
}

interface OperatorWords extends Omit<Words, 't'> {
  readonly t: (name: OperatorTextName, values?: Readonly<Record<string, string | number>>) => string;
  readonly bytes: (count: number) => string;
  /** With its sign. */
  readonly growth: (count: number) => string;
  /** What is wrong and what to do, in the present language; undefined where only the service says it, in English. */
  readonly advice: (id: string) => Advice | undefined;
}

/** The texts and formats of the operator's pages. */
export function useOperatorWords(): OperatorWords {
  const words = useWords();
  const { language } = words;
  const of = (signDisplay: 'auto' | 'exceptZero') => {
    const sizes = new Intl.NumberFormat(language, { maximumFractionDigits: 1, signDisplay });
    return (count: number): string =>
      Math.abs(count) < 1024 * MIB
        ? `${sizes.format(count / MIB)} MiB`
        : `${sizes.format(count / MIB / 1024)} GiB`;
  };
  return {
    ...words,
    t: (name, values) => filled(TEXTS[language][name], values),
    bytes: of('auto'),
    growth: of('exceptZero'),
    advice: (id) => (language === 'de' ? ADVICE_DE[id] : undefined),
  };
}
