import { Bot, countryIn, isThirdCountry, type NoticeSettings, noticeSettingsOf } from '@app/bots';
import { storesWithoutConsent } from '@app/categories';
import type { Tx } from '@app/database';
import { declaredIn, safeguarded } from '@app/pages';
import { IsNull } from 'typeorm';
import { type DocumentLanguage, TEXTS } from './documents.texts';
import { own, type Said, said } from './said';

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

/** The recipients in third countries, each with its safeguards as far as they are declared. */
export function transfersIn(language: DocumentLanguage, { settings }: Declared): Said[] {
  return (settings.recipients ?? []).flatMap((recipient) => {
    const { name, country } = recipient;
    if (country === undefined || !isThirdCountry(country)) return [];
    return [safeguarded(language, said`${name}, ${countryIn(language, country)}`, recipient)];
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
  return declaredIn(language, settings).automated;
}
