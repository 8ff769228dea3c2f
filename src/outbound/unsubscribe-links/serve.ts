// Serves `/u/{token}` on the main HTTP face and on tracking hosts. GET shows the present state and changes
// nothing, as scanners follow links. POST unsubscribes or resubscribes (RFC 8058 3.2 wants neither cookie nor
// redirect).
import { defaultOrganization } from '../../access/organizations/organizations.ts';
import { findOrganization } from '../../access/organizations/queries.ts';
import type { App } from '../../core/app.ts';
import { findDefaultSender } from '../../identity/senders/queries.ts';
import { unsubscribeGroups } from '../../people/unsubscribe-groups/queries.ts';
import { perApp } from '../../platform/runtime/per-app.ts';
import type { Db } from '../../platform/store/db.ts';
import { groupWrites } from '../../platform/store/group.ts';
import { findMessageRow } from '../messages/queries.ts';
import { brokenLink, recipientPageHeaders } from '../tracking/recipient-page.ts';
import type { TrackedAnswer, TrackedRequest } from '../tracking/serve.ts';
import { comeBack, type Leaving, leaveAll, type Scope, standingOf } from './leave.ts';
import { leavePage } from './page.ts';
import { type Leaver, readLinkToken } from './tokens.ts';

const mostPerTransaction = 128;

/** A request with the body that its face has read. */
export interface LeaveRequest extends TrackedRequest {
  body?: Buffer;
}

type Wish = { leaves: boolean; scope: Scope };

const actions: ReadonlyMap<string, Wish> = new Map([
  ['leave', { leaves: true, scope: 'group' }],
  ['leave-all', { leaves: true, scope: 'all' }],
  ['return', { leaves: false, scope: 'group' }],
  ['return-all', { leaves: false, scope: 'all' }],
]);

/** Answers paths below `/u/`; returns null for any other. @throws CapacityError if nothing can be written. */
export async function serveLeaving(app: App, request: LeaveRequest): Promise<TrackedAnswer | null> {
  const { method, path, organizationId = null } = request;
  if (!path.startsWith('/u/')) return null;
  const [, token = ''] = /^\/u\/([^/?#]+)(?:[?#].*)?$/.exec(path) ?? [];
  const leaver = readLinkToken(app, token);
  const isHere = organizationId === null || leaver?.organizationId === organizationId;
  if (!leaver || !isHere || !['GET', 'HEAD', 'POST'].includes(method)) return brokenLink;
  if (method !== 'POST') return shown(app, leaver, 200, method);
  const wish = await wishOf(request);
  if (!wish) return shown(app, leaver, 400, method);
  const leaving = { ...leaver, scope: wish.scope };
  if (wish.leaves) await leavesOf(app)(leaving);
  else await app.store.write((trx) => comeBack(app, trx, leaving));
  return shown(app, leaver, 200, method);
}

/** Groups simultaneous requests into one commit. */
const leavesOf = perApp((app: App) =>
  groupWrites(app.store, mostPerTransaction, async (trx, leavings: Leaving[]) => {
    await leaveAll(app, trx, leavings);
    return leavings.map(() => undefined);
  }),
);

/** Reads the form. Both encodings that browsers use are allowed (RFC 8058 3.2). */
async function wishOf({ headers, body }: LeaveRequest): Promise<Wish | undefined> {
  const type = headers['content-type'] ?? 'application/x-www-form-urlencoded';
  const answer = new Response(body ? new Uint8Array(body) : '', {
    headers: { 'content-type': type },
  });
  const form = await answer.formData().catch(() => null);
  if (form?.get('List-Unsubscribe') === 'One-Click') return { leaves: true, scope: 'group' };
  return actions.get(String(form?.get('action')));
}

async function shown(
  app: App,
  leaver: Leaver,
  status: number,
  method: string,
): Promise<TrackedAnswer> {
  const { db } = app.store;
  const { organizationId, groupId, address } = leaver;
  const standing = await standingOf(db, leaver);
  const group = await unsubscribeGroups.find(db, organizationId, groupId);
  const page = leavePage(standing, {
    group: group?.name ?? 'this mail',
    description: group?.description ?? null,
    sender: await senderNameOf(db, leaver),
    address,
  });
  const body = Buffer.from(method === 'HEAD' ? '' : page);
  return { status, headers: recipientPageHeaders, body };
}

/**
 * Returns the sender as the recipient knows it: the From of the mail. If the mail was deleted, the default
 * sender or the organization, but never the name of the first organization, which its owner did not choose.
 */
async function senderNameOf(db: Db, { organizationId, messageId }: Leaver): Promise<string> {
  const message = messageId === null ? undefined : await findMessageRow(db, messageId);
  if (message) return message.from_name ?? message.from_email;
  const sender = await findDefaultSender(db, organizationId);
  const organization = await findOrganization(db, organizationId);
  const chosen = organization?.name === defaultOrganization ? null : organization?.name;
  return sender?.name ?? chosen ?? sender?.email ?? 'this sender';
}
