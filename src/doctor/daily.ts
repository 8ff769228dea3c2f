// The daily examination by the daemon: it logs a finding that turns to `warn` or `fail`, counts it
// in a metric, and publishes an event of the operator's organization.
//
//   stored status | found now     | then
//   --------------+---------------+------------------------------------------
//   (any)         | the same      | nothing
//   (any, none)   | warn or fail  | stored, logged, event `service.finding`
//   (any, none)   | ok or skipped | stored
import { findFirstOrganization, lockOrganization } from '../access/organizations/queries.ts';
import type { App } from '../core/app.ts';
import { byService, eventToRecord, record } from '../history/events/record.ts';
import type { Db } from '../platform/store/db.ts';
import { serviceFinding } from './events.ts';
import { examine } from './examine.ts';
import type { Finding, Machine } from './finding.ts';
import { putFinding, selectFindings } from './queries.ts';

const grades = { ok: 0, skipped: 0, warn: 1, fail: 2 } as const;

/** Examines the service, and reports changes since the last time. */
export async function examineDaily(app: App, machine?: Machine): Promise<void> {
  const mail = app.config.delivery.mode !== 'capture';
  const findings = await examine(app, { mail, ...(machine && { machine }) });
  for (const { check, status } of findings) {
    app.metrics.findings.set({ check }, grades[status]);
  }
  const turned = await app.store.write((trx) => storeFindings(app, trx, findings));
  for (const finding of turned) {
    const level = finding.status === 'fail' ? 'error' : 'warn';
    app.log[level](finding, `${finding.check}: ${finding.found}`);
  }
}

/** Restores the metrics of the last examination, for a daemon that starts. */
export async function restoreFindings(app: App): Promise<void> {
  for (const { name, status } of await selectFindings(app.store.db)) {
    app.metrics.findings.set({ check: name }, grades[status]);
  }
}

/** Stores changed findings, by name. Returns the findings that have turned to `warn` or `fail`. */
async function storeFindings(app: App, trx: Db, findings: readonly Finding[]): Promise<Finding[]> {
  const operator = await findFirstOrganization(trx);
  // Several daemons examine at the same minute. The lock lets the second daemon find no change.
  if (operator) await lockOrganization(trx, operator.id, app.clock.now());
  const known = new Map((await selectFindings(trx)).map((row) => [row.name, row.status]));
  const changed = findings
    .filter(({ check, status }) => known.get(check) !== status)
    .toSorted((a, b) => (a.check < b.check ? -1 : 1));
  const now = app.clock.now();
  for (const { check: name, status, found } of changed) {
    await putFinding(trx, { name, status, found, changed_at: now });
  }
  const turned = changed.filter(({ status }) => status === 'warn' || status === 'fail');
  if (!operator) return turned;
  for (const finding of turned) {
    const event = eventToRecord(serviceFinding, {
      ...finding,
      status: finding.status as 'warn' | 'fail',
    });
    await record(app, trx, byService(operator.id), { subject: operator.id, event });
  }
  return turned;
}
