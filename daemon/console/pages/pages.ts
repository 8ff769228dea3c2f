// Every page of the console, in the order of the navigation.
import type { Page } from '../page.ts';
import { blockPages } from './blocks.ts';
import { brandPages } from './brands.ts';
import { campaignPages } from './campaigns.ts';
import { contactPages } from './contacts.ts';
import { conversationPages } from './conversations.ts';
import { domainPages } from './domains.ts';
import { extensionPages } from './extensions.ts';
import { groupPages } from './groups.ts';
import { keyPages } from './keys.ts';
import { mailboxPages } from './mailboxes.ts';
import { messagePages } from './messages.ts';
import { overviewPages } from './overview.ts';
import { queuePages } from './queue.ts';
import { reviewPages } from './review.ts';
import { senderPages } from './senders.ts';
import { settingsPages } from './settings.ts';
import { templatePages } from './templates.ts';
import { usagePages } from './usage.ts';
import { webhookPages } from './webhooks.ts';

export const pages: readonly Page[] = [
  ...overviewPages,
  ...messagePages,
  ...mailboxPages,
  ...reviewPages,
  ...domainPages,
  ...senderPages,
  ...blockPages,
  ...contactPages,
  ...groupPages,
  ...conversationPages,
  ...templatePages,
  ...brandPages,
  ...campaignPages,
  ...webhookPages,
  ...extensionPages,
  ...usagePages,
  ...queuePages,
  ...keyPages,
  ...settingsPages,
];
