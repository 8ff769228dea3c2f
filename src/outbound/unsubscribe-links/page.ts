// The page behind an unsubscribe link: the recipient's present state, and a button for each change.
import { escapeHtml } from '../../platform/net/escape-html.ts';
import { recipientPage } from '../tracking/recipient-page.ts';
import type { Standing } from './leave.ts';

interface Button {
  action: string;
  words: string;
}

/** Texts of the page by the recipient's state. The first button is the main one. */
interface Words {
  heading: string;
  state: string;
  buttons: readonly Button[];
}

export interface LeavePageNames {
  /** Name of the group, and its description for recipients. */
  group: string;
  description: string | null;
  sender: string;
  address: string;
}

/** Renders the page. */
export function leavePage(standing: Standing, names: LeavePageNames): string {
  const { heading, state, buttons } = wordsOf(standing, names);
  const { sender, group, description } = names;
  const about = standing.all || description === null ? '' : `${group}: ${description}`;
  return recipientPage(
    `${heading} – ${sender}`,
    `<p class="sender">${escapeHtml(sender)}</p>\n<h1>${escapeHtml(heading)}</h1>\n` +
      `<p>${escapeHtml(state)}</p>\n` +
      (about && `<p class="note">${escapeHtml(about)}</p>\n`) +
      buttons.map(drawButton).join(''),
  );
}

function wordsOf({ group: left, all }: Standing, names: LeavePageNames): Words {
  const { group, sender, address } = names;
  const leaveAll = { action: 'leave-all', words: `Unsubscribe from all mail from ${sender}` };
  if (all) {
    // Unsubscribing also blocks an address that bounced or complained, for the time after that block.
    const isOwn = all.reason === 'unsubscribe';
    const heading = isOwn ? 'You are unsubscribed' : 'Unsubscribe';
    const returnAll = { action: 'return-all', words: `Get mail from ${sender} again` };
    const state = `${address} gets no mail from ${sender}.`;
    return { heading, state, buttons: [isOwn ? returnAll : leaveAll] };
  }
  if (left) {
    const comeBack = { action: 'return', words: `Get “${group}” again` };
    const state = `${address} gets no more “${group}” from ${sender}.`;
    return { heading: 'You are unsubscribed', state, buttons: [comeBack, leaveAll] };
  }
  const leave = { action: 'leave', words: `Unsubscribe from “${group}”` };
  const state = `${address} gets “${group}” from ${sender}.`;
  return { heading: 'Unsubscribe', state, buttons: [leave, leaveAll] };
}

function drawButton({ action, words }: Button): string {
  const field = `<input type="hidden" name="action" value="${action}">`;
  const look = action === 'leave' ? ' class="first"' : '';
  return `<form method="post">${field}<button${look}>${escapeHtml(words)}</button></form>\n`;
}
