// The page behind a link to prove a sender address.
import {
  type PageLook,
  type PageWords,
  wordedPage,
} from '../../../core/link-pages/recipient-page.ts';
import type { ProofState } from './prove.ts';

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

/** Renders the page. */
export function proofPage(
  state: ProofState,
  { email, asker }: { email: string; asker: string },
  look: PageLook,
): string {
  const words = wordsOf(state, email, asker);
  return wordedPage({ ...words, button: state === 'open' && button }, look);
}
