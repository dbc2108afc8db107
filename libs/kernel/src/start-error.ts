import { OwnError } from './errors';

/** The service cannot start. Only the message is printed: it gives the operator the cause and the remedy. */
export class StartError extends OwnError {}
