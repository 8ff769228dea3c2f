// The areas that the HTTP server serves; their routes are data in src/<area>/routes.ts. dispatch.ts
// mounts them.

import { answeringRoutes } from '../../src/answering/routes.ts';
import type { Route } from '../../src/api/route.ts';
import { auditRoutes as auditRoutesOver } from '../../src/audit/routes.ts';
import { blockRoutes } from '../../src/blocks/routes.ts';
import { contactGroupRoutes } from '../../src/contacts/groups/routes.ts';
import { contactRoutes } from '../../src/contacts/routes.ts';
import { conversationRoutes } from '../../src/conversations/routes.ts';
import { domainRoutes } from '../../src/domains/routes.ts';
import { keyRoutes } from '../../src/keys/routes.ts';
import { mailboxActionRoutes } from '../../src/mailbox-actions/routes.ts';
import { catchAllRoutes, mailboxRoutes, namespaceRoutes } from '../../src/mailboxes/routes.ts';
import { forgetRoutes } from '../../src/messages/contact-routes.ts';
import { messageRoutes } from '../../src/messages/routes.ts';
import { organizationRoutes } from '../../src/organizations/routes.ts';
import { reportRoutes } from '../../src/reports/routes.ts';
import { senderRoutes } from '../../src/senders/routes.ts';
import { sendingRoutes } from '../../src/sending/routes.ts';
import { attachmentRoutes, noteRoutes, threadRoutes } from '../../src/threads/routes.ts';
import { customTrackingRoutes } from '../../src/tracking/custom/routes.ts';
import { unsubscribeGroupRoutes } from '../../src/unsubscribe-groups/routes.ts';
import { usageRoutes } from '../../src/usage/routes.ts';
import { warmingRoutes } from '../../src/warming/routes.ts';
import { webhookRoutes } from '../../src/webhooks/routes.ts';
import { eventRoutes } from './event-kinds.ts';

/** The areas before the audit, in the order of the reference. */
const areas: readonly Readonly<Record<string, Route>>[] = [
  sendingRoutes,
  messageRoutes,
  mailboxRoutes,
  answeringRoutes,
  mailboxActionRoutes,
  namespaceRoutes,
  threadRoutes,
  noteRoutes,
  attachmentRoutes,
  domainRoutes,
  catchAllRoutes,
  reportRoutes,
  customTrackingRoutes,
  senderRoutes,
  warmingRoutes,
  blockRoutes,
  unsubscribeGroupRoutes,
  contactRoutes,
  conversationRoutes,
  forgetRoutes,
  contactGroupRoutes,
  eventRoutes,
  webhookRoutes,
  keyRoutes,
  organizationRoutes,
];

const nouns = areas.flatMap((area) => Object.values(area).flatMap(({ noun }) => noun ?? []));

export const auditRoutes = auditRoutesOver(nouns);

/** Every route of the API, in the order of the reference. */
export const routes: readonly Route[] = [...areas, auditRoutes, usageRoutes].flatMap(
  (area): readonly Route[] => Object.values(area),
);
