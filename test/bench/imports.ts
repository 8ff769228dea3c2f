// The cost of an import of contacts, by hand: npx node test/bench/imports.ts [rows [csv|ndjson]]. Rows of
// address, name, two tags and one custom field; into an empty store, then the same again, which changes
// nothing. On SQLite, in this process. Prints rate, processor time, memory and the longest halt of the event
// loop.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createAuthenticator } from '../../src/access/keys/authenticator.ts';
import type { Caller } from '../../src/core/api/route.ts';
import type { App } from '../../src/core/app.ts';
import { loadConfig } from '../../src/core/config/config.ts';
import { importContacts } from '../../src/people/contacts/import.ts';
import { createLogger } from '../../src/platform/runtime/log.ts';
import { firstStart } from '../../src/service/first-start.ts';
import { openService } from '../../src/service/service.ts';
import { say, sayLoad } from './progress.ts';

const rows = Number(process.argv[2] ?? 100_000);
const kinds = (['csv', 'ndjson'] as const).filter((kind) => (process.argv[3] ?? kind) === kind);

const first = ['Ada', 'Grace', 'Alan', 'Edsger', 'Barbara', 'Donald', 'Margaret'];
const last = ['Lovelace', 'Hopper', 'Turing', 'Dijkstra', 'Liskov', 'Knuth', 'Hamilton'];

/** Yields the file in pieces of 64 KB; its addresses are unordered. */
async function* file(kind: 'csv' | 'ndjson'): AsyncGenerator<Buffer> {
  let text = kind === 'csv' ? 'email,name,tags,plan\n' : '';
  for (let i = 0; i < rows; i++) {
    const unique = (i * 2_654_435_761) % 4_294_967_296;
    const email = `u${unique}@example${i % 97}.com`;
    const name = `${first[i % 7]} ${last[(i >> 3) % 7]}`;
    const tags = ['customer', `t${i % 20}`];
    const plan = `plan ${i % 5}`;
    text +=
      kind === 'csv'
        ? `${email},${name},"${tags.join()}",${plan}\n`
        : `${JSON.stringify({ email, name, tags, plan })}\n`;
    if (text.length < 65_536) continue;
    yield Buffer.from(text);
    text = '';
  }
  yield Buffer.from(text);
}

async function measure(app: App, caller: Caller, kind: 'csv' | 'ndjson', what: string) {
  const stalls = monitorEventLoopDelay({ resolution: 1 });
  stalls.enable();
  const cpuBefore = process.cpuUsage();
  const threadBefore = process.threadCpuUsage();
  const start = performance.now();
  let peak = 0;
  const onBatch = () => {
    peak = Math.max(peak, process.memoryUsage.rss());
  };
  const report = await importContacts(app, caller, file(kind), { dryRun: false, onBatch });
  const seconds = (performance.now() - start) / 1_000;
  const coreOf = ({ user, system }: NodeJS.CpuUsage) => ((user + system) / rows).toFixed(1);
  const cpu = coreOf(process.cpuUsage(cpuBefore));
  const thread = coreOf(process.threadCpuUsage(threadBefore));
  const rate = Math.round(rows / seconds).toLocaleString('en');
  const { created, updated, unchanged, rejected } = report;
  say(
    `${kind}, ${what}: ${rate} contacts/s, ${thread} µs each of the event loop, ${cpu} of all threads, ` +
      `stall ${(stalls.max / 1e6).toFixed(0)} ms, ${(peak / 1e6).toFixed(0)} MB ` +
      `(${JSON.stringify({ created, updated, unchanged, rejected })})`,
  );
}

sayLoad();
for (const kind of kinds) {
  const dataDir = mkdtempSync(join(tmpdir(), 'svc-bench-imports-'));
  const overrides = { dataDir, http: { port: 0 } };
  const { config } = loadConfig({ env: {}, cwd: dataDir, overrides });
  const app = await openService(config, await createLogger({ level: 'silent', pretty: false }));
  try {
    const started = await firstStart(app);
    const caller = await createAuthenticator(app).authenticate(started?.apiKey ?? '');
    if (!caller) throw new Error('The first start made no key');
    await measure(app, caller, kind, 'new');
    await measure(app, caller, kind, 'the same again');
  } finally {
    await app.close();
    rmSync(dataDir, { recursive: true });
  }
}
