import type { Caller } from './caller';
import { linesOf } from './streams';
import type { CallOptions } from './transport';

/** For the operator: `key` of the client is the token of `OPERATOR_TOKEN`. */
export const operatorOf = (call: Caller) => ({
  /** Versions, migrations, what waits, and what readiness calls degraded. */
  status: call.with('GET /operator/status'),
  /** What `doctor` of the command line finds, with what to do. */
  findings: call.with('GET /operator/findings'),
  /** The size of the database now and on each day. */
  storage: call.with('GET /operator/storage'),
  bots: call.list('GET /operator/bots', 'bots'),
  suspend: call.at('POST /operator/bots/{id}/suspend', 'id'),
  resume: call.at('POST /operator/bots/{id}/resume', 'id'),
  /** Sets the requests per minute of a bot; the tier `default` leaves it to the settings. */
  setTier: call.with('PUT /operator/bots/{id}/tier'),
  /** The ledger of all erasures line by line, for a file. */
  ledger: async function* (options?: CallOptions) {
    yield* linesOf(await call.begun('GET /operator/ledger', {}, options));
  },
});
