import { de } from '../texts.de';
import { en } from '../texts.en';
import { audit } from './audit';
import { categoryTexts } from './categories';
import { coverageTexts } from './coverage';
import { frame } from './frame';
import { keyTexts } from './keys';
import { noticeTexts } from './notice';
import { overview } from './overview';
import { places } from './places';
import { refusalTexts } from './refusals';
import { reports } from './reports';
import { settings } from './settings';
import { users } from './users';
import { webhooks } from './webhooks';

/** Every text of the console: the common ones, and those of each page in a file of its own. */
const EN = {
  ...en,
  ...audit.en,
  ...categoryTexts.en,
  ...coverageTexts.en,
  ...frame.en,
  ...keyTexts.en,
  ...noticeTexts.en,
  ...overview.en,
  ...places.en,
  ...refusalTexts.en,
  ...reports.en,
  ...settings.en,
  ...users.en,
  ...webhooks.en,
};
const DE: Readonly<Record<TextName, string>> = {
  ...de,
  ...audit.de,
  ...categoryTexts.de,
  ...coverageTexts.de,
  ...frame.de,
  ...keyTexts.de,
  ...noticeTexts.de,
  ...overview.de,
  ...places.de,
  ...refusalTexts.de,
  ...reports.de,
  ...settings.de,
  ...users.de,
  ...webhooks.de,
};

export type TextName = keyof typeof EN;
export type Texts = Readonly<Record<TextName, string>>;

export const TEXTS: Readonly<Record<'en' | 'de', Texts>> = { en: EN, de: DE };
