// The areas that the HTTP server serves; their routes are data in src/<area>/routes.ts. dispatch.ts
// mounts them.

import { answeringRoutes } from '../../src/answering/routes.ts';
import type { Route } from '../../src/api/route.ts';
import { auditRoutes } from '../../src/audit/routes.ts';
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

/** Every route of the API, in the order of the reference. */
export const routes: readonly Route[] = [
  ...Object.values(sendingRoutes),
  ...Object.values(messageRoutes),
  ...Object.values(mailboxRoutes),
  ...Object.values(answeringRoutes),
  ...Object.values(mailboxActionRoutes),
  ...Object.values(namespaceRoutes),
  ...Object.values(threadRoutes),
  ...Object.values(noteRoutes),
  ...Object.values(attachmentRoutes),
  ...Object.values(domainRoutes),
  ...Object.values(catchAllRoutes),
  ...Object.values(reportRoutes),
  ...Object.values(customTrackingRoutes),
  ...Object.values(senderRoutes),
  ...Object.values(warmingRoutes),
  ...Object.values(blockRoutes),
  ...Object.values(unsubscribeGroupRoutes),
  ...Object.values(contactRoutes),
  ...Object.values(conversationRoutes),
  ...Object.values(forgetRoutes),
  ...Object.values(contactGroupRoutes),
  ...Object.values(eventRoutes),
  ...Object.values(webhookRoutes),
  ...Object.values(keyRoutes),
  ...Object.values(organizationRoutes),
  ...Object.values(auditRoutes),
  ...Object.values(usageRoutes),
];
