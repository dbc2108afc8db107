import type { AddressInfo } from 'node:net';
import { Inject, Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { CONFIG, type Config } from '@app/kernel';

/** The address at which users reach the service: `PUBLIC_URL`, or the address on which it listens. */
@Injectable()
export class PublicUrl {
  constructor(
    private readonly adapterHost: HttpAdapterHost,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  get url(): string {
    const { publicUrl, host, port } = this.config;
    if (publicUrl !== undefined) return publicUrl;
    const server = this.adapterHost.httpAdapter.getHttpServer() as { address(): AddressInfo | null };
    const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host;
    return `http://${name.includes(':') ? `[${name}]` : name}:${server.address()?.port ?? port}`;
  }

  /** The origin from which forms are accepted. */
  get origin(): string {
    return new URL(this.url).origin;
  }
}
