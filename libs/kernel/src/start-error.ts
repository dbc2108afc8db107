import { OwnError } from './errors';

/** The service cannot start; the message tells the operator why and how to mend it, and is all that is printed. */
export class StartError extends OwnError {}
