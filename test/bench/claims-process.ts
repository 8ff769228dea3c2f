// A process that claims without carrying, for claims.ts: `claims-process.ts <claims> <limit>` with the environment of a
// daemon. It says that it is ready, claims when it is told to, and sends the number of its rows and its core time.
import { loadConfig } from '../../src/core/config/config.ts';
import { claimMessages } from '../../src/outbound/queue/claim.ts';
import { createLogger } from '../../src/platform/runtime/log.ts';
import { openService } from '../../src/service/service.ts';
import { noLimits } from '../support/delivery.ts';

/** A report of this process. */
export type ClaimReport = 'ready' | { rows: number; coreMs: number };

const leaseMs = 3_600_000;
const [claims = 0, limit = 0] = process.argv.slice(2).map(Number);
const { config } = loadConfig({ env: process.env, cwd: process.cwd() });
const app = await openService(config, await createLogger({ level: 'warn', pretty: false }));
const choice = noLimits(app);
const worker = app.newId('worker');

process.on('message', async () => {
  const before = process.cpuUsage();
  let rows = 0;
  for (let claim = 0; claim < claims; claim++) {
    const { messages } = await claimMessages(app, choice, { worker, leaseMs, limit });
    rows += messages.reduce((sum, { deliveries }) => sum + deliveries.length, 0);
  }
  const { user, system } = process.cpuUsage(before);
  report({ rows, coreMs: (user + system) / 1_000 });
  await app.close();
  process.disconnect();
});
report('ready');

function report(what: ClaimReport): void {
  process.send?.(what);
}
