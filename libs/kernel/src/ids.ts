/** The lowest UUID of version 7 that can be made at the time `iso`. Every id made before that time is lower. */
export function firstIdAt(iso: string): string {
  const time = Math.max(0, Date.parse(iso)).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
}

/** The id `id` of version 7 where it sorts after `before`, else the lowest time and counter that do, with its random part. */
export function idAfter(id: string, before: string): string {
  if (id > before) return id;
  const [time, sequence] = [before.slice(0, 8) + before.slice(9, 13), before.slice(15, 18)];
  // The counter of rand_a is the low end of a number of 60 bits.
  const next = (BigInt(`0x${time}${sequence}`) + 1n).toString(16).padStart(15, '0');
  return `${next.slice(0, 8)}-${next.slice(8, 12)}-7${next.slice(12)}${id.slice(18)}`;
}
