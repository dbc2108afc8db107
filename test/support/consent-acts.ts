import { ConsentAcceptAct, ConsentRequestAct, ConsentRevokeAct } from '@app/consent';
import { Acts, NO_CLAIM } from '@app/acts';
import type { INestApplicationContext } from '@nestjs/common';

type Given<Method extends (botId: string, input: never) => unknown> = Parameters<Method>[1];

/** The acts about consents, without the HTTP edge: callers of one turn of the event loop share a unit on PostgreSQL. */
export function consentActs(app: INestApplicationContext) {
  const acts = app.get(Acts, { strict: false });
  const requesting = app.get(ConsentRequestAct, { strict: false });
  const accepting = app.get(ConsentAcceptAct, { strict: false });
  const revoking = app.get(ConsentRevokeAct, { strict: false });
  return {
    request: async (botId: string, input: Given<ConsentRequestAct['of']>) =>
      (await acts.run(requesting, requesting.of(botId, input), NO_CLAIM)).view,
    accept: (botId: string, input: Parameters<ConsentAcceptAct['decide']>[1]['input']) =>
      acts.run(accepting, { botId, input }, NO_CLAIM),
    revoke: (botId: string, input: Given<ConsentRevokeAct['of']>) =>
      acts.run(revoking, revoking.of(botId, input), NO_CLAIM),
  };
}
