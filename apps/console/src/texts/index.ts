import { de } from '../texts.de';
import { en } from '../texts.en';
import { audit } from './audit';
import { frame } from './frame';
import { users } from './users';

/** Every text of the console: the common ones, and those of each page in a file of its own. */
const EN = { ...en, ...frame.en, ...users.en, ...audit.en };
const DE: Readonly<Record<TextName, string>> = { ...de, ...frame.de, ...users.de, ...audit.de };

export type TextName = keyof typeof EN;
export type Texts = Readonly<Record<TextName, string>>;

export const TEXTS: Readonly<Record<'en' | 'de', Texts>> = { en: EN, de: DE };
