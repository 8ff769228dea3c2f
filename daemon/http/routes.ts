// The areas that the HTTP server serves; their routes are data in src/<area>/routes.ts. dispatch.ts
// mounts them.

import { keyRoutes } from '../../src/access/keys/routes.ts';
import { memberRoutes } from '../../src/access/members/routes.ts';
import { organizationRoutes } from '../../src/access/organizations/routes.ts';
import { campaignRoutes, campaignRunRoutes } from '../../src/campaigns/setup/routes.ts';
import { unsubscribeGroupRoutes } from '../../src/consent/opt-in/group-routes.ts';
import { importRoutes } from '../../src/consent/opt-in/import-routes.ts';
import { memberRoutes as unsubscriberRoutes } from '../../src/consent/opt-in/routes.ts';
import { brandRoutes } from '../../src/content/brands/routes.ts';
import { familyRoutes } from '../../src/content/families/routes.ts';
import { templateRoutes } from '../../src/content/templates/routes.ts';
import { workspaceRoutes } from '../../src/content/templates/workspace/routes.ts';
import type { Route } from '../../src/core/api/route.ts';
import { installationRoutes } from '../../src/extensions/installation-routes.ts';
import { extensionRoutes, extensionVersionRoutes } from '../../src/extensions/routes.ts';
import { auditRoutes as auditRoutesOver } from '../../src/history/audit/routes.ts';
import { domainRoutes } from '../../src/identity/domains/routes.ts';
import {
  catchAllRoutes,
  mailboxRoutes,
  namespaceRoutes,
} from '../../src/identity/mailboxes/routes.ts';
import { usageRoutes } from '../../src/identity/reputation/routes.ts';
import { senderRoutes } from '../../src/identity/senders/routes.ts';
import { warmingRoutes } from '../../src/identity/warming/routes.ts';
import { mailboxActionRoutes } from '../../src/inbox/approvals/routes.ts';
import { answeringRoutes } from '../../src/inbox/replies/routes.ts';
import { undoRoutes } from '../../src/inbox/replies/undo/routes.ts';
import { savedReplyRoutes } from '../../src/inbox/saved-replies/routes.ts';
import {
  attachmentRoutes,
  extractRoutes,
  noteRoutes,
  threadRoutes,
} from '../../src/inbox/threads/routes.ts';
import { explainRoutes } from '../../src/outbound/explain/routes.ts';
import { forgetRoutes } from '../../src/outbound/messages/forget/contact-routes.ts';
import { messageRoutes } from '../../src/outbound/messages/routes.ts';
import { reportRoutes } from '../../src/outbound/reports/routes.ts';
import { sendingRoutes } from '../../src/outbound/sending/routes.ts';
import { proofRoutes } from '../../src/outbound/sending/sender-proof/routes.ts';
import { customTrackingRoutes } from '../../src/outbound/tracking/custom/routes.ts';
import { blockRoutes } from '../../src/people/blocks/routes.ts';
import { contactGroupRoutes } from '../../src/people/contacts/groups/routes.ts';
import { contactRoutes } from '../../src/people/contacts/routes.ts';
import { conversationRoutes } from '../../src/people/conversations/routes.ts';
import { receiptRoutes } from '../../src/receipts/routes.ts';
import { webhookRoutes } from '../../src/webhooks/routes.ts';
import { eventRoutes } from './event-kinds.ts';

/** Areas that stand before the audit in the reference. */
const areas: readonly Readonly<Record<string, Route>>[] = [
  sendingRoutes,
  undoRoutes,
  messageRoutes,
  explainRoutes,
  receiptRoutes,
  mailboxRoutes,
  answeringRoutes,
  mailboxActionRoutes,
  namespaceRoutes,
  threadRoutes,
  noteRoutes,
  attachmentRoutes,
  extractRoutes,
  savedReplyRoutes,
  domainRoutes,
  catchAllRoutes,
  reportRoutes,
  customTrackingRoutes,
  senderRoutes,
  proofRoutes,
  warmingRoutes,
  blockRoutes,
  unsubscribeGroupRoutes,
  unsubscriberRoutes,
  brandRoutes,
  templateRoutes,
  workspaceRoutes,
  familyRoutes,
  importRoutes,
  contactRoutes,
  conversationRoutes,
  forgetRoutes,
  contactGroupRoutes,
  campaignRoutes,
  campaignRunRoutes,
  extensionRoutes,
  extensionVersionRoutes,
  installationRoutes,
  eventRoutes,
  webhookRoutes,
  keyRoutes,
  memberRoutes,
  organizationRoutes,
];

const nouns = areas.flatMap((area) => Object.values(area).flatMap(({ noun }) => noun ?? []));

export const auditRoutes = auditRoutesOver(nouns);

/** Every route of the API, in the order of the reference. */
export const routes: readonly Route[] = [...areas, auditRoutes, usageRoutes].flatMap(
  (area): readonly Route[] => Object.values(area),
);
