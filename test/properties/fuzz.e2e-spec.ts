import fc from '../support/fast-check';
import { atDepth, isFull, itInPart } from '../support/depth';
import { useServiceInProcess } from '../support/service';
import { OPERATIONS, type Operation } from './fuzz/grammar';
import { Play } from './fuzz/play';
import { OPERATOR_TOKEN } from './fuzz/tenant';
import { aConnection, bytesOf } from './fuzz/raw-http';
import { aRequest } from './fuzz/requests';

// Requests made from openapi.json, with faults in every part, against what holds for all requests.

/** The share of the operations that have to accept something, so that the requests are no nonsense. */
const ACCEPTING = 0.9;

const service = useServiceInProcess({ OPERATOR_TOKEN, RATE_LIMIT_OPERATOR: '1000000' });

describe('any requests of a bot', () => {
  itInPart(
    'get the envelope, no 5xx and an answer in time, change rows only if accepted, and leave no value in the log',
    async () => {
      const accepting = new Set<Operation>();
      await fc.assert(
        fc.asyncProperty(fc.array(aRequest, { maxLength: 20, size: 'max' }), async (requests) => {
          const play = await Play.begin(service, (operation, status) => {
            if (status < 300) accepting.add(operation);
          });
          for (const asked of requests) if (!(await play.ask(asked))) break;
        }),
        { numRuns: atDepth(12, isFull ? 200 : 72) },
      );
      if (isFull) expect(accepting.size).toBeGreaterThan(ACCEPTING * OPERATIONS.length);
    },
    7_200_000,
  );
});

describe('any bytes on a connection', () => {
  itInPart(
    'get answers in the envelope and in the order of their requests, and the connection ends in time',
    async () => {
      const play = await Play.begin(service);
      await fc.assert(
        fc.asyncProperty(aConnection, async (connection) => {
          const { answers } = await play.sendRaw(bytesOf(connection, play.tenant.fill), false);
          if (connection.edits.length > 0) return;
          const ids = answers.flatMap(
            (answer) => /^r(\d+)$/.exec(answer.header('x-request-id') ?? '')?.[1] ?? [],
          );
          expect(ids).toEqual([...new Set(ids)].sort((one, other) => Number(one) - Number(other)));
        }),
        { numRuns: atDepth(60, isFull ? 800 : 180) },
      );
    },
    7_200_000,
  );
});
