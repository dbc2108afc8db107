import { requireNumber } from '@lethe/sdk';
import { bodyOf, type Chunks, isSigned, keyOf, type PublicKey, type RequestHeaders } from './signed-request';

const TOLERANCE_MAX_SECONDS = 86_400;

export interface SignedOptions {
  /** The public key of the application, of Discord's developer portal. */
  readonly publicKey: string;
  /** How old the time of a request may be, in either direction; 5 minutes by default. */
  readonly toleranceSeconds?: number;
  readonly now?: () => number;
}

/** A request of node:http or Express. */
export interface NodeRequest extends AsyncIterable<Uint8Array> {
  readonly method?: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** A response of node:http or Express. */
export interface NodeResponse {
  writeHead(status: number, headers: Record<string, string>): unknown;
  end(text: string): unknown;
}

/** Receives what Discord sends by HTTP. It hands on only what Discord has signed, and reports what fails. */
export class SignedEndpoint<Body> {
  private readonly key: Promise<PublicKey>;

  constructor(
    private readonly options: SignedOptions,
    /** Answers the JSON of a request, or nothing for 204. */
    private readonly answer: (body: Body) => Promise<object | undefined> | object | undefined,
    private readonly report: (error: unknown) => void,
  ) {
    requireNumber('toleranceSeconds', options.toleranceSeconds, 0, TOLERANCE_MAX_SECONDS);
    this.key = keyOf(options.publicKey);
    // The first request reports it.
    this.key.catch(() => undefined);
  }

  async fetch(request: Request): Promise<Response> {
    const { status, text } = await this.handled(request.method, request.headers, request.body ?? []);
    // A 204 with a text is none.
    return new Response(text || null, { status, headers: { 'content-type': typeOf(status) } });
  }

  async node(request: NodeRequest, response: NodeResponse): Promise<void> {
    const { headers, method = '' } = request;
    const given = { get: (name: string) => String(headers[name] ?? '') };
    const { status, text } = await this.handled(method, given, request);
    const close: Record<string, string> = status < 300 ? {} : { connection: 'close' };
    response.writeHead(status, { 'content-type': typeOf(status), ...close });
    response.end(text);
  }

  private async handled(method: string, headers: RequestHeaders, body: Chunks): Promise<Answer> {
    try {
      if (method !== 'POST') return refused(405, 'Discord sends POST requests here.');
      const raw = await bodyOf(body);
      if (raw === undefined) return refused(413, 'The body is larger than any of Discord.');
      const { toleranceSeconds, now } = this.options;
      if (!(await isSigned(await this.key, headers, raw, { toleranceSeconds, now })))
        return refused(401, 'The request is not signed by the application, or too old.');
      const answer = await this.answer(JSON.parse(new TextDecoder().decode(raw)) as Body);
      return answer === undefined ? { status: 204, text: '' } : { status: 200, text: JSON.stringify(answer) };
    } catch (error) {
      this.report(error);
      return refused(500, 'The request could not be processed.');
    }
  }
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

const refused = (status: number, text: string): Answer => ({ status, text });
const typeOf = (status: number): string => (status < 300 ? 'application/json' : 'text/plain');
