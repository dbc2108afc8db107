import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { until } from './until';

/** A span as the collector got it. */
export interface SpanSeen {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly kind: number;
  readonly facts: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly isFailed: boolean;
  readonly startNanos: bigint;
  readonly endNanos: bigint;
}

interface AttributeSeen {
  readonly key: string;
  readonly value: { stringValue?: string; intValue?: number; doubleValue?: number; boolValue?: boolean };
}
interface Sent {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly AttributeSeen[] };
    readonly scopeSpans: readonly { readonly spans: readonly RawSpan[] }[];
  }[];
}
interface RawSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly attributes: readonly AttributeSeen[];
  readonly links: readonly { traceId: string; spanId: string }[];
  readonly status: { code: number };
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
}

/** What a collector does with a call. */
export type Manner = 'takes' | 'refuses' | 'hangs';

/** A collector of OTLP over HTTP on loopback that keeps every byte that it gets. */
export class Collector {
  manner: Manner = 'takes';
  readonly spans: SpanSeen[] = [];
  /** Address, headers and body of every call. */
  readonly bytes: string[] = [];
  readonly resources: Readonly<Record<string, unknown>>[] = [];
  readonly headers: IncomingMessage['headers'][] = [];
  url: string;
  private server: Server;

  async start(port = 0): Promise<this> {
    this.server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => this.take(request, Buffer.concat(chunks).toString('utf8'), response));
    });
    await new Promise<void>((resolve) => this.server.listen(port, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
    return this;
  }

  /** Ends without an answer to the calls under way. */
  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** The first span that fits, once it is there. */
  async span(fits: (span: SpanSeen) => boolean): Promise<SpanSeen> {
    await until(() => this.spans.some(fits));
    return this.spans.find(fits) as SpanSeen;
  }

  /** The spans directly inside another one. */
  inside({ spanId }: SpanSeen): SpanSeen[] {
    return this.spans.filter(({ parentSpanId }) => parentSpanId === spanId);
  }

  private take(request: IncomingMessage, body: string, response: ServerResponse): void {
    this.bytes.push(`${request.method} ${request.url}\n${JSON.stringify(request.headers)}\n${body}`);
    this.headers.push(request.headers);
    if (this.manner === 'hangs') return;
    if (this.manner === 'refuses') return void response.writeHead(500).end('a secret of the collector');
    for (const { resource, scopeSpans } of (JSON.parse(body) as Sent).resourceSpans) {
      this.resources.push(valuesOf(resource.attributes));
      this.spans.push(...scopeSpans.flatMap(({ spans }) => spans.map(seen)));
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  }
}

function seen(raw: RawSpan): SpanSeen {
  return {
    traceId: raw.traceId,
    spanId: raw.spanId,
    parentSpanId: raw.parentSpanId,
    name: raw.name,
    kind: raw.kind,
    facts: valuesOf(raw.attributes),
    links: raw.links,
    isFailed: raw.status.code === 2,
    startNanos: BigInt(raw.startTimeUnixNano),
    endNanos: BigInt(raw.endTimeUnixNano),
  };
}

function valuesOf(attributes: readonly AttributeSeen[]): SpanSeen['facts'] {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
