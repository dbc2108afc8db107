import { OwnError } from '@app/kernel';

/** Ends a unit that awaits something else than its statements, since it would block other units. */
export async function withinTimeout<T>(work: Promise<T>, timeoutMs: number): Promise<T> {
  if (timeoutMs === Infinity) return work;
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new OwnError('A unit of work took too long: it may await its statements only')),
      timeoutMs,
    );
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}
