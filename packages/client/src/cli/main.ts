#!/usr/bin/env node
import { runHereCommand } from './run-here.ts';

await runHereCommand(process.argv.slice(2));
