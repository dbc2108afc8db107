import { type FormFields, type LetheRequest, reachableUrl } from '@app/http';
import { ApiError, type Config, CONFIG, lacksPublicUrl, sameToken } from '@app/kernel';
import { Inject, Injectable, Logger, type OnApplicationBootstrap } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { createHmac } from 'node:crypto';
import type { AddressInfo } from 'node:net';

/** The address at which users reach the service: `PUBLIC_URL`, or the address on which it listens. */
@Injectable()
export class PublicUrl implements OnApplicationBootstrap {
  constructor(
    private readonly adapterHost: HttpAdapterHost,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** Warns where links lead to an address that their users cannot reach. A process without the interface makes none. */
  onApplicationBootstrap(): void {
    const adapter = this.adapterHost.httpAdapter as unknown;
    if (adapter == null || !lacksPublicUrl(this.config)) return;
    new Logger('Pages').warn(
      'PUBLIC_URL is not set: links to privacy pages lead to the address on which this process listens, and forms of pages under another address are refused. Set it to the address at which users reach the proxy.',
    );
  }

  get url(): string {
    const { publicUrl, host, port } = this.config;
    if (publicUrl !== undefined) return publicUrl;
    const server = this.adapterHost.httpAdapter.getHttpServer() as { address(): AddressInfo | null };
    return reachableUrl(host, server.address()?.port ?? port);
  }

  /** The origin from which forms are accepted. */
  get origin(): string {
    return new URL(this.url).origin;
  }
}

/** The acts of the forms of a page. */
export type FormAct =
  | ('accept' | 'decline' | 'again' | 'revoke' | 'export' | 'erase' | 'forget' | 'correct')
  | ('object' | 'restrict' | 'unrestrict');

/**
 * Forms that only the page of a link can send. Each has a mark, which is made from the token of the link, the act and what was
 * shown for it: no other page knows the token. The browser has to name the page as well.
 */
@Injectable()
export class PageForms {
  constructor(private readonly publicUrl: PublicUrl) {}

  /** @param shown the digest of the words on the form; the mark changes with it */
  markOf(token: string, act: FormAct, shown = ''): string {
    return createHmac('sha256', token).update(`form/${act}/${shown}`).digest('base64url');
  }

  /** @throws ApiError 403 for a form that another page has made, or of another act */
  require({ headers }: LetheRequest, fields: FormFields, token: string, act: FormAct): void {
    const { origin } = headers;
    const isFromPage = isSameOrigin(headers) && (origin === undefined || origin === this.publicUrl.origin);
    const mark = this.markOf(token, act, fields['shown']?.[0]);
    if (!isFromPage || !sameToken(mark)(fields['mark']?.[0] ?? '')) refuse();
  }
}

/** Whether a page of this origin has sent the request, as far as its browser says. */
export function isSameOrigin({ 'sec-fetch-site': site }: LetheRequest['headers']): boolean {
  return site === undefined || site === 'same-origin';
}

/** @throws ApiError 403, which the browser gets as a page */
export function refuse(): never {
  throw new ApiError('insufficient_scope', 'The page does not offer this');
}
