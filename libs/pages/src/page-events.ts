import type { ConsentStatusView, ShownRequest } from '@app/consent';

/** An act as the audit log has it. */
export interface PastEvent {
  readonly event_type: string;
  readonly source: string;
  readonly details: Readonly<Record<string, unknown>> | null;
  readonly created_at: string;
}

/** The place of an act on the page, as its audit event and the history say. */
export const VIA = 'privacy_page';

/** Whether an event is of an act on the page; the bot can post others with the same details. */
export function isOwn({ source, details }: PastEvent): boolean {
  return source === 'service' && details?.['via'] === VIA;
}

/** What a user has decided on each category. The status of a consent to everything names none: what a newer request names waits. */
export function decisionsOf({
  status,
  asked,
}: {
  readonly status: Pick<ConsentStatusView, 'categories'>;
  readonly asked: ShownRequest | undefined;
}): NonNullable<ConsentStatusView['categories']> {
  return status.categories ?? (asked?.categories ?? []).map((key) => ({ key, status: 'pending' }));
}
