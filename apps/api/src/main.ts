import { FURTHER_MODULES } from '../../../modules';
import { start } from './start';

void start(...FURTHER_MODULES);
