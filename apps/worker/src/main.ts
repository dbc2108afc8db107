import { startWorker } from './start';

void startWorker();
