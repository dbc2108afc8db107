import { Config } from './config';

/** Where webhooks may go: the checks of a URL before it is stored, and of an address before it is connected to. */
export class EgressPolicy {
  constructor(private readonly config: Config) {}

  /** Why `url` can never be called, completing "webhook_url …"; undefined when it may. Resolves no name. */
  refusalOf(url: string): string | undefined {
    const { protocol, username, password } = new URL(url);
    if (protocol !== 'http:' && protocol !== 'https:') return 'must be an http or https URL';
    if (protocol === 'http:' && this.requiresHttps) return 'must be an https URL';
    if (username !== '' || password !== '') return 'must not hold a user name or password';
    return undefined;
  }

  private get requiresHttps(): boolean {
    const { webhookRequireHttps, nodeEnv } = this.config;
    return webhookRequireHttps === 'auto' ? nodeEnv === 'production' : webhookRequireHttps === 'true';
  }
}
