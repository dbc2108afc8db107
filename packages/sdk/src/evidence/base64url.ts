import { VerificationError } from './verification-error';

/**
 * The bytes of base64url (RFC 4648, section 5).
 * @internal
 * @throws VerificationError for a text that is not the only notation of its bytes, so that every change is found.
 */
export function bytes(text: string): Buffer {
  const content = Buffer.from(text, 'base64url');
  if (content.toString('base64url') !== text)
    throw new VerificationError('this is not base64url in its only notation');
  return content;
}
