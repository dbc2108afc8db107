import { runAsProcess } from './command';
import { migrate } from './migrate-command';

void runAsProcess(migrate);
