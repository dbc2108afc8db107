import {
  Bot,
  countryIn,
  isThirdCountry,
  type NoticeSettings,
  noticeSettingsOf,
  type Recipient,
} from '@app/bots';
import { storesWithoutConsent } from '@app/categories';
import type { Tx } from '@app/database';
import { IsNull } from 'typeorm';
import { type DocumentLanguage, inLanguage, TEXTS } from './documents.texts';
import { joined, linked, mailTo, own, type Said, said } from './said';

/** What a bot has declared about itself. */
export interface Declared {
  readonly bot: Bot;
  readonly settings: NoticeSettings;
  /** null: nothing was set yet. */
  readonly settingsAt: string | null;
  /** Whether a category needs no consent. */
  readonly storesWithoutConsent: boolean;
}

/** undefined for a bot that does not exist, or is being deleted. */
export async function declaredOf(tx: Tx, botId: string): Promise<Declared | undefined> {
  const bot = await tx.manager.findOneBy(Bot, { id: botId, deletedAt: IsNull() });
  if (bot === null) return undefined;
  const { settings, updatedAt } = await noticeSettingsOf(tx, botId);
  return {
    bot,
    settings,
    settingsAt: updatedAt,
    storesWithoutConsent: await storesWithoutConsent(tx, botId),
  };
}

/** Where questions about data protection are sent. */
export function contactOf({ bot, settings }: Declared): string | null {
  return settings.controller_email ?? bot.privacyContact;
}

/** The officer with the address; undefined if none is named. */
export function officerOf({ settings }: Declared): Said | undefined {
  const { officer_name: name, officer_email: email } = settings;
  const parts = [
    ...(name === undefined ? [] : [said`${name}`]),
    ...(email === undefined ? [] : [mailTo(email)]),
  ];
  return parts.length === 0 ? undefined : joined(parts, ', ');
}

export function authorityOf({ settings }: Declared): Said | undefined {
  const { authority_name: name, authority_url: url } = settings;
  if (url === undefined) return name === undefined ? undefined : said`${name}`;
  return linked(name ?? url, url);
}

/** A recipient with its country, what it does and what protects the transfer to it. */
export function recipientIn(language: DocumentLanguage, recipient: Recipient): Said {
  const { name, country } = recipient;
  const place = country === undefined ? said`${name}` : said`${name} (${countryIn(language, country)})`;
  const purpose = inLanguage(language, recipient.purpose_de, recipient.purpose_en);
  return purpose === undefined ? place : said`${place}: ${purpose}`;
}

/** The recipients in third countries, each with its safeguards as far as they are declared. */
export function transfersIn(language: DocumentLanguage, { settings }: Declared): Said[] {
  const { safeguards } = TEXTS[language];
  return (settings.recipients ?? []).flatMap((recipient) => {
    const { name, country } = recipient;
    if (country === undefined || !isThirdCountry(country)) return [];
    const transfer = said`${name}, ${countryIn(language, country)}`;
    const words = inLanguage(language, recipient.safeguards_de, recipient.safeguards_en);
    return [words === undefined ? transfer : said`${transfer}. ${own(safeguards)}: ${words}`];
  });
}

/** Whether every named recipient says where it is, and none is in a third country. */
export function isWithoutTransfers({ settings: { recipients = [] } }: Declared): boolean {
  return (
    recipients.length > 0 &&
    recipients.every(({ country }) => country !== undefined && !isThirdCountry(country))
  );
}

/** Whether there are automated decisions, in words; undefined if the bot does not say so. */
export function automatedIn(language: DocumentLanguage, { settings }: Declared): Said | undefined {
  if (settings.automated_decisions === 'none') return own(TEXTS[language].noAutomated);
  const { automated_decisions_de: de, automated_decisions_en: en } = settings;
  const words = settings.automated_decisions === 'exist' ? inLanguage(language, de, en) : undefined;
  return words === undefined ? undefined : said`${words}`;
}
