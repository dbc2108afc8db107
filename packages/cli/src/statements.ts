import { closeSync, createReadStream, openSync, readSync } from 'node:fs';
import {
  type AuditProof,
  type CertifiedSubject,
  type HolderAnswer,
  type KeySet,
  linesIn,
  type Payload,
  verifyCertificate,
  verifyFinalCertificate,
  verifyStatement,
} from '@lethe/sdk/evidence';
import { auditLog, day, proof, type Said } from './audit-statements';
import { refused, wrongUsage } from './failures';
import { readText } from './env-file';
import { scope } from './output';

export type Verified = Said<'certificate' | 'final_certificate' | 'receipt' | 'proof' | 'audit_log'>;

/** Whom a certificate is to be about. */
export interface Named {
  readonly salt?: string | undefined;
  readonly bot?: string | undefined;
  readonly user?: string | undefined;
  readonly guild?: string | undefined;
}

/** An event of an audit export has at most 8 KiB of details. */
const FIRST_LINE_MAX = 64 * 1024;

const RECEIPT = 'lethe-consent-receipt+jwt';
const CERTIFICATE = 'lethe-erasure-certificate+jwt';
const FINAL = 'lethe-final-certificate+jwt';
const RECEIVED = 'The signature of Lethe proves that it received these answers, not that they are true.';

/**
 * Verifies a file of any kind with the keys.
 * @throws VerificationError where it is not what the service has signed
 */
export async function verified(file: string, keys: KeySet, named: Named): Promise<Verified> {
  if (contentOf(firstLine(file))?.['type'] !== undefined) {
    requireUnnamed(named);
    return auditLog(linesIn(createReadStream(file)), keys);
  }
  const text = readText(file).trim();
  const content = contentOf(text);
  if (content === undefined) return statement(text, keys, named);
  if (typeof content['certificate'] === 'string')
    return statement(content['certificate'], keys, withFile(named, content));
  if (typeof content['receipt'] === 'string') return statement(content['receipt'], keys, named);
  if (typeof content['checkpoint'] === 'string') {
    requireUnnamed(named);
    return proof(content as unknown as AuditProof, keys);
  }
  throw refused(
    `${file} is neither a certificate, a receipt, a proof nor an audit log.`,
    'Give the answer of the interface as it is, with or without its envelope.',
  );
}

/** The first line of a file, which may be a log of any size. */
function firstLine(file: string): string {
  const bytes = Buffer.alloc(FIRST_LINE_MAX);
  try {
    const descriptor = openSync(file, 'r');
    const length = readSync(descriptor, bytes);
    closeSync(descriptor);
    return bytes.toString('utf8', 0, length).split('\n')[0] ?? '';
  } catch (error) {
    throw wrongUsage(`${file} cannot be read: ${(error as Error).message}`, 'Name the file to verify.');
  }
}

/** The one JSON object of a text, without the envelope. */
function contentOf(text: string): Payload | undefined {
  try {
    const value = JSON.parse(text) as { data?: Payload } & Payload;
    return value.data ?? value;
  } catch {
    return undefined;
  }
}

/** A file of `lethe forget --certificate` names its subject itself. Options have priority. */
const withFile = (named: Named, content: Payload): Named => ({
  salt: named.salt ?? text(content['certificate_salt']),
  bot: named.bot ?? text(content['bot_id']),
  user: named.user ?? text(content['user_id']),
  guild: named.guild ?? text(content['guild_id']),
});

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

function statement(jws: string, keys: KeySet, named: Named): Verified {
  const typ = contentOf(Buffer.from(jws.split('.')[0] ?? '', 'base64url').toString())?.['typ'];
  if (typ === RECEIPT) {
    requireUnnamed(named);
    return receipt(verifyStatement(jws, keys, RECEIPT));
  }
  return typ === FINAL ? finalCertificate(jws, keys, named) : certificate(jws, keys, named);
}

/**
 * What is named has to be verified, or refused: a verification that leaves it out would seem to be about it.
 * @throws Failure of wrong usage
 */
