// Whom an organization reaches that is not approved (src/organizations/onboarding.ts): its own
// mailboxes and the simulator, as a test key would. Anything else is a 403 that explains.
import type { OpenOnboarding } from '../admission/quota.ts';
import type { Caller } from '../api/route.ts';
import { ForbiddenError } from '../errors.ts';
import { findMailboxByAddress } from '../mailboxes/mailboxes.ts';
import type { SendPayload } from '../messages/schema.ts';
import { simulatedOutcome } from '../smtp/route.ts';
import type { Db } from '../store/db.ts';

async function isOwnMailbox(trx: Db, organizationId: string, address: string): Promise<boolean> {
  return (await findMailboxByAddress(trx, address))?.organization_id === organizationId;
}

function refusal({ status, generation }: OpenOnboarding, address: string): ForbiddenError {
  const reach = `it sends only to its own mailboxes and @simulator.test, not to ${address}`;
  if (status === 'pending') {
    return new ForbiddenError(
      `The onboarding review of this organization is pending: until it is approved ${reach}`,
    );
  }
  return new ForbiddenError(
    `The onboarding review rejected this organization: ${reach}. An owner or admin reapplies with ` +
      `POST /v1/organizations/onboarding/reapply {"expectedGeneration":${generation}}`,
  );
}

/** The refusal of a send beyond what the open onboarding allows; null where there is none. */
export async function beyondOnboarding(
  trx: Db,
  { caller, payload }: { caller: Caller; payload: SendPayload },
  onboarding: OpenOnboarding | null,
): Promise<ForbiddenError | null> {
  if (!onboarding) return null;
  const { to, cc = [], bcc = [] } = payload;
  for (const { email } of [...to, ...cc, ...bcc]) {
    if (email === undefined || simulatedOutcome(email) !== null) continue;
    if (await isOwnMailbox(trx, caller.organizationId, email)) continue;
    return refusal(onboarding, email);
  }
  return null;
}
