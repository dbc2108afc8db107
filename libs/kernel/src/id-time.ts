/** The lowest UUID of version 7 that can be made at the time `iso`. Every id made before that time is lower. */
export function firstIdAt(iso: string): string {
  const time = Math.max(0, Date.parse(iso)).toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-000000000000`;
}
