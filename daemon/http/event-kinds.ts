// Every kind of event, collected from the areas that publish them; and the routes on events, which
// get this list and import no area.

import * as workspace from '../../src/access/organizations/events.ts';
import * as campaignRun from '../../src/campaigns/setup/events.ts';
import * as template from '../../src/content/templates/events.ts';
import * as service from '../../src/doctor/events.ts';
import * as installation from '../../src/extensions/events.ts';
import type { EventKind } from '../../src/history/events/kinds.ts';
import { eventTypes } from '../../src/history/events/names.ts';
import { eventRoutes as routesOver } from '../../src/history/events/routes.ts';
import * as domain from '../../src/identity/domains/events.ts';
import * as mailbox from '../../src/identity/mailboxes/events.ts';
import * as sender from '../../src/identity/senders/events.ts';
import * as warming from '../../src/identity/warming/events.ts';
import * as action from '../../src/inbox/approvals/events.ts';
import { messageKinds } from '../../src/outbound/messages/events.ts';
import * as contact from '../../src/people/contacts/events.ts';
import * as conversation from '../../src/people/conversations/events.ts';
import * as webhook from '../../src/webhooks/events.ts';

const gathered: readonly EventKind[] = [
  ...messageKinds,
  ...Object.values(mailbox),
  ...Object.values(action),
  ...Object.values(domain),
  ...Object.values(contact),
  ...Object.values(conversation),
  ...Object.values(sender),
  ...Object.values(workspace),
  ...Object.values(template),
  ...Object.values(warming),
  ...Object.values(campaignRun),
  ...Object.values(installation),
  ...Object.values(service),
  ...Object.values(webhook),
];

const place = new Map<string, number>(eventTypes.map((type, index) => [type, index]));

/** The kinds of all areas, in the order of the reference. */
export const eventKinds: readonly EventKind[] = gathered.toSorted(
  (a, b) => (place.get(a.type) ?? 0) - (place.get(b.type) ?? 0),
);

export const eventRoutes = routesOver(eventKinds);
