import type { Type } from '@nestjs/common';

/** The modules of a team, beside Lethe's own, in every process. `npm run new:module` adds a line for each. */
export const FURTHER_MODULES: readonly Type[] = [];