function requireUnnamed(named: Named): void {
  const given = Object.entries(named).filter(([, value]) => value !== undefined);
  if (given.length === 0) return;
  throw wrongUsage(
    `Only a certificate is compared with ${given.map(([name]) => `--${name}`).join(', ')}.`,
    'Verify the file without that: the sentence says whom it is about.',
  );
}

function certificate(jws: string, keys: KeySet, named: Named): Verified {
  const subject = subjectOf(named, verifyStatement(jws, keys, CERTIFICATE));
  const payload = verifyCertificate(jws, keys, subject);
  return { kind: 'certificate', sentence: erasure(payload, subject), statement: payload };
}

function finalCertificate(jws: string, keys: KeySet, named: Named): Verified {
  const subject = subjectOf(named, verifyStatement(jws, keys, FINAL));
  const found = verifyFinalCertificate(jws, keys, subject);
  const answers = found.holders.map(answerOf).join(' ');
  return {
    kind: 'final_certificate',
    sentence: `${erasure(found.certificate, subject)} ${answers} ${RECEIVED}`,
    statement: found,
  };
}

/** The subject that was named, if it was; the bot is that of the certificate where none was named. */
function subjectOf({ bot, salt, user, guild }: Named, payload: Payload): CertifiedSubject | undefined {
  if (salt !== undefined && user !== undefined && guild !== undefined)
    return { salt, botId: bot ?? text(payload['bot_id']) ?? '', userId: user, guildId: guild };
  const isOther = bot !== undefined && bot !== payload['bot_id'];
  if ((salt ?? user ?? guild) === undefined && !isOther) return undefined;
  throw wrongUsage(
    'A certificate is tied to a user by --salt, --user and --guild together.',
    'The salt is certificate_salt in the answer of the erasure.',
  );
}

function erasure(payload: Payload, named: CertifiedSubject | undefined): string {
  const bot = named?.botId ?? text(payload['bot_id']) ?? '';
  const categories = (payload['deleted_categories'] as string[]).join(', ') || 'no values were stored';
  const subject =
    named === undefined
      ? 'one user in one place (a server, or the direct messages), which it does not name,'
      : `user ${named.userId} in ${scope(named.guildId)}`;
  const hint =
    named === undefined ? ' Whether it is a certain user shows with --salt, --user and --guild.' : '';
  return `On ${day(payload['completed_at'])} everything that the bot ${bot} had stored in Lethe about ${subject} was erased (${categories}).${hint}`;
}

/** What a holder has answered, and who says so. */
function answerOf({ label_en: label, key, result, kept, ...answer }: HolderAnswer): string {
  const { signed_at: signedAt, answered_at: receivedAt } = answer;
  const said = {
    erased: 'erased what it had about the user',
    nothing: 'had nothing about the user',
    kept: `keeps data until ${day(kept?.until)}, because: ${JSON.stringify(kept?.basis)}`,
  }[result];
  const source =
    signedAt === null
      ? `as Lethe received it on ${day(receivedAt)}, without a signature of the holder`
      : `as it says on ${day(signedAt)}, signed by its own key`;
  // The label is a text of the bot, and must not read as a sentence about another holder.
  return `${key} (${JSON.stringify(label)}) ${said}, ${source}.`;
}

function receipt(payload: Payload): Verified {
  const {
    pii_principal_id: user,
    pii_processing: processing,
    party_identification: parties,
    event,
  } = payload as {
    [name: string]: unknown;
    pii_processing: {
      privacy_notice: { consent_version: string };
      service: { bot_id: string; guild_id: string };
      purposes: { purpose: string; purpose_label: { en: string } | null }[];
    };
    party_identification: { party_name: string }[];
    event: { event_time: string };
  };
  const { service, purposes, privacy_notice: notice } = processing;
  const names = purposes.map(({ purpose, purpose_label: label }) => label?.en ?? purpose).join(', ');
  return {
    kind: 'receipt',
    sentence: `On ${day(event.event_time)} user ${String(user)} agreed in ${scope(service.guild_id)} that the bot ${parties[0]?.party_name} (${service.bot_id}) stores: ${names || 'nothing that is named'} (version ${notice.consent_version}). Whether the consent is still in force it does not say.`,
    statement: payload,
  };
}
