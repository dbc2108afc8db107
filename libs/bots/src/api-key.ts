import { hash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Config, Random } from '@app/kernel';

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 62^43 > 2^256, 62^6 > 2^32. */
const SECRET_LENGTH = 43;
const CHECKSUM_LENGTH = 6;
const KEY = new RegExp(`^sk_(?:live|test)_[0-9A-Za-z]{${SECRET_LENGTH + CHECKSUM_LENGTH}}$`);
/** Characters of a key that may be shown: they identify the key and do not help to guess it. */
export const VISIBLE_LENGTH = 16;

function base62(value: bigint, length: number): string {
  let text = '';
  for (let rest = value; text.length < length; rest /= 62n) text = DIGITS.charAt(Number(rest % 62n)) + text;
  return text;
}

/** The checksum of a key before it is added. */
function checksum(text: string): string {
  return base62(BigInt(crc32(text)), CHECKSUM_LENGTH);
}

/**
 * A new key: 256 random bits and a checksum, by which mistyped keys are refused and leaked keys are found. The keys of a
 * sandbox begin with `sk_test_`, others with `sk_live_`.
 */
export function newApiKey(random: Random, kind: Config['apiKeyKind']): string {
  const secret = base62(BigInt(`0x${random.bytes(32).toString('hex')}`), SECRET_LENGTH);
  const text = `sk_${kind}_${secret}`;
  return text + checksum(text);
}

/** Whether `text` has the form and checksum of a key. Other texts are refused without a look-up. */
export function isApiKey(text: string): boolean {
  return KEY.test(text) && checksum(text.slice(0, -CHECKSUM_LENGTH)) === text.slice(-CHECKSUM_LENGTH);
}

/** The stored digest of a key. An unkeyed hash suffices: 256 random bits cannot be guessed. */
export function keyDigest(key: string): string {
  return hash('sha256', key, 'hex');
}
