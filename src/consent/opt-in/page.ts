// The page behind a link to confirm a group.
import { type PageLook, type PageWords, wordedPage } from '../../core/link-pages/recipient-page.ts';
import type { LinkState } from './confirm.ts';

/** State that the page shows. `done`: this request has confirmed the contact. */
export type PageState = LinkState | { is: 'done' };

export interface ConfirmPageNames {
  group: string;
  description: string | null;
  sender: string;
  address: string;
}

const dayOf = (at: number) =>
  new Date(at).toLocaleDateString('en-GB', {
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    timeZone: 'UTC',
  });

function wordsOf(state: PageState, { group, sender, address }: ConfirmPageNames): PageWords {
  const again = `To get “${group}”, sign up for it again: a new link comes by mail.`;
  switch (state.is) {
    case 'open':
      return {
        heading: `Confirm “${group}”`,
        text: `Do you want “${group}” from ${sender} at ${address}?`,
        note: `If you did not ask for it, close this page: you get no “${group}” then.`,
      };
    case 'done':
      return {
        heading: 'Thank you',
        text: `${address} gets “${group}” from ${sender} from now on.`,
        note: 'Each of its mails has a link to unsubscribe.',
      };
    case 'used':
      return {
        heading: 'This link was used',
        text: `${address} confirmed “${group}” on ${dayOf(state.confirmedAt)}.`,
        note: state.hasLeft
          ? `It has unsubscribed since. ${again}`
          : 'There is nothing more to do. Each of its mails has a link to unsubscribe.',
      };
    case 'expired':
      return { heading: 'This link has expired', text: 'It worked for 7 days.', note: again };
    case 'void':
      return {
        heading: 'This link does not work any more',
        text: `${sender} has changed or removed the entry that it belongs to.`,
        note: again,
      };
  }
}

const button = { action: 'confirm', words: 'Yes, confirm' };

/** Returns the HTML of the page. */
export function confirmPage(state: PageState, names: ConfirmPageNames, look: PageLook): string {
  const { sender, group, description } = names;
  const isOpen = state.is === 'open';
  const about = isOpen && description !== null && `${group}: ${description}`;
  return wordedPage({ sender, ...wordsOf(state, names), about, button: isOpen && button }, look);
}
