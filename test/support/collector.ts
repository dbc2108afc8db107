import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: number };
}

/** A span as OTLP carries it, with its attributes as an object. */
export interface TakenSpan {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly parentSpanId?: string;
  readonly status: { readonly code?: number };
  readonly attributes: Readonly<Record<string, string | number>>;
}

/** A metric as OTLP carries it. */
export interface TakenMetric {
  readonly name: string;
  readonly sum?: { readonly isMonotonic: boolean; readonly dataPoints: readonly Point[] };
  readonly gauge?: { readonly dataPoints: readonly Point[] };
  readonly histogram?: { readonly dataPoints: readonly Point[] };
}

interface Point {
  readonly attributes: readonly Attribute[];
  readonly asDouble?: number;
  readonly count?: number;
}

interface Taken {
  readonly path: string;
  /** The headers and the body. */
  readonly text: string;
  readonly body: unknown;
}

type Wire<T> = Omit<T, 'attributes'> & { readonly attributes: readonly Attribute[] };

interface Traces {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly Wire<TakenSpan>[] }[];
  }[];
}

interface Metrics {
  readonly resourceMetrics: readonly {
    readonly scopeMetrics: readonly { readonly metrics: readonly TakenMetric[] }[];
  }[];
}

/** A collector on loopback that takes OTLP over HTTP as JSON, and keeps all of it. */
export class Collector {
  readonly taken: Taken[] = [];
  /** The status of its answers; `silent` gives none until `release`. */
  answers: number | 'silent' = 200;
  /** The `authorization` of the last request. */
  credential: string | undefined;
  url: string;
  private server: Server;
  private readonly held: ServerResponse[] = [];

  /** All that it has got, with the headers, as one text. */
  get bytes(): string {
    return this.taken.map(({ text }) => text).join('\n');
  }

  get spans(): TakenSpan[] {
    return this.of<Traces>('/v1/traces').flatMap(({ resourceSpans }) =>
      resourceSpans.flatMap(({ scopeSpans }) =>
        scopeSpans.flatMap(({ spans }) =>
          spans.map((span) => ({ ...span, attributes: valuesOf(span.attributes) })),
        ),
      ),
    );
  }

  /** The attributes of the resource of the first spans. */
  get resource(): TakenSpan['attributes'] {
    return valuesOf(this.of<Traces>('/v1/traces')[0]?.resourceSpans[0]?.resource.attributes ?? []);
  }

  /** The metrics of the last export. */
  get metrics(): readonly TakenMetric[] {
    return (
      this.of<Metrics>('/v1/metrics')
        .at(-1)
        ?.resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics)) ?? []
    );
  }

  async start(): Promise<this> {
    this.server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const body = Buffer.concat(chunks).toString();
        const text = `${JSON.stringify(request.rawHeaders)}\n${body}`;
        this.credential = request.headers.authorization;
        this.taken.push({ path: request.url ?? '', text, body: JSON.parse(body) });
        if (this.answers === 'silent') this.held.push(response);
        else response.writeHead(this.answers, { 'Content-Type': 'application/json' }).end('{}');
      });
    });
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
    return this;
  }

  /** Answers what is held, and from here on all. */
  release(): void {
    this.answers = 200;
    for (const response of this.held.splice(0)) response.writeHead(200).end('{}');
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private of<Body>(path: string): Body[] {
    return this.taken.filter((one) => one.path === path).map(({ body }) => body as Body);
  }
}

function valuesOf(attributes: readonly Attribute[]): Record<string, string | number> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue ?? '']),
  );
}

/** A collector for each test of the calling file or `describe`. */
export function useCollector(): { readonly the: Collector } {
  const use: { the: Collector } = { the: new Collector() };
  beforeEach(async () => void (use.the = await new Collector().start()));
  afterEach(() => use.the.stop());
  return use;
}
