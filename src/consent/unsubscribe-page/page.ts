// The page behind an unsubscribe link: the recipient's present state, and a button for each change.
// Below are the public groups of the organization, each with a button.
import { type PageLook, pageButton, recipientPage } from '../../core/link-pages/recipient-page.ts';
import type { Standing } from '../../outbound/unsubscribe-links/leave.ts';
import { escapeHtml } from '../../platform/net/escape-html.ts';

interface Button {
  action: string;
  words: string;
}

/** Texts and buttons of the page for a state of the recipient. */
interface Words {
  heading: string;
  state: string;
  buttons: readonly Button[];
}

/** A public group, and whether the recipient is subscribed to it. */
export interface ListedGroup {
  id: string;
  name: string;
  description: string | null;
  isOn: boolean;
}

/** A change that the recipient just made to a listed group; `gone` if the group was deleted. */
export type Change = { name: string; isOn: boolean } | 'gone';

export interface LeavePageNames {
  /** Name of the message's own group; `this mail` if the group was deleted. */
  group: string;
  /** Description of the group for recipients. */
  description: string | null;
  sender: string;
  address: string;
}

/** Content of the page beside the state of the message's own group. */
export interface LeavePageParts {
  look: PageLook;
  groups: readonly ListedGroup[];
  /** True if the organization has more public groups than `groups` lists. */
  hasMore: boolean;
  change: Change | null;
}

/** Returns the HTML of the page, with all texts escaped. */
export function leavePage(
  standing: Standing,
  names: LeavePageNames,
  { look, groups, hasMore, change }: LeavePageParts,
): string {
  const { heading, state, buttons } = wordsOf(standing, names);
  const { sender, group, description } = names;
  const about = standing.all || description === null ? '' : `${group}: ${description}`;
  const ofAll = buttons.filter(({ action }) => action.endsWith('-all'));
  const ofGroup = buttons.filter((button) => !ofAll.includes(button));
  const others = groups.map((one) => drawGroup(one, standing.all === null)).join('');
  return recipientPage(
    `${heading} – ${sender}`,
    `<p class="sender">${escapeHtml(sender)}</p>\n<h1>${escapeHtml(heading)}</h1>\n` +
      (change ? `<p class="done" role="status">${escapeHtml(changeWords(change))}</p>\n` : '') +
      `<p>${escapeHtml(state)}</p>\n` +
      (about && `<p class="note">${escapeHtml(about)}</p>\n`) +
      ofGroup.map(drawButton).join('') +
      (others && `<h2>Other mail from ${escapeHtml(sender)}</h2>\n<ul>\n${others}</ul>\n`) +
      (hasMore ? '<p class="note">There are more kinds of mail than this page lists.</p>\n' : '') +
      ofAll.map(drawButton).join(''),
    look,
  );
}

function changeWords(change: Change): string {
  if (change === 'gone') return 'That kind of mail no longer exists. Nothing was changed.';
  const { name, isOn } = change;
  return isOn ? `You get “${name}” again.` : `You get no more “${name}”.`;
}

function wordsOf({ group: left, all }: Standing, names: LeavePageNames): Words {
  const { group, sender, address } = names;
  const leaveAll = { action: 'leave-all', words: `Unsubscribe from all mail from ${sender}` };
  if (all) {
    // An address that is blocked for a bounce or complaint can still unsubscribe: the unsubscribe
    // stays in force if that block is lifted.
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

function drawButton(button: Button): string {
  return pageButton(button, button.action === 'leave' ? 'first' : '');
}

/** Renders a group. `canChange` is false while all mail is off: the state then has no effect. */
function drawGroup({ id, name, description, isOn }: ListedGroup, canChange: boolean): string {
  const about = description === null ? '' : `<span>${escapeHtml(description)}</span>`;
  const state = isOn && canChange ? 'You get it.' : 'You do not get it.';
  const text = `<strong>${escapeHtml(name)}</strong>${about}<span>${state}</span>`;
  return `<li><div>${text}</div>${canChange ? drawChange(id, name, isOn) : ''}</li>\n`;
}

function drawChange(id: string, name: string, isOn: boolean): string {
  const [action, words, label] = isOn
    ? ['leave', 'Unsubscribe', `Unsubscribe from ${name}`]
    : ['return', 'Get it again', `Get it again: ${name}`];
  return (
    `<form method="post"><input type="hidden" name="action" value="${action}">` +
    `<input type="hidden" name="group" value="${escapeHtml(id)}">` +
    `<button aria-label="${escapeHtml(label)}">${words}</button></form>`
  );
}
