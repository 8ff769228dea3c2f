// Serves `/verify/{token}`. GET shows a button and changes nothing, as mail scanners follow links.
// POST verifies.
import { findOrganization } from '../../../access/organizations/queries.ts';
import type { App } from '../../../core/app.ts';
import { plainLook } from '../../tracking/page-look.ts';
import { brokenLink, recipientPageHeaders } from '../../tracking/recipient-page.ts';
import type { TrackedAnswer } from '../../tracking/serve.ts';
import { formOf, type LeaveRequest } from '../../unsubscribe-links/page-facts.ts';
import { proofPage } from './page.ts';
import { type ProofState, proveByPage, readProof } from './prove.ts';

const statuses: Readonly<Record<ProofState, number>> = {
  open: 200,
  done: 200,
  expired: 410,
  void: 410,
};

/**
 * Answers paths below `/verify/`; returns null elsewhere. @throws CapacityError if nothing can
 * be written.
 */
export async function serveProof(app: App, request: LeaveRequest): Promise<TrackedAnswer | null> {
  const { method, path } = request;
  if (!path.startsWith('/verify/')) return null;
  const [, token = ''] = /^\/verify\/([\w-]{43})(?:[?#].*)?$/.exec(path) ?? [];
  if (token === '' || !['GET', 'HEAD', 'POST'].includes(method)) return brokenLink;
  if (method !== 'POST') return shown(app, await readProof(app, app.store.db, token), method);
  const form = await formOf(request);
  if (form?.get('action') !== 'verify') {
    return {
      ...(await shown(app, await readProof(app, app.store.db, token), method)),
      status: 400,
    };
  }
  return shown(app, await proveByPage(app, token), method);
}

async function shown(
  app: App,
  { state, row }: Awaited<ReturnType<typeof readProof>>,
  method: string,
): Promise<TrackedAnswer> {
  const organization = row && (await findOrganization(app.store.db, row.organization_id));
  const names = { email: row?.email ?? '', asker: organization?.name ?? '' };
  const page = method === 'HEAD' ? '' : proofPage(state, names, plainLook);
  return {
    status: statuses[state],
    headers: recipientPageHeaders(plainLook),
    body: Buffer.from(page),
  };
}
