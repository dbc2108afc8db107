#!/usr/bin/env -S node --max-semi-space-size=8 --initial-old-space-size=32
import { launch } from './launcher';

void launch(process.argv.slice(2)).then((code) => {
  if (code !== undefined) process.exitCode = code;
});
