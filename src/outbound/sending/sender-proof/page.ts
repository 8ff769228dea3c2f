// The page behind a link to prove a sender address.
import { escapeHtml } from '../../../platform/net/escape-html.ts';
import type { PageLook } from '../../tracking/page-look.ts';
import { recipientPage } from '../../tracking/recipient-page.ts';
import type { ProofState } from './prove.ts';

interface Words {
  heading: string;
  text: string;
  note?: string;
}

function wordsOf(state: ProofState, email: string, asker: string): Words {
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

const button =
  '<form method="post"><input type="hidden" name="action" value="verify">' +
  '<button class="first">Yes, allow it</button></form>\n';

/** Renders the page. */
export function proofPage(
  state: ProofState,
  { email, asker }: { email: string; asker: string },
  look: PageLook,
): string {
  const { heading, text, note } = wordsOf(state, email, asker);
  return recipientPage(
    heading,
    `<h1>${escapeHtml(heading)}</h1>\n<p>${escapeHtml(text)}</p>\n` +
      (state === 'open' ? button : '') +
      (note === undefined ? '' : `<p class="note">${escapeHtml(note)}</p>\n`),
    look,
  );
}
