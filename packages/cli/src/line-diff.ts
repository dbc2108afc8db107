/** One line of a difference: taken away, added, or the same in both. */
export type DiffLine = readonly [mark: '-' | '+' | ' ', line: string];

/** The lines around a change that are shown with it. */
const AROUND = 2;

/** The difference of two texts by their longest common subsequence of lines, with two lines around each change. */
export function diffOf(before: string, after: string): DiffLine[] {
  const [old, now] = [before.split('\n'), after.split('\n')];
  const lengths = Array.from({ length: old.length + 1 }, () => new Uint32Array(now.length + 1));
  const at = (i: number, j: number): number => lengths[i]?.[j] ?? 0;
  for (let i = old.length - 1; i >= 0; i--)
    for (let j = now.length - 1; j >= 0; j--)
      (lengths[i] ?? [])[j] = old[i] === now[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      lines.push([' ', old[i] ?? '']);
      i += 1;
      j += 1;
    } else if (i < old.length && (j === now.length || at(i + 1, j) >= at(i, j + 1)))
      lines.push(['-', old[i++] ?? '']);
    else lines.push(['+', now[j++] ?? '']);
  }
  const changed = lines.flatMap(([mark], index) => (mark === ' ' ? [] : [index]));
  return lines.filter((_, index) => changed.some((one) => Math.abs(one - index) <= AROUND));
}
