// Serves `/u/{token}` on the main HTTP face and on tracking hosts. GET shows the present state and changes
// nothing, as scanners follow links. POST unsubscribes or resubscribes (RFC 8058 3.2 wants neither cookie nor
// redirect).

import { findOrganizations } from '../../access/organizations/queries.ts';
import type { App } from '../../core/app.ts';
import { unsubscribeGroups } from '../../people/unsubscribe-groups/queries.ts';
import { ResourceNotFoundError } from '../../platform/errors.ts';
import { perApp } from '../../platform/runtime/per-app.ts';
import { groupWrites } from '../../platform/store/group.ts';
import type { TrackedAnswer, TrackedRequest } from '../tracking/serve.ts';
import { comeBack, type Leaving, leaveAll, type Scope, standingOf } from './leave.ts';
import { leavePage } from './page.ts';
import { type Leaver, readLinkToken } from './tokens.ts';

const mostPerTransaction = 128;

const common = {
  'cache-control': 'no-store, private, max-age=0',
  'content-security-policy':
    "default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  'content-type': 'text/html; charset=utf-8',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex, nofollow',
};

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
  if (!leaver || !isHere || !['GET', 'HEAD', 'POST'].includes(method)) return unknown(token);
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
  const [organization] = await findOrganizations(db, [organizationId]);
  const names = { group: group?.name ?? 'this mail', sender: organization?.name ?? 'this sender' };
  const body = Buffer.from(leavePage(standing, { ...names, address }));
  return { status, headers: common, body: method === 'HEAD' ? Buffer.alloc(0) : body };
}

function unknown(token: string): TrackedAnswer {
  const error = new ResourceNotFoundError('link', token.slice(0, 100));
  const headers = { ...common, 'content-type': 'application/json; charset=utf-8' };
  return { status: 404, headers, body: Buffer.from(JSON.stringify(error)) };
}
