// Limits the recipients of test keys and of organizations that are not approved
// (src/access/organizations/onboarding.ts). A test key reaches local mailboxes and the simulator.
// An unapproved organization reaches only the simulator and mailboxes of that organization. A send
// to any further recipient is refused with 403 and the reason.
import type { Allowances, OpenOnboarding } from '../../access/admission/quota.ts';
import type { SendCheck } from '../../core/api/send-check.ts';
import { simulatedOutcome } from '../../mail/smtp/route.ts';
import { ForbiddenError } from '../../platform/errors.ts';
import { foldAddress } from '../../platform/net/address.ts';
import type { Db } from '../../platform/store/db.ts';
import { findOwners } from './queries.ts';
import { withoutSubaddress } from './receivers.ts';

interface Addressed {
  organizationId: string;
  addresses: readonly string[];
}

/**
 * Returns the first recipient that is neither a simulator address nor in a mailbox that `mayReach`
 * allows; undefined if all recipients are allowed.
 */
type Beyond = (
  send: Addressed,
  mayReach: (owner: string, organizationId: string) => boolean,
) => string | undefined;

/** Returns the forms of an address that a mailbox may have: with the subaddress, and without. */
function keysOf(address: string): string[] {
  const folded = foldAddress(address);
  return [folded, withoutSubaddress(folded)];
}

/** Reads the mailboxes of all recipients in a single query. Returns the check of a single send. */
async function readMailboxes(trx: Db, sends: readonly Addressed[]): Promise<Beyond> {
  const folded = new Set(sends.flatMap(({ addresses }) => addresses.flatMap(keysOf)));
  const rows = folded.size > 0 ? await findOwners(trx, [...folded]) : [];
  const owners = new Map(rows.map((row) => [row.address, row.organization_id]));
  return ({ organizationId, addresses }, mayReach) =>
    addresses.find((address) => {
      if (simulatedOutcome(address) !== null) return false;
      const [key = '', base = ''] = keysOf(address);
      const owner = owners.get(key) ?? owners.get(base);
      return owner === undefined || !mayReach(owner, organizationId);
    });
}

/**
 * Refuses mail of a test key to a recipient that is not local. Scheduled mail is checked again when
 * due: if the mailbox was deleted by then, the mail would leave this machine.
 */
export const testKeyCheck: SendCheck<'both', Addressed & { isTest: boolean }> = {
  name: 'test-key',
  asked: 'both',
  async prepare(_app, trx, sends) {
    const beyond = await readMailboxes(
      trx,
      sends.filter(({ isTest }) => isTest),
    );
    return (send) => {
      const address = send.isTest ? beyond(send, () => true) : undefined;
      if (address === undefined) return null;
      return new ForbiddenError(
        'A test key sends only to local mailboxes and @simulator.test: use a live key ' +
          `for ${address}`,
      );
    };
  },
};

export const onboardingCheck = (allowances: Allowances): SendCheck<'both', Addressed> => ({
  name: 'onboarding',
  asked: 'both',
  async prepare(_app, trx, sends) {
    const beyond = await readMailboxes(
      trx,
      sends.filter(({ organizationId }) => allowances.onboarding(organizationId) !== null),
    );
    return (send) => {
      const onboarding = allowances.onboarding(send.organizationId);
      if (!onboarding) return null;
      const address = beyond(send, (owner, own) => owner === own);
      return address === undefined ? null : unapproved(onboarding, address);
    };
  },
});

function unapproved({ status, generation }: OpenOnboarding, address: string): ForbiddenError {
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
