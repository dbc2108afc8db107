import { type CallOptions, LetheError } from '@lethe/sdk';
import { sha256 } from './consent-request';
import { ACTS, customId } from './custom-id';
import { PATIENT } from './patient';
import { button, type Reply, reply, row } from './reply';
import type { Texts } from './texts';
import { failure, jsonFile, once, type Turn, verifyRow, type Where, whereOf } from './turn';

/** How long the certificates of one answer may take; an interaction can be answered for 15 minutes. */
const CERTIFICATES_MS = 60_000;

/** Asks whether the user is sure. The button expires. */
export async function forget(turn: Turn, where: Where): Promise<Reply> {
  const { asked, now, confirmSeconds } = turn;
  const { say } = turn.words;
  const until = Math.floor(now() / 1000) + confirmSeconds;
  const yes = button('danger', say('forget_yes'), customId(ACTS.forget, where, until.toString(36), asked.id));
  const no = button('secondary', say('forget_no'), customId(ACTS.keep));
  const content = `${say(await sureOf(turn, where))}\n${say('forget_until', { when: `<t:${until}:t>` })}`;
  return reply({ content, components: [row(yes, no)] });
}

async function sureOf({ asked, facts }: Turn, where: Where): Promise<keyof Texts> {
  if (where !== 'here') return 'forget_sure_everywhere';
  if (asked.guildId !== null) return 'forget_sure_here';
  return (await facts.hasOwnStores()) === false ? 'forget_sure_bot_wide' : 'forget_sure_bot_wide_own_stores';
}

interface Erased {
  readonly request_id: string;
  readonly status: string;
  readonly guild_id: string;
  readonly certificate_salt: string;
}

/** Erases the user who pressed (GDPR Art. 17), and hands out the certificates. */
export async function erase(turn: Turn, parts: readonly string[]): Promise<Reply> {
  const [where, until = '', of] = parts;
  const { lethe, who, words, now } = turn;
  const { say } = words;
  // An id that is no time is expired, too.
  if (!(parseInt(until, 36) * 1000 > now()))
    return reply({ content: say('forget_expired'), keepsFiles: true });
  const key = await onceByButton(turn, of);
  const erased: Erased[] = [];
  try {
    if (whereOf(where) === 'here') {
      const found = await lethe.privacy.forget(who, key);
      erased.push({ ...found, guild_id: who.guild_id });
    } else {
      const { requests } = await lethe.privacy.forgetEverywhere({ user_id: who.user_id }, key);
      erased.push(...requests);
    }
  } catch (error) {
    return notErased(turn, error);
  }
  if (erased.length === 0) return reply({ content: say('forget_nothing') });
  const under = erased.find(({ status }) => status !== 'completed');
  // Side by side, and neither rejects: the salts are answered this once.
  const [hasOwnStores, { certificates, isWhole }] = await Promise.all([
    turn.facts.hasOwnStores(),
    certificatesOf(turn, erased),
  ]);
  const lines = [
    under === undefined ? say('forget_done') : say('forget_under_way', { id: under.request_id }),
    ...(isWhole
      ? [say(certificates.length === 1 ? 'forget_certificate' : 'forget_certificates')]
      : [say('forget_salts'), say('forget_incomplete')]),
    say(beyond(turn, { where: whereOf(where), hasOwnStores })),
  ];
  // The page reads one certificate of a file.
  const components = certificates.length === 1 && isWhole ? verifyRow(turn) : [];
  return reply({ content: lines.join('\n'), files: [fileOf(turn, certificates)], components });
}

/** What is not erased here. Of stores that are not known nothing is said. */
function beyond(
  { asked }: Turn,
  { where, hasOwnStores }: { where: Where; hasOwnStores: boolean | undefined },
): keyof Texts {
  if (hasOwnStores === undefined) return 'forget_messages';
  if (!hasOwnStores) return 'forget_beyond';
  const here = asked.guildId === null ? 'forget_own_stores_bot_wide' : 'forget_own_stores_here';
  return where === 'here' ? here : 'forget_own_stores';
}

/** A failure keeps the button, whose next press continues the same erasure, and the salts of the guilds that are done. */
function notErased(turn: Turn, error: unknown): Reply {
  const { words, asked } = turn;
  const { say } = words;
  const id = asked.act.kind === 'component' ? asked.act.customId : '';
  const components = [row(button('danger', say('forget_yes'), id))];
  const kept = reply({ content: failure(turn, error), components });
  const { requests } = error instanceof LetheError ? error.details : {};
  if (!Array.isArray(requests) || requests.length === 0) return { ...kept, keepsFiles: true };
  const salts = (requests as Erased[]).map((one) => ({ ...saltOf(one), certificate: null }));
  return { ...kept, content: `${kept.content}\n${say('forget_salts')}`, files: [fileOf(turn, salts)] };
}

const saltOf = ({ guild_id, request_id, certificate_salt }: Erased) => ({
  guild_id,
  request_id,
  certificate_salt,
});

const fileOf = ({ who }: Pick<Turn, 'who'>, certificates: readonly object[]) =>
  jsonFile('erasure-certificate.json', { user_id: who.user_id, certificates });

/**
 * A second press of the same button changes the same message: it has the salts and certificates of the first, since the service
 * repeats its answer. The key is of the user who presses.
 */
async function onceByButton(turn: Turn, of: string | undefined): Promise<CallOptions> {
  if (of === undefined) return once(turn, 'forget');
  const digest = await sha256(`${of}/${turn.who.user_id}/${turn.who.guild_id}`);
  return { ...PATIENT, idempotencyKey: `discord-${digest.slice(0, 32)}-forget` };
}

/** The salts are answered this once, so that the file has them also where a certificate is not ready. */
async function certificatesOf({ lethe, now, report }: Turn, erased: readonly Erased[]) {
  const endMs = now() + CERTIFICATES_MS;
  const certificates = [];
  let isWhole = true;
  for (const one of erased) {
    const leftMs = endMs - now();
    const certificate =
      leftMs > 0
        ? await certificateOf({ lethe, report }, one.request_id, Math.min(leftMs, CERTIFICATES_MS))
        : null;
    isWhole &&= certificate !== null;
    certificates.push({ ...saltOf(one), certificate });
  }
  return { certificates, isWhole };
}

async function certificateOf(
  { lethe, report }: Pick<Turn, 'lethe' | 'report'>,
  id: string,
  timeoutMs: number,
): Promise<string | null> {
  try {
    return (await lethe.privacy.certificate(id, { timeoutMs })).certificate;
  } catch (error) {
    // The erasure is done: a certificate that cannot be fetched now does not make it a failure, which would lose the salts.
    if (!(error instanceof LetheError)) report(error);
    return null;
  }
}
