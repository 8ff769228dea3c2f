// Serves `/verify/{token}` on the main HTTP face. GET shows a button. POST verifies.
import { findOrganization } from '../../../access/organizations/queries.ts';
import { linkPage } from '../../../core/link-pages/link-page.ts';
import { plainLook } from '../../../core/link-pages/recipient-page.ts';
import { proofPage } from './page.ts';
import { type ProofState, proveByPage, readProof } from './prove.ts';

const statuses: Readonly<Record<ProofState, number>> = {
  open: 200,
  done: 200,
  expired: 410,
  void: 410,
};

/** The page below `/verify/`. An unknown token may be that of an earlier mail. */
export const provingPage = linkPage({
  path: '/verify/',
  find: (_app, token) => (/^[\w-]{43}$/.test(token) ? { token, organizationId: null } : null),

  async act(app, { token }, form) {
    return form.get('action') === 'verify' ? proveByPage(app, token) : null;
  },

  async draw(app, { token }, change) {
    const { db } = app.store;
    const { state, row } = change ?? (await readProof(app, db, token));
    const organization = row && (await findOrganization(db, row.organization_id));
    const names = { email: row?.email ?? '', asker: organization?.name ?? '' };
    return {
      status: statuses[state],
      look: plainLook,
      html: proofPage(state, names, plainLook),
    };
  },
});
