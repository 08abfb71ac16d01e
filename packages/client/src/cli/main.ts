#!/usr/bin/env node
import { runHere } from './run-here.ts';

await runHere(process.argv.slice(2));
