import { FURTHER_MODULES } from '../../../modules';
import { startWorker } from './start';

void startWorker(...FURTHER_MODULES);
