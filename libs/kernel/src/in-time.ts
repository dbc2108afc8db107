/**
 * What `work` resolves to; once that takes longer than `maxMs`, what `late` returns or throws. An answer that arrived while the event
 * loop was busy still counts.
 */
export async function inTime<T, Late>(work: Promise<T>, maxMs: number, late: () => Late): Promise<T | Late> {
  let timer: NodeJS.Timeout | undefined;
  const end = new Promise<void>((resolve) => (timer = setTimeout(() => setImmediate(resolve), maxMs)));
  try {
    return await Promise.race([work, end.then(late)]);
  } finally {
    clearTimeout(timer);
  }
}
