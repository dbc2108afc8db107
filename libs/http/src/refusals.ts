import type { Duplex } from 'node:stream';
import type { Socket } from 'node:net';
import { ApiError } from '@app/kernel';
import { answerError } from './answer';
import type { AnsweredSocket, Run } from './connections';
import { takesBody } from './json';
import type { LetheRequest, LetheResponse } from './request-context';

/** How long a refused client may read the answer, in milliseconds. Then its connection is closed. */
const LINGER_MS = 1_000;

/** The log and the metrics name this method for bytes that are no request. */
const OTHER_METHOD = 'OTHER';

/** A fault of bytes that are no request. 408 and 431 are not in the table of errors, so it has a status of its own. */
class Unreadable extends ApiError {
  constructor(
    private readonly ownStatus: number,
    message: string,
  ) {
    super('invalid_request', message);
  }

  override get status(): number {
    return this.ownStatus;
  }
}

type NodeError = Error & { code?: string };

/** Faults by the code of Node's error. Every other code is a fault of the syntax. */
const FAULTS: Readonly<Record<string, Unreadable | undefined>> = {
  HPE_HEADER_OVERFLOW: new Unreadable(431, 'The request headers are too large'),
  ERR_HTTP_REQUEST_TIMEOUT: new Unreadable(408, 'The request did not arrive in time'),
};
const BAD_SYNTAX = new Unreadable(400, 'The request is not valid HTTP/1.1');

/** What Node makes of each message. */
interface Made {
  readonly IncomingMessage: new (socket: Duplex) => LetheRequest;
  readonly ServerResponse: new (request: LetheRequest) => LetheResponse;
}

/**
 * Refuses what is no HTTP (400), arrives too late (408) or has too large headers (431), and closes the connection. Each is counted,
 * answered and logged as the request that it belongs to, or else as a request without a key. Whole requests that arrived
 * before on the connection get their own answers first.
 */
export class Refusals {
  /** Connections whose next bytes are no request, while whole requests before them are being answered. */
  private readonly ending = new WeakSet<Duplex>();

  constructor(
    private readonly run: Run,
    private readonly made: Made,
  ) {}

  /**
   * A listener of `clientError`. A process that was suspended finds the time of a request over before it reads what has come
   * meanwhile: bytes that the next turn of the event loop brings are given a second to be a whole request.
   */
  readonly onFault = (error: NodeError, socket: AnsweredSocket): void => {
    const { bytesRead, bytesWritten, _httpMessage } = socket;
    if (error.code === 'ECONNRESET') return void socket.destroy();
    const fault = FAULTS[error.code ?? ''] ?? BAD_SYNTAX;
    if (error.code !== 'ERR_HTTP_REQUEST_TIMEOUT' || _httpMessage?.req.complete)
      return this.refuse(fault, socket);
    const refuseUnlessWhole = (): void => {
      const running = socket._httpMessage;
      const isWhole = running == null ? socket.bytesWritten !== bytesWritten : running.req.complete;
      if (!isWhole) this.refuse(fault, socket);
    };
    setImmediate(() => {
      if (socket.bytesRead === bytesRead) refuseUnlessWhole();
      // Suspended meanwhile, it reads what has come before it looks.
      else setTimeout(() => setImmediate(refuseUnlessWhole), LINGER_MS).unref();
    });
  };

  /** A listener of `connect`: Node has left the socket, whose errors and end need listeners. */
  readonly onConnect = (request: LetheRequest, socket: Duplex): void => {
    socket.on('error', () => socket.destroy()).resume();
    this.refuse(BAD_SYNTAX, socket, request);
  };

  private refuse(fault: ApiError, socket: AnsweredSocket, request?: LetheRequest): void {
    if (!socket.writable) return void socket.destroy();
    const running = socket._httpMessage;
    if (running == null) this.answerUnread(fault, socket, request);
    else if (!running.req.complete) refuseRunning(fault, socket, running);
    else if (!this.ending.has(socket)) {
      this.ending.add(socket);
      running.once('close', () => {
        this.ending.delete(socket);
        if (socket.writable) this.refuse(fault, socket, request);
      });
    }
  }

  /** Answers what has no answer of Node's: it passes the middleware of all requests. */
  private answerUnread(fault: ApiError, socket: AnsweredSocket, given?: LetheRequest): void {
    const request = given ?? new this.made.IncomingMessage(socket);
    Object.assign(request, { fault, complete: true, url: '/', method: given?.method ?? OTHER_METHOD });
    const response = new this.made.ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket as Socket);
    response.once('finish', () => close(socket));
    this.run(request, response);
  }
}

/**
 * Refuses a request that waits for its body. Another one may be done by now: its own answer is the last of its connection. If an
 * answer has already begun, nothing is written and the connection is cut.
 */
function refuseRunning(fault: ApiError, socket: AnsweredSocket, response: LetheResponse): void {
  const { req: request } = response;
  // A request that is not counted yet is refused once it is.
  request.fault = fault;
  response.shouldKeepAlive = false;
  if (!response.headersSent) {
    if (request.context?.isCounted !== true || !takesBody(request)) return;
    answerError(response, fault);
  }
  // Node holds the headers of an answer to HEAD back until its end.
  response.flushHeaders();
  close(socket);
}

function close(socket: Duplex): void {
  socket.end();
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}
