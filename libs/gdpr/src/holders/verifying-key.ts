/** The prime and the constant d of the curve edwards25519 (RFC 8032, 5.1). */
const P = 2n ** 255n - 19n;
const D = 37095705934669439343138083508754565189542113879843219016388785533085940283555n;
/** The y of the eight points of small order: their signatures can be made without a private key. */
const ORDER_8 = 2707385501144840649318225287225658788936804267575313519463743609750303402022n;
const SMALL_ORDER: readonly bigint[] = [0n, 1n, P - 1n, ORDER_8, P - ORDER_8];

/**
 * Whether 32 bytes are an Ed25519 public key by which a signature can be verified, and by no private key only: a point of the curve in
 * its only notation (RFC 8032, 5.1.3), of no small order.
 */
export function isVerifyingKey(bytes: Uint8Array): boolean {
  const number = BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`);
  const y = number & (2n ** 255n - 1n);
  if (y >= P || SMALL_ORDER.includes(y)) return false;
  const y2 = (y * y) % P;
  // x² = (y² - 1) / (d y² + 1) has a root if the product is a square.
  return power(((y2 - 1n) * (D * y2 + 1n)) % P, (P - 1n) / 2n) === 1n;
}

function power(base: bigint, exponent: bigint): bigint {
  let [result, square] = [1n, base];
  for (let left = exponent; left > 0n; left >>= 1n) {
    if ((left & 1n) === 1n) result = (result * square) % P;
    square = (square * square) % P;
  }
  return result;
}
