// Serves `/u/{token}` on the main HTTP server and on tracking hosts. GET shows the present state.
// POST unsubscribes or resubscribes. The holder of a token decides about all groups of the
// organization, for the address of the token.
import { lookOf } from '../../content/brands/page-look.ts';
import type { App } from '../../core/app.ts';
import { linkPage } from '../../core/link-pages/link-page.ts';
import {
  groupsLeft,
  type Leaving,
  leaveAll,
  type Scope,
  standingOf,
} from '../../outbound/unsubscribe-links/leave.ts';
import { senderNameOf } from '../../outbound/unsubscribe-links/sender-name.ts';
import { type Leaver, readLinkToken } from '../../outbound/unsubscribe-links/tokens.ts';
import { findPublicGroups, unsubscribeGroups } from '../../people/unsubscribe-groups/queries.ts';
import { perApp } from '../../platform/runtime/per-app.ts';
import type { Db } from '../../platform/store/db.ts';
import { groupWrites } from '../../platform/store/group.ts';
import { comeBack } from '../opt-in/confirm-member.ts';
import { type Change, type LeavePageParts, leavePage } from './page.ts';

const mostPerTransaction = 128;
/** Most public groups on the page. */
const mostGroups = 100;

interface Wish {
  leaves: boolean;
  scope: Scope;
  /** Group that the form names; null for the message's own group. */
  groupId: string | null;
}

/** Requested changes, by the `action` of the form. */
export const leaveActions: ReadonlyMap<string, Omit<Wish, 'groupId'>> = new Map([
  ['leave', { leaves: true, scope: 'group' }],
  ['leave-all', { leaves: true, scope: 'all' }],
  ['return', { leaves: false, scope: 'group' }],
  ['return-all', { leaves: false, scope: 'all' }],
]);

/** Serves an unsubscribe link: `act` carries out a submitted form, `draw` renders the page. */
export const leavingPage = linkPage({
  path: '/u/',
  find: readLinkToken,

  async act(app, leaver, form): Promise<{ notice: Change | null } | null> {
    const wish = wishOf(form);
    if (!wish) return null;
    const { leaves, scope, groupId } = wish;
    if (groupId === null || scope === 'all' || groupId === leaver.groupId) {
      await carryOut(app, { ...leaver, scope }, leaves);
      return { notice: null };
    }
    const group = await unsubscribeGroups.find(app.store.db, leaver.organizationId, groupId);
    // A listed group must still exist. The message's own group may be deleted: the token proves
    // that the group existed.
    if (!group) return { notice: 'gone' };
    await carryOut(app, { ...leaver, groupId, scope }, leaves);
    return { notice: { name: group.name, isOn: !leaves } };
  },

  async draw(app, leaver, change) {
    const { db } = app.store;
    const notice = change?.notice ?? null;
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
    const parts = { look, ...(await listedGroups(db, leaver)), change: notice };
    return { status: notice === 'gone' ? 404 : 200, look, html: leavePage(standing, names, parts) };
  },
});

async function carryOut(app: App, leaving: Leaving, leaves: boolean): Promise<void> {
  if (leaves) await leavesOf(app)(leaving);
  else await app.store.write((trx) => comeBack(app, trx, leaving));
}

/** Commits simultaneous unsubscribes in a single transaction. */
const leavesOf = perApp((app: App) =>
  groupWrites(app.store, mostPerTransaction, async (trx, leavings: Leaving[]) => {
    await leaveAll(app, trx, leavings);
    return leavings.map(() => undefined);
  }),
);

/** Reads the requested change from the form; undefined for an unknown action. */
function wishOf(form: FormData): Wish | undefined {
  if (form.get('List-Unsubscribe') === 'One-Click') {
    return { leaves: true, scope: 'group', groupId: null };
  }
  const wish = leaveActions.get(String(form.get('action')));
  const group = form.get('group');
  return wish && { ...wish, groupId: group === null ? null : String(group) };
}

/**
 * Returns up to 100 public groups besides the message's own, and whether the recipient gets each.
 */
async function listedGroups(
  db: Db,
  leaver: Leaver,
): Promise<Pick<LeavePageParts, 'groups' | 'hasMore'>> {
  // Reads two more groups than shown: an extra group shows that the list is cut, and the second may
  // be the own group of the message.
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
