#!/usr/bin/env node
// Start-up and nothing else: turns away a Node that is too old, then hands the words typed to
// commands/base/start.ts. Nothing newer than Node 16 knows may be imported before the check.
import module from 'node:module';
import { setFlagsFromString } from 'node:v8';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  console.error(`svc: needs Node.js 22.19 or newer, found ${process.versions.node}.`);
  console.error('Run "npm ci" in the clone of svc and start bin/svc: it finds the right one.');
  process.exit(1);
}
// All files of the process are readable by their owner alone: the store holds keys and mail.
process.umask(0o077);
// bin/svc sets the young generation of this thread by a flag, which would overrule the limits that
// further threads are started with.
setFlagsFromString('--max-semi-space-size=0');
module.enableCompileCache();
const { start } = await import('../commands/base/start.ts');
await start(process.argv.slice(2));
