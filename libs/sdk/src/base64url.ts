import { VerificationError } from './verification-error';

/**
 * The bytes of base64url (RFC 4648, section 5).
 * @throws VerificationError for a text that could be written differently for the same bytes: nothing may be changed unseen.
 */
export function bytes(text: string): Buffer {
  const content = Buffer.from(text, 'base64url');
  if (content.toString('base64url') !== text)
    throw new VerificationError('this is no base64url as it was written');
  return content;
}
