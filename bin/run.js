#!/usr/bin/env node
// Only starts: refuses a Node that is too old, then passes the command line to
// commands/base/start.ts. Before the check, nothing may be imported that Node 16 does not know.
import module from 'node:module';
import { setFlagsFromString } from 'node:v8';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  console.error(`svc: needs Node.js 22.19 or newer, found ${process.versions.node}.`);
  console.error('Run "npm ci" in the clone of svc and start bin/svc: it finds the right one.');
  process.exit(1);
}
// Makes all files of the process readable only by their owner: the store holds keys and mail.
process.umask(0o077);
// bin/svc sets the size of this thread's young generation by a flag. Without this reset the flag
// would overrule the limits of further threads.
setFlagsFromString('--max-semi-space-size=0');
module.enableCompileCache();
const { start } = await import('../commands/base/start.ts');
await start(process.argv.slice(2));
