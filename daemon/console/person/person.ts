// The person of a session, for pages of My account.
import { placesOf } from '../../../src/access/members/persons.ts';
import { findOrganizations } from '../../../src/access/organizations/queries.ts';
import { Refusal } from '../api.ts';
import type { Part } from '../html.ts';
import type { Asked } from '../page.ts';
import { posting } from '../parts/form.ts';

/** Sentence for a session of a key or of the operator. */
export const noAccount =
  'This session has no account: it is of a key, or of "svc open". Ask an owner for an invitation, then sign in by your address.';

/** Returns the person of a session. @throws Refusal for a session of a key or of the operator */
export function personOf({ caller }: Pick<Asked, 'caller'>): {
  personId: string;
  memberId: string;
  email: string;
} {
  if (caller.by.kind === 'member') return caller.by;
  throw new Refusal(404, { message: noAccount }, '');
}

export interface Organization {
  id: string;
  name: string;
}

/**
 * Returns the organizations that the person of a session may switch to; none for a session that
 * opens one organization alone.
 */
export async function organizationsOf({ app, caller, session }: Asked): Promise<Organization[]> {
  const { by, organizationId: here } = caller;
  if (by.kind !== 'member' || session.isAlone) return [];
  const places = await placesOf(app.store.db, by.personId);
  const ids = places
    .filter(({ status, organization_id }) => status === 'active' && organization_id !== here)
    .map(({ organization_id }) => organization_id);
  return ids.length === 0 ? [] : findOrganizations(app.store.db, ids);
}

/** Draws the button that opens another organization in this session. */
export function switchButton(asked: Asked, organization: string, label: string): Part {
  return posting(asked, '/switch', { organization }, label);
}
