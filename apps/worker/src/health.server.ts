import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Inject, Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { errorEnvelope, hostFault, successEnvelope } from '@app/http';
import {
  ApiError,
  type Config,
  CONFIG,
  describeFault,
  metricsEndpoint,
  PrometheusMetrics,
} from '@app/kernel';
import { Health, listenFault } from '@app/runtime';

/** Only probes and scrapers connect here. A connection without a prompt request is cut. */
const LIMITS = { headersTimeout: 5_000, requestTimeout: 5_000, keepAliveTimeout: 5_000 };

/**
 * Answers probes and metrics of a worker, and 404 to everything else. It stays open until the last module has closed.
 */
@Injectable()
export class HealthServer implements OnApplicationShutdown {
  private readonly logger = new Logger('Health');
  private readonly server: Server;

  constructor(
    private readonly health: Health,
    metrics: PrometheusMetrics,
    @Inject(CONFIG) private readonly config: Config,
  ) {
    const tellMetrics = metricsEndpoint(metrics, config.metricsToken);
    const faultOf = hostFault(config);
    this.server = createServer(LIMITS, (request, response) => {
      const fault = faultOf(request);
      if (fault !== undefined) send(response, fault.status, errorEnvelope(fault));
      else tellMetrics(request, response, () => void this.answer(request, response));
    });
    this.server.maxConnections = 64;
  }

  /** Resolves to the port. @throws StartError when the address cannot be used */
  async listen(): Promise<number> {
    const { host, workerPort: port } = this.config;
    await once(this.server.listen(port, host), 'listening').catch((error: unknown) => {
      throw listenFault(error, { host, port, setting: 'WORKER_PORT' });
    });
    // Of a connection that could not be accepted: the next one may be.
    this.server.on('error', (error) =>
      this.logger.warn('A probe or scrape had no connection', describeFault(error)),
    );
    return (this.server.address() as AddressInfo).port;
  }

  async onApplicationShutdown(): Promise<void> {
    if (!this.server.listening) return;
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.server.closeAllConnections();
    await closed;
  }

  private async answer({ url = '', method }: IncomingMessage, response: ServerResponse): Promise<void> {
    const asks = method === 'GET' || method === 'HEAD';
    const [path] = url.split('?', 1);
    try {
      if (asks && path === '/health/live') send(response, 200, successEnvelope(this.health.live()));
      else if (asks && path === '/health/ready')
        send(response, 200, successEnvelope(await this.health.ready()));
      else throw new ApiError('not_found', 'Nothing is here');
    } catch (error) {
      const fault =
        error instanceof ApiError
          ? error
          : new ApiError('service_unavailable', 'The database does not answer');
      send(response, fault.status, errorEnvelope(fault));
    }
  }
}

function send(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, {
    'Content-Type': 'application/json; charset=utf-8',
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
  });
  response.end(body);
}
