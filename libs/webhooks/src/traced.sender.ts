import { KIND, markFailed, type Tracing } from '@app/tracing';
import { type CallResult, type WebhookCall, WebhookSender } from './webhook-sender';

/**
 * Records each call of `sender`: its event, the host of its receiver, its outcome. Path, headers and body stay out, and the
 * receiver gets no header of the trace: it is not ours.
 */
export class TracedWebhookSender extends WebhookSender {
  constructor(
    private readonly sender: WebhookSender,
    private readonly tracing: Tracing,
  ) {
    super();
  }

  send(call: WebhookCall, signal: AbortSignal): Promise<CallResult> {
    const { protocol, hostname, port } = new URL(call.url);
    const attributes = {
      'http.request.method': 'POST',
      'server.address': hostname,
      'server.port': Number(port) || (protocol === 'https:' ? 443 : 80),
      'lethe.webhook.event': call.headers['X-GDPR-Event'],
      'lethe.webhook.id': call.headers['webhook-id'],
    };
    return this.tracing.trace({ name: 'webhook POST', kind: KIND.client, attributes }, async (span) => {
      const result = await this.sender.send(call, signal);
      span?.setAttributes({
        'lethe.webhook.outcome': result.outcome,
        'http.response.status_code': result.status,
      });
      if (span !== undefined && result.outcome !== 'confirmed') markFailed(span);
      return result;
    });
  }
}
