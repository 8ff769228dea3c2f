// Every page of the console, in the order of the navigation.
import type { Page } from '../page.ts';
import { accountPages } from '../person/account.ts';
import { asksAgainPages } from '../person/asks-again.ts';
import { becomeMemberPages } from '../person/become-member.ts';
import { campaignPages } from './campaigns/campaigns.ts';
import { changePages } from './changes.ts';
import { domainPages } from './domains/domains.ts';
import { senderPages } from './domains/senders.ts';
import { extensionPages } from './extensions.ts';
import { findPages } from './find.ts';
import { mailboxPages } from './inbox/mailboxes.ts';
import { reviewPages } from './inbox/review.ts';
import { keyPages } from './keys.ts';
import { messagePages } from './messages/messages.ts';
import { overviewPages } from './overview/overview.ts';
import { blockPages } from './people/blocks.ts';
import { contactPages } from './people/contacts.ts';
import { conversationPages } from './people/conversations.ts';
import { groupPages } from './people/groups.ts';
import { memberPages } from './people/members.ts';
import { queuePages } from './queue.ts';
import { reportPages } from './reports.ts';
import { settingsPages } from './settings.ts';
import { brandPages } from './templates/brands.ts';
import { templatePages } from './templates/templates.ts';
import { webhookPages } from './webhooks.ts';

const named: readonly Page[] = [
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
  ...reportPages,
  ...queuePages,
  ...memberPages,
  ...keyPages,
  ...settingsPages,
  ...changePages,
  ...accountPages,
  ...becomeMemberPages,
  ...asksAgainPages,
];

export const pages: readonly Page[] = [...named, ...findPages(named)];
