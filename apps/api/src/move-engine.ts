import { runAsProcess } from './command';
import { move } from './move-command';

void runAsProcess(move);
