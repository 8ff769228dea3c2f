// The cost of warming for an accept, by hand: npx node test/bench/warming.ts. One domain has a plan, another
// has none; sends from the one and from the other in turn, in one process, 32 at a time.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { operatorOf } from '../../src/access/keys/roles.ts';
import { findOrganizationByName } from '../../src/access/organizations/queries.ts';
import { loadConfig } from '../../src/core/config/config.ts';
import { addDomain } from '../../src/identity/domains/domains.ts';
import { verifyDomain } from '../../src/identity/domains/verification.ts';
import { startWarming } from '../../src/identity/warming/warming.ts';
import { sendPayload } from '../../src/outbound/messages/send-schema.ts';
import { sendMessage } from '../../src/outbound/sending/send.ts';
import { createLogger } from '../../src/platform/runtime/log.ts';
import { firstStart } from '../../src/service/first-start.ts';
import { openService } from '../../src/service/service.ts';
import { median } from './progress.ts';

const atOnce = 32;
const sends = 3_000;
const rounds = 15;
const [warming, other] = ['warming.example', 'other.example'];

const dataDir = mkdtempSync(join(tmpdir(), 'svc-bench-'));
// A port without a DNS server: the bench needs no look-ups.
const overrides = { dataDir, dns: { servers: ['127.0.0.1:1'] } };
const { config } = loadConfig({ env: {}, cwd: dataDir, overrides });
const app = await openService(config, await createLogger({ level: 'silent', pretty: false }));
await firstStart(app);
const caller = operatorOf((await findOrganizationByName(app.store.db, 'default'))?.id ?? '');
for (const domain of [warming, other]) {
  const { id } = await addDomain(app, caller, { domain, dkim: 'ed25519' });
  await verifyDomain(app, caller, id, { force: true });
  if (domain !== warming) continue;
  await startWarming(app, caller, id, {
    identity: 'new',
    initialDailyRecipients: 100,
    dailyGrowthPercent: 1,
    targetDailyRecipients: 1_000,
  });
}

let sent = 0;

async function sendOne(domain: string): Promise<void> {
  sent += 1;
  const payload = sendPayload.parse({
    channel: 'email',
    from: { email: `news@${domain}` },
    to: [{ email: `user${sent}@example.com` }],
    email: { subject: 'Hello', text: `Message ${sent}` },
  });
  await sendMessage(app, caller, payload, null);
}

/** Core-µs of an accept from this domain. */
async function round(domain: string): Promise<number> {
  const before = process.cpuUsage();
  const end = sent + sends;
  const sender = async () => {
    while (sent < end) await sendOne(domain);
  };
  await Promise.all(Array.from({ length: atOnce }, sender));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / sends;
}

for (const domain of [warming, other]) await round(domain);
const took: { plan: number; none: number }[] = [];
for (let index = 0; index < rounds; index++) {
  took.push({ plan: await round(warming), none: await round(other) });
}
const plan = median(took.map((one) => one.plan));
const none = median(took.map((one) => one.none));
const more = median(took.map((one) => one.plan - one.none));
process.stdout.write(
  `an accept: ${none.toFixed(1)} µs of a core without a plan, ${plan.toFixed(1)} with one; ` +
    `${more.toFixed(1)} more in the median of ${rounds} pairs\n`,
);
await app.close();
rmSync(dataDir, { recursive: true, force: true });
