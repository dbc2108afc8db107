import { de } from '../texts.de';
import { en } from '../texts.en';
import { categoryTexts } from './categories';
import { frame } from './frame';
import { keyTexts } from './keys';
import { settings } from './settings';
import { users } from './users';

/** Every text of the console: the common ones, and those of each page in a file of its own. */
const EN = { ...en, ...frame.en, ...categoryTexts.en, ...settings.en, ...keyTexts.en, ...users.en };
const DE: Readonly<Record<TextName, string>> = {
  ...de,
  ...frame.de,
  ...categoryTexts.de,
  ...settings.de,
  ...keyTexts.de,
  ...users.de,
};

export type TextName = keyof typeof EN;
export type Texts = Readonly<Record<TextName, string>>;

export const TEXTS: Readonly<Record<'en' | 'de', Texts>> = { en: EN, de: DE };
