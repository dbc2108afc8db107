/** The answer, or undefined when the process ended before it came. */
export async function unlessCut<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}
