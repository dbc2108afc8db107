#!/usr/bin/env node
import { FURTHER_MODULES } from '../../../modules';
import { runAdmin } from './admin';

void runAdmin(process.argv.slice(2), ...FURTHER_MODULES);
