// Tells of findings (contract 7), in the transaction that acts on them.
import type { App } from '../app.ts';
import { recordWorkspaceEvent, type WorkspaceEventType } from '../events/events.ts';
import { findOrganization } from '../organizations/queries.ts';
import type { Db } from '../store/db.ts';
import { type Finding, findingInWords } from './health-finding.ts';

/** Writes an event with the numbers of a finding; `domain`: it is that domain's alone. */
export async function tellFinding(
  app: App,
  trx: Db,
  organizationId: string,
  eventType: WorkspaceEventType,
  finding: Finding,
  domain: string | null = null,
): Promise<void> {
  const organization = await findOrganization(trx, organizationId);
  const { of, count, attempted, limit } = finding;
  await recordWorkspaceEvent(app, trx, {
    organizationId,
    eventType,
    status: organization?.sending_status ?? 'enabled',
    timestamp: app.clock.now(),
    metadata: {
      ...(domain !== null && { domain, sendingStatus: 'held' }),
      of,
      count,
      attempted,
      limit,
      text: findingInWords(finding),
    },
  });
}
