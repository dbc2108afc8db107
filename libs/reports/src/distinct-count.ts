/** Up to this number of different texts the count is exact. */
const EXACT_MAX = 50_000;
/** 2^14 registers: the standard error of the estimate is 1.04 / 2^7, which is 0.8 %. */
const REGISTER_BITS = 14;
const REGISTERS = 2 ** REGISTER_BITS;

const { clz32, imul } = Math;

/**
 * Counts different texts in bounded memory: exactly up to 50,000, and by an estimate (HyperLogLog) above. The estimate
 * is usually within 0.8 % and hardly ever off by more than 3 %.
 */
export class DistinctCount {
  private readonly seen = new Set<string>();
  private registers: Uint8Array | undefined;

  get isExact(): boolean {
    return this.registers === undefined;
  }

  get count(): number {
    if (this.registers === undefined) return this.seen.size;
    let sum = 0;
    for (const rank of this.registers) sum += 2 ** -rank;
    return Math.round((0.7213 / (1 + 1.079 / REGISTERS)) * (REGISTERS ** 2 / sum));
  }

  add(text: string): void {
    if (this.registers !== undefined) return note(this.registers, text);
    this.seen.add(text);
    if (this.seen.size <= EXACT_MAX) return;
    this.registers = new Uint8Array(REGISTERS);
    for (const each of this.seen) note(this.registers, each);
    this.seen.clear();
  }
}

function note(registers: Uint8Array, text: string): void {
  const [one, other] = hash(text);
  const register = one >>> (32 - REGISTER_BITS);
  const rank = clz32(other) + 1;
  if (rank > (registers[register] ?? 0)) registers[register] = rank;
}

/** Two independent 32-bit hashes: multiplications by odd numbers, mixed at the end so that every bit counts. */
function hash(text: string): [number, number] {
  let one = 0x9e3779b9;
  let other = 0x7f4a7c15;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    one = imul(one ^ code, 0x85ebca6b);
    other = imul(other ^ code, 0xc2b2ae35);
    one ^= one >>> 15;
    other ^= other >>> 13;
  }
  return [mixed(one ^ imul(other, 0x27d4eb2f)), mixed(other ^ imul(one, 0x165667b1))];
}

function mixed(value: number): number {
  let mix = imul(value ^ (value >>> 16), 0x85ebca6b);
  mix = imul(mix ^ (mix >>> 13), 0xc2b2ae35);
  return (mix ^ (mix >>> 16)) >>> 0;
}
