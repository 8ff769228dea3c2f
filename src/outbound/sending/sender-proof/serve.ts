// Serves `/verify/{token}` on the main HTTP listener. GET shows a button. POST verifies.
import { findOrganization } from '../../../access/organizations/queries.ts';
import { linkPage } from '../../../core/link-pages/link-page.ts';
import {
  type PageLook,
  type PageWords,
  plainLook,
  wordedPage,
} from '../../../core/link-pages/recipient-page.ts';
import { type ProofState, proveByPage, readProof } from './prove.ts';

const statuses: Readonly<Record<ProofState, number>> = {
  open: 200,
  done: 200,
  expired: 410,
  void: 410,
};

/** The page below `/verify/`. An unknown token may be from an earlier mail, so the page says so. */
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

// The page behind a link to prove a sender address.

function wordsOf(state: ProofState, email: string, asker: string): PageWords {
  switch (state) {
    case 'open':
      return {
        heading: `Allow mail from ${email}?`,
        text: `${asker} wants to send mail from this address.`,
        note: 'If you did not ask for it, close this page: then no mail is sent from your address.',
      };
    case 'done':
      return { heading: 'Thank you', text: `${asker} can send mail from ${email} from now on.` };
    case 'expired':
      return {
        heading: 'This link has expired',
        text: 'It worked for 7 days. Ask for a new mail.',
      };
    case 'void':
      return {
        heading: 'This link does not work any more',
        text: 'It was used, or a newer mail has replaced it.',
      };
  }
}

const button = { action: 'verify', words: 'Yes, allow it' };

/** Renders the page for the state of a link. */
function proofPage(
  state: ProofState,
  { email, asker }: { email: string; asker: string },
  look: PageLook,
): string {
  const words = wordsOf(state, email, asker);
  return wordedPage({ ...words, button: state === 'open' && button }, look);
}
