// Serves `/c/{token}` on the main HTTP face and on tracking hosts. GET shows a button and changes
// nothing, as scanners follow links. POST confirms.
import type { App } from '../../core/app.ts';
import { brokenLink, recipientPageHeaders } from '../../outbound/tracking/recipient-page.ts';
import type { TrackedAnswer } from '../../outbound/tracking/serve.ts';
import {
  formOf,
  type LeaveRequest,
  lookOf,
  senderNameOf,
} from '../../outbound/unsubscribe-links/page-facts.ts';
import { unsubscribeGroups } from '../../people/unsubscribe-groups/queries.ts';
import { confirm, linkState } from './confirm.ts';
import { confirmPage, type PageState } from './page.ts';
import { type Asked, readConfirmToken } from './tokens.ts';

const statuses: Readonly<Record<PageState['is'], number>> = {
  open: 200,
  done: 200,
  used: 200,
  expired: 410,
  void: 410,
};

/**
 * Answers paths below `/c/`; returns null for any other path. @throws CapacityError if nothing
 * can be written.
 */
export async function serveConfirming(
  app: App,
  request: LeaveRequest,
): Promise<TrackedAnswer | null> {
  const { method, path, organizationId = null } = request;
  if (!path.startsWith('/c/')) return null;
  const [, token = ''] = /^\/c\/([^/?#]+)(?:[?#].*)?$/.exec(path) ?? [];
  const asked = readConfirmToken(app, token);
  const isHere = organizationId === null || asked?.organizationId === organizationId;
  if (!asked || !isHere || !['GET', 'HEAD', 'POST'].includes(method)) return brokenLink;
  if (method !== 'POST') return shown(app, asked, await linkState(app, asked), method);
  const form = await formOf(request);
  if (form?.get('action') !== 'confirm') {
    return { ...(await shown(app, asked, await linkState(app, asked), method)), status: 400 };
  }
  const before = await confirm(app, asked);
  return shown(app, asked, before.is === 'open' ? { is: 'done' } : before, method);
}

async function shown(
  app: App,
  { organizationId, groupId, address }: Asked,
  state: PageState,
  method: string,
): Promise<TrackedAnswer> {
  const { db } = app.store;
  const group = await unsubscribeGroups.find(db, organizationId, groupId);
  const names = {
    group: group?.name ?? 'this mail',
    description: group?.description ?? null,
    sender: await senderNameOf(db, { organizationId, messageId: null }),
    address,
  };
  const look = await lookOf(db, organizationId);
  const page = method === 'HEAD' ? '' : confirmPage(state, names, look);
  return {
    status: statuses[state.is],
    headers: recipientPageHeaders(look),
    body: Buffer.from(page),
  };
}
