import { FileInUse } from '@app/database';
import { ApiError, StartError } from '@app/kernel';
import { askService, type OperatorActs, operatorActs } from '@app/operations';
import { inContext } from './admin.context';
import type { Surroundings } from './command';

type Done<Name extends keyof OperatorActs> = Awaited<ReturnType<OperatorActs[Name]>>;

/**
 * Does an act of the operator, here or, where a service holds the SQLite file, in that service.
 * @throws StartError for a refusal, as for an unknown bot
 */
export async function act<Name extends keyof OperatorActs>(
  surroundings: Surroundings,
  name: Name,
  ...given: Parameters<OperatorActs[Name]>
): Promise<Done<Name>> {
  try {
    return await inContext(surroundings, async (nest) => {
      const acts = operatorActs(nest, (table, count) =>
        surroundings.progress.show(`${table}: ${count} rewrapped`),
      );
      const does = acts[name] as (...given: string[]) => Promise<Done<Name>>;
      return does(...given);
    });
  } catch (error) {
    if (error instanceof ApiError) throw new StartError(error.message);
    const { database } = surroundings.config;
    if (!(error instanceof FileInUse) || database.engine !== 'sqlite') throw error;
    const answer = await askService(database.path, name, given);
    if (answer === undefined) throw error;
    return answer.done as Done<Name>;
  }
}
