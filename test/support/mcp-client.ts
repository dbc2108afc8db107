export type McpMessage = Readonly<Record<string, unknown>>;

/** What a tool has answered. */
export interface ToolResult {
  readonly isError: boolean;
  readonly structuredContent?: Record<string, unknown>;
  readonly content: readonly { readonly type: string; readonly text: string }[];
}

/** A client of the Model Context Protocol over lines, which are written by `send` and handed to `take`. */
export class McpClient {
  /** All messages of the server, in their order. */
  readonly received: McpMessage[] = [];
  /** Answers the questions of the server, where there is someone to ask. */
  onQuestion: (message: string) => object | undefined = () => undefined;
  private readonly seats = new Map<unknown, (message: McpMessage) => void>();
  private readonly faults: McpMessage[] = [];
  private readonly waiting: ((message: McpMessage) => void)[] = [];
  private last = 0;

  constructor(private readonly send: (line: string) => void) {}

  take(message: McpMessage): void {
    this.received.push(message);
    const { id, method, params } = message;
    if (method === 'elicitation/create') {
      const result = this.onQuestion(String((params as McpMessage)['message']));
      if (result !== undefined) this.raw({ jsonrpc: '2.0', id, result });
    } else if (id === null) (this.waiting.shift() ?? ((fault) => this.faults.push(fault)))(message);
    else this.seats.get(id)?.(message);
  }

  /** Sends a message, or a line as it is. */
  raw(message: object | string): void {
    this.send(typeof message === 'string' ? message : `${JSON.stringify(message)}\n`);
  }

  /** The next error that is about no request. */
  fault(): Promise<McpMessage> {
    const found = this.faults.shift();
    return found === undefined
      ? new Promise((resolve) => this.waiting.push(resolve))
      : Promise.resolve(found);
  }

  /** The whole answer to a request. */
  request(method: string, params: object = {}, id: string | number = ++this.last): Promise<McpMessage> {
    const answer = new Promise<McpMessage>((resolve) => this.seats.set(id, resolve));
    this.raw({ jsonrpc: '2.0', id, method, params });
    return answer;
  }

  async initialize(capabilities: object = {}, protocolVersion = '2025-11-25'): Promise<McpMessage> {
    const clientInfo = { name: 'test', version: '1' };
    const answer = await this.request('initialize', { protocolVersion, capabilities, clientInfo });
    this.raw({ jsonrpc: '2.0', method: 'notifications/initialized' });
    return answer['result'] as McpMessage;
  }

  async call(name: string, given: object = {}): Promise<ToolResult> {
    const { result } = await this.request('tools/call', { name, arguments: given });
    return result as ToolResult;
  }
}
