import type { Schemas } from '@lethe/sdk';
import { either, type Notice } from './facts';
import { LANGUAGES } from './page';
import { isLocal } from './public-url';
import { linkButton, type Row, row } from './reply';
import { bestTag } from './texts';
import type { Turn } from './turn';

type Bot = Awaited<ReturnType<Turn['facts']['bot']>>;

/** What the bot says about itself (GDPR Art. 13 and 14), in paragraphs. What it does not say is left out. */
export function noticeText(turn: Turn, bot: Bot, notice: Notice): string[] {
  const { asked, words } = turn;
  const { say } = words;
  const text = (name: 'interests' | 'source' | 'automated_decisions') =>
    either(asked.locale, notice[`${name}_de`], notice[`${name}_en`]);
  const automated = { none: say('about_automated_none'), exist: text('automated_decisions') };
  const recipients = (notice.recipients ?? []).map((one) => recipientText(turn, notice, one));
  return [
    ...responsible(turn, bot, notice),
    ...titled(say('about_recipients'), recipients.join('\n')),
    ...titled(say('about_interests'), text('interests')),
    ...titled(say('about_source'), text('source')),
    ...titled(
      say('about_automated'),
      notice.automated_decisions ? automated[notice.automated_decisions] : undefined,
    ),
  ];
}

/** The button to the notice for everybody, where it is public and users reach it. */
export function noticeRow({ words, asked }: Turn, { page_url: page }: Notice): Row[] {
  if (page === undefined || isLocal(page)) return [];
  const language = bestTag(asked.locale, LANGUAGES) ?? 'en';
  return [row(linkButton(words.say('about_notice_open'), `${page}?language=${language}`))];
}

function responsible({ words: { say } }: Turn, bot: Bot, notice: Notice): string[] {
  const { controller_name: controller, controller_address: address, notice_url: url } = notice;
  const contact = listed(...new Set([notice.controller_email, bot.privacy_contact]));
  const officer = listed(notice.officer_name, notice.officer_email);
  const authority = listed(notice.authority_name, notice.authority_url);
  const contacts = contact === '' ? [] : [say('about_contact', { contact })];
  const named = [
    ...(controller ? [say('about_controller', { controller })] : []),
    ...(address ? [say('about_address', { address: inOneLine(address) })] : []),
    ...contacts,
    ...(officer === '' ? [] : [say('about_officer', { officer })]),
    ...(authority === '' ? [] : [say('about_authority', { authority })]),
    ...(url ? [say('about_policy', { url })] : []),
  ];
  // A contact alone needs no title.
  return named.length === contacts.length ? contacts : titled(say('about_responsible'), named.join('\n'));
}

/** A recipient with its country, what it does, and what protects a transfer to it (Art. 44 to 49). */
function recipientText(
  { asked: { locale }, words: { say } }: Turn,
  { countries = [] }: Notice,
  recipient: Schemas['NoticeRecipient'],
): string {
  const { name, country: code } = recipient;
  const found = countries.find(({ country }) => country === code);
  const country = either(locale, found?.name_de, found?.name_en) ?? code;
  const place =
    found?.third_country === true ? say('about_third_country', { country: country ?? '' }) : country;
  const purpose = either(locale, recipient.purpose_de, recipient.purpose_en);
  const safeguards = either(locale, recipient.safeguards_de, recipient.safeguards_en);
  const head = place ? `• ${name} (${place})` : `• ${name}`;
  const said = purpose === undefined ? head : `${head}: ${purpose}`;
  return safeguards === undefined ? said : `${said}\n${say('about_safeguards', { safeguards })}`;
}

const inOneLine = (text: string): string => listed(...text.split('\n').map((line) => line.trim()));

const listed = (...parts: (string | null | undefined)[]): string => parts.filter(Boolean).join(', ');

const titled = (title: string, text: string | undefined): string[] => (text ? [`**${title}**\n${text}`] : []);
