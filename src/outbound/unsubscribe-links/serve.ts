// Serves `/u/{token}` on the main HTTP face and on tracking hosts. GET shows the present state and
// changes nothing, as scanners follow links. POST unsubscribes or resubscribes (RFC 8058 3.2 wants
// neither cookie nor redirect). The holder of a token decides about all groups of the organization,
// for the address of the token.
import type { App } from '../../core/app.ts';
import { findPublicGroups, unsubscribeGroups } from '../../people/unsubscribe-groups/queries.ts';
import { perApp } from '../../platform/runtime/per-app.ts';
import type { Db } from '../../platform/store/db.ts';
import { groupWrites } from '../../platform/store/group.ts';
import { brokenLink, recipientPageHeaders } from '../tracking/recipient-page.ts';
import type { TrackedAnswer } from '../tracking/serve.ts';
import { comeBack, groupsLeft, type Leaving, leaveAll, type Scope, standingOf } from './leave.ts';
import { type Change, type LeavePageParts, leavePage } from './page.ts';
import { formOf, type LeaveRequest, lookOf, senderNameOf } from './page-facts.ts';
import { type Leaver, readLinkToken } from './tokens.ts';

const mostPerTransaction = 128;
/** Most public groups on the page. */
const mostGroups = 100;

interface Wish {
  leaves: boolean;
  scope: Scope;
  /** A group that differs from the message's group; null for the message's own group. */
  groupId: string | null;
}

const actions: ReadonlyMap<string, Omit<Wish, 'groupId'>> = new Map([
  ['leave', { leaves: true, scope: 'group' }],
  ['leave-all', { leaves: true, scope: 'all' }],
  ['return', { leaves: false, scope: 'group' }],
  ['return-all', { leaves: false, scope: 'all' }],
]);

/**
 * Answers paths below `/u/`; returns null elsewhere. @throws CapacityError if nothing can be
 * written.
 */
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
  const { leaves, scope, groupId } = wish;
  if (groupId === null || scope === 'all' || groupId === leaver.groupId) {
    await carryOut(app, { ...leaver, scope }, leaves);
    return shown(app, leaver, 200, method);
  }
  const group = await unsubscribeGroups.find(app.store.db, leaver.organizationId, groupId);
  // Only the own group may be a deleted group: the token proves that it existed.
  if (!group) return shown(app, leaver, 404, method, 'gone');
  await carryOut(app, { ...leaver, groupId, scope }, leaves);
  return shown(app, leaver, 200, method, { name: group.name, isOn: !leaves });
}

async function carryOut(app: App, leaving: Leaving, leaves: boolean): Promise<void> {
  if (leaves) await leavesOf(app)(leaving);
  else await app.store.write((trx) => comeBack(app, trx, leaving));
}

/** Groups simultaneous requests into a single commit. */
const leavesOf = perApp((app: App) =>
  groupWrites(app.store, mostPerTransaction, async (trx, leavings: Leaving[]) => {
    await leaveAll(app, trx, leavings);
    return leavings.map(() => undefined);
  }),
);

/** Reads the wish in the form. */
async function wishOf(request: LeaveRequest): Promise<Wish | undefined> {
  const form = await formOf(request);
  if (form?.get('List-Unsubscribe') === 'One-Click') {
    return { leaves: true, scope: 'group', groupId: null };
  }
  const wish = actions.get(String(form?.get('action')));
  const group = form?.get('group') ?? null;
  return wish && { ...wish, groupId: group === null ? null : String(group) };
}

async function shown(
  app: App,
  leaver: Leaver,
  status: number,
  method: string,
  change: Change | null = null,
): Promise<TrackedAnswer> {
  const { db } = app.store;
  const { organizationId, groupId, address } = leaver;
  const standing = await standingOf(db, leaver);
  const group = await unsubscribeGroups.find(db, organizationId, groupId);
  const names = {
    group: group?.name ?? 'this mail',
    description: group?.description ?? null,
    sender: await senderNameOf(db, leaver),
    address,
  };
  const look = await lookOf(db, organizationId);
  const page = leavePage(standing, names, { look, ...(await listedGroups(db, leaver)), change });
  const body = Buffer.from(method === 'HEAD' ? '' : page);
  return { status, headers: recipientPageHeaders(look), body };
}

/** Returns the public groups besides the message's own, each with the state. */
async function listedGroups(
  db: Db,
  leaver: Leaver,
): Promise<Pick<LeavePageParts, 'groups' | 'hasMore'>> {
  // An extra group shows that the list is cut, and a second extra group may be the own group.
  const found = await findPublicGroups(db, leaver.organizationId, mostGroups + 2);
  const others = found.filter(({ id }) => id !== leaver.groupId);
  const listed = others.slice(0, mostGroups);
  const left = await groupsLeft(
    db,
    leaver,
    listed.map(({ id }) => id),
  );
  const groups = listed.map((group) => ({ ...group, isOn: !left.has(group.id) }));
  return { groups, hasMore: others.length > mostGroups };
}
