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
