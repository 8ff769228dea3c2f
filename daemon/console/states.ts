// States as people say them: a word, and a tone that gives sign and colour. The map has every value
// that the API answers in a field of a state; a test compares it with the schemas of all routes.
import { shownStatusOfAll } from '../../src/outbound/messages/captured.ts';
import type { Delivery, Message } from '../../src/outbound/messages/schema.ts';
import { html, type Part } from './html.ts';

/** Tones of a state: fine, of concern, wrong, under way, or without a judgement. */
export type Tone = 'good' | 'warn' | 'bad' | 'info' | 'none';

/** Word and tone of each state of the API. */
export const states: Readonly<Record<string, readonly [word: string, tone: Tone]>> = {
  // Mail, and recipients of a run.
  pending: ['Waiting', 'info'],
  queued: ['Waiting', 'info'],
  scheduled: ['Scheduled', 'none'],
  processing: ['On the way', 'info'],
  ready: ['Ready to go', 'info'],
  waiting: ['Waiting', 'info'],
  'in-lane': ['Waits for its turn', 'info'],
  claimed: ['Leaves now', 'info'],
  deferred: ['Trying again', 'warn'],
  'temporary-failure': ['Trying again', 'warn'],
  held: ['Held', 'warn'],
  captured: ['Captured', 'info'],
  'partly captured': ['Partly captured', 'info'],
  'partly held': ['Partly held', 'warn'],
  sent: ['Sent', 'good'],
  dispatched: ['Sent', 'good'],
  delivered: ['Delivered', 'good'],
  received: ['Received', 'none'],
  read: ['Opened', 'good'],
  bounced: ['Bounced', 'bad'],
  complained: ['Reported as spam', 'bad'],
  failed: ['Not sent', 'bad'],
  skipped: ['Left out', 'none'],
  cancelled: ['Cancelled', 'none'],
  ended: ['Ended', 'none'],
  // Runs and plans.
  draft: ['Draft', 'none'],
  running: ['Running', 'info'],
  paused: ['Paused', 'warn'],
  completed: ['Done', 'good'],
  open: ['Open', 'info'],
  closed: ['Closed', 'none'],
  // Decisions.
  proposed: ['To approve', 'info'],
  approved: ['Approved', 'good'],
  rejected: ['Rejected', 'bad'],
  executed: ['Done', 'good'],
  expired: ['Too late', 'bad'],
  resolved: ['Resolved', 'good'],
  // Resources.
  active: ['Active', 'good'],
  enabled: ['Active', 'good'],
  disabled: ['Disabled', 'none'],
  suspended: ['Suspended', 'bad'],
  archived: ['Archived', 'none'],
  deleted: ['Deleted', 'none'],
  published: ['Published', 'good'],
  failing: ['Failing', 'warn'],
  exhausted: ['Given up', 'bad'],
  succeeded: ['Arrived', 'good'],
  // People on lists.
  invited: ['Invited', 'info'],
  confirmed: ['Confirmed', 'good'],
  unsubscribed: ['Left', 'none'],
  // Domains and their records.
  verified: ['Verified', 'good'],
  verifying: ['Checked now', 'info'],
  valid: ['Right', 'good'],
  invalid: ['Wrong', 'bad'],
  missing: ['Missing', 'bad'],
  provisioning: ['Waits for its proof', 'info'],
  issuing: ['Gets its certificate', 'info'],
  'tearing-down': ['Ends', 'none'],
  none: ['None', 'none'],
  healthy: ['Healthy', 'good'],
  unhealthy: ['Too many bounces or complaints', 'bad'],
  'insufficient-evidence': ['Too little mail to judge', 'none'],
  // Files of a template.
  added: ['Added', 'good'],
  modified: ['Changed', 'info'],
};

/** Draws a state as a pill: a sign, a colour and a word; the tooltip is the word of the API. */
export function state(name: string): Part {
  const [word, tone] = (Object.hasOwn(states, name) && states[name]) || [name, 'none'];
  return html`<span class=${`pill ${tone}`} title=${name}>${word}</span>`;
}

type Standing = Pick<Message, 'status' | 'direction'>;

/** Draws the state of a message. Received mail always has the state `received`. */
export function messageState(
  { status, direction }: Standing,
  deliveries: readonly Pick<Delivery, 'status' | 'metadata' | 'scheduling'>[],
): Part {
  return state(direction === 'inbound' ? 'received' : shownStatusOfAll(status, deliveries));
}
