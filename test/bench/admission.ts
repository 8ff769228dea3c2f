// `npx node test/bench/admission.ts`: the cost of admission for a request (at most 20 µs), on SQLite with
// 10,000 organizations of 3 keys each: single requests, refused ones, and the headers. Figures are printed,
// never asserted.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { limitsBy } from '../../daemon/http/rate-limits.ts';
import { type Admission, admissionOf, type Drawer } from '../../src/access/admission/admission.ts';
import { operatorOf } from '../../src/access/keys/roles.ts';
import { newOrganizationRow } from '../../src/access/organizations/organizations.ts';
import { insertOrganization } from '../../src/access/organizations/queries.ts';
import { loadConfig } from '../../src/core/config/config.ts';
import { createLogger } from '../../src/platform/runtime/log.ts';
import { openService } from '../../src/service/service.ts';

const organizations = 10_000;
const keysEach = 3;
const rounds = 10;

const dataDir = mkdtempSync(join(tmpdir(), 'svc-bench-'));
const { config } = loadConfig({ env: {}, cwd: dataDir, overrides: { dataDir } });
const app = await openService(config, await createLogger({ level: 'silent', pretty: false }));
const admission = admissionOf(app);
const { limitHeaders } = limitsBy(admission);

const rows = Array.from({ length: organizations }, (_, index) =>
  newOrganizationRow(app, { name: `o${index}`, plan: index % 2 === 0 ? 'free' : 'scale' }),
);
await app.store.write(async (trx) => {
  for (const row of rows) await insertOrganization(trx, row);
});
const drawers: Drawer[] = rows.flatMap(({ id }) =>
  Array.from({ length: keysEach }, (_, key) => ({ organizationId: id, keyId: `${id} ${key}` })),
);

/** Prints the microseconds a request takes in the best round: other load slows the others. */
async function measure(what: string, work: (drawer: Drawer) => Promise<unknown>): Promise<void> {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round++) {
    const started = performance.now();
    for (const drawer of drawers) await work(drawer);
    best = Math.min(best, ((performance.now() - started) * 1_000) / drawers.length);
  }
  console.log(`${what.padEnd(40)} ${best.toFixed(2)} µs`);
}

async function admitOrNot(one: Admission, drawer: Drawer): Promise<void> {
  await one.admit(drawer, 'sendMessage').catch(() => {});
}

console.log(`${drawers.length} keys of ${organizations} organizations, Node ${process.version}\n`);
await measure('draw, admitted or told how long to wait', (drawer) => admission.tryDraw(drawer, 1));
await measure('admit, mostly refused with an error', (drawer) => admitOrNot(admission, drawer));
await measure('the headers of an answer', async ({ organizationId, keyId }) =>
  limitHeaders({ ...operatorOf(organizationId), keyId }),
);
await app.close();
rmSync(dataDir, { recursive: true, force: true });
