import { type CallResult, type WebhookCall, WebhookSender } from '@app/webhooks';
import type { Timeline } from './timeline';

/** The reaction of a receiver to a call, and its duration. */
export type Behaviour = (call: WebhookCall) => {
  readonly ms: number;
  readonly result: Omit<CallResult, 'durationMs'>;
};

export const confirms =
  (ms = 20): Behaviour =>
  () => ({ ms, result: { outcome: 'confirmed', status: 200 } });
export const isDown: Behaviour = () => ({ ms: 10_000, result: { outcome: 'timed_out' } });
export const answers =
  (status: number, retryAfterMs?: number): Behaviour =>
  () => ({ ms: 20, result: { outcome: status === 410 ? 'gone' : 'refused', status, retryAfterMs } });

interface Contact {
  readonly by: PlayedSender;
  readonly url: string;
  readonly id: string;
  readonly startMs: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  endMs?: number;
  outcome?: CallResult['outcome'];
}

/** All receivers, and the record of every call that reached one. */
export class PlayedInternet {
  readonly contacts: Contact[] = [];
  private readonly behaviours = new Map<string, Behaviour>();
  private readonly open = new Set<Contact>();

  constructor(private readonly timeline: Timeline) {}

  /** Sets the behaviour of the receiver at `url`. */
  at(url: string, behaviour: Behaviour): void {
    this.behaviours.set(url, behaviour);
  }

  contactsTo(url: string): Contact[] {
    return this.contacts.filter((contact) => contact.url === url);
  }

  hasConfirmed(id: string): boolean {
    return this.contacts.some((contact) => contact.id === id && contact.outcome === 'confirmed');
  }

  /** The number of running calls of living processes, to `url` or to all, of one process or of all. */
  openTo(url?: string, by?: PlayedSender): number {
    return [...this.open].filter(
      (contact) =>
        !contact.by.isCut &&
        (url === undefined || contact.url === url) &&
        (by === undefined || contact.by === by),
    ).length;
  }

  /** Whether a call that began after `sinceMs` is running. */
  isOpen(id: string, sinceMs: number): boolean {
    return [...this.open].some((contact) => contact.id === id && contact.startMs > sinceMs);
  }

  begin(by: PlayedSender, call: WebhookCall, onEnd: (result: CallResult) => void): void {
    const { url, headers, body } = call;
    const contact: Contact = {
      by,
      url,
      id: headers['webhook-id'] ?? '',
      startMs: this.timeline.monotonicMs(),
      headers,
      body,
    };
    this.contacts.push(contact);
    this.open.add(contact);
    const { ms, result } = (this.behaviours.get(url) ?? confirms())(call);
    this.timeline.after(ms, () => {
      this.open.delete(contact);
      contact.endMs = this.timeline.monotonicMs();
      contact.outcome = result.outcome;
      onEnd({ ...result, durationMs: ms });
    });
  }
}

/** The sender of one process. */
export class PlayedSender extends WebhookSender {
  /** Drops the results of a process that has died. */
  isCut = false;
  /** Called with a result before the process receives it. */
  onResult: (call: WebhookCall, result: CallResult) => void = () => undefined;
  /** Called before each call is sent. */
  onSend: (call: WebhookCall) => void = () => undefined;

  constructor(private readonly internet: PlayedInternet) {
    super();
  }

  send(call: WebhookCall, signal: AbortSignal): Promise<CallResult> {
    this.onSend(call);
    return new Promise((resolve) => {
      const interrupt = (): void => resolve({ outcome: 'interrupted', durationMs: 0 });
      signal.addEventListener('abort', interrupt);
      this.internet.begin(this, call, (result) => {
        this.onResult(call, result);
        signal.removeEventListener('abort', interrupt);
        if (!this.isCut) resolve(result);
      });
    });
  }
}
