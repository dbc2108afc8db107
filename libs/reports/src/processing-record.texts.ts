import { DE } from './processing-record.texts.de';
import { EN, type RecordTexts } from './processing-record.texts.en';

/** The sentences of the record by language. */
export const RECORD_TEXTS: Readonly<Record<'de' | 'en', RecordTexts>> = { de: DE, en: EN };
export type RecordLanguage = keyof typeof RECORD_TEXTS;
export const RECORD_LANGUAGES = Object.keys(RECORD_TEXTS) as RecordLanguage[];
