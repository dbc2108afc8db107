/** Addresses of the machine itself, on which the service listens without `PUBLIC_URL`, and names without a dot. */
const LOCAL = /^(127\.|\[::|[^.[]*$)/;

/** Whether users do not reach an address. Discord refuses every message with a button to a name without a dot. */
export const isLocal = (url: string): boolean => LOCAL.test(new URL(url).hostname);

/** The page that checks files; undefined where users do not reach it. @throws TypeError for what is no origin */
export function verifyUrlOf(publicUrl: string | undefined): string | undefined {
  if (publicUrl === undefined) return undefined;
  if (!/^https?:\/\/[^/?#@\s]+\/?$/i.test(publicUrl) || !URL.canParse(publicUrl))
    throw new TypeError(
      `publicUrl must be PUBLIC_URL of the service, like https://gdpr.example.org, not ${JSON.stringify(publicUrl)}.`,
    );
  return isLocal(publicUrl) ? undefined : new URL('/verify', publicUrl).href;
}
