import fc from '../support/fast-check';
import { anAct, BEGINNING, ENDING } from './model/acts';
import { Agreement } from './model/agreement';
import { Model } from './model/reference';
import { Cast, Tenant } from './model/tenant';
import { useService } from '../support/shared-service';
import { atDepth, itInPart } from '../support/depth';

// The half of model-twins.postgres.spec.ts that needs no server.

const service = useService();

describe('the service on SQLite', () => {
  itInPart('answers any sequence of requests as the model of the contract does', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(anAct, { maxLength: 60, size: 'max' }), async (acts) => {
        const tenant = await Tenant.of(service.url, new Cast());
        const model = new Model();
        const agreement = new Agreement();
        for (const act of [...BEGINNING, ...acts, ...ENDING]) {
          const fault = agreement.faultOf(await tenant.perform(act), model.play(act));
          expect({ act, fault }).toStrictEqual({ act, fault: undefined });
        }
      }),
      { numRuns: atDepth(10, 30) },
    );
  });
});
