import { de } from '../texts.de';
import { en } from '../texts.en';
import { frame } from './frame';
import { overview } from './overview';
import { reports } from './reports';
import { users } from './users';
import { webhooks } from './webhooks';

/** Every text of the console: the common ones, and those of each page in a file of its own. */
const EN = { ...en, ...frame.en, ...overview.en, ...reports.en, ...users.en, ...webhooks.en };
const DE: Readonly<Record<TextName, string>> = {
  ...de,
  ...frame.de,
  ...overview.de,
  ...reports.de,
  ...users.de,
  ...webhooks.de,
};

export type TextName = keyof typeof EN;
export type Texts = Readonly<Record<TextName, string>>;

export const TEXTS: Readonly<Record<'en' | 'de', Texts>> = { en: EN, de: DE };
