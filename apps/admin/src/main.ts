#!/usr/bin/env node
import { runAdmin } from './admin';

void runAdmin(process.argv.slice(2));
