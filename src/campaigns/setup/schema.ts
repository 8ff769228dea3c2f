// Input and output shapes of campaigns (specification 4.8). The shapes of runs are in
// run-schema.ts.
import { z } from 'zod';
import { templateWarning } from '../../content/rendering/schema.ts';
import { emailAddress, headerText } from '../../core/api/address-schema.ts';
import { storedMap } from '../../core/api/bounded-schema.ts';
import { noun } from '../../core/api/noun.ts';
import { pageQuery } from '../../core/api/pagination.ts';
import { idOf, timeRange } from '../../core/api/resource-schema.ts';
import { picturedFile, pictureFields } from '../../inbox/approvals/schema.ts';
import { metadataValue } from '../../outbound/messages/schema.ts';
import { contactNoun } from '../../people/contacts/schema.ts';
import { conversationNoun } from '../../people/conversations/schema.ts';
import { audienceInput } from '../audience/schema.ts';
import { campaignEmailInput } from '../mail/schema.ts';

export const campaignNoun = noun('campaign', 'camp');

export const runNoun = noun('campaign-run', 'run');

export const longestName = 200;
const mostMetadata = 50;

export const campaignId = idOf(campaignNoun, 'is not a campaign id');

const name = headerText(longestName).min(1).meta({ description: 'Name, for people' });
const from = z
  .strictObject({
    email: emailAddress.describe('Address of the sender'),
    name: headerText(200)
      .optional()
      .describe('Display name (default: that of the sender identity)'),
  })
  .meta({ description: 'A verified sender, or any address of a verified domain' });
const metadata = storedMap(z.record(z.string().min(1).max(100), metadataValue), mostMetadata).meta({
  description: 'Kept with each message',
});
const conversationId = idOf(conversationNoun, 'is not a conversation id').meta({
  description: 'Conversation that all messages join',
});
const transactional = z.boolean().meta({
  description: 'Allow tags and groups without an unsubscribe group: mail that everybody must get',
});

const example = {
  name: 'Spring sale',
  channel: 'email',
  email: { subject: 'Spring sale', html: '<p>Dear {{ contact.firstName }}, it is spring.</p>' },
  audience: { includeTags: ['customer'], excludeTags: ['vip'] },
};

export const listCampaignsQuery = z.strictObject({
  ...pageQuery,
  ...timeRange('campaigns created'),
});

export const createCampaignInput = z
  .strictObject({
    name,
    channel: z.literal('email').default('email').describe('Always `email`'),
    email: campaignEmailInput.describe('Content: a subject with html or text, or a template'),
    from: from.nullish(),
    audience: audienceInput.describe('Contacts that get the mail'),
    conversationId: conversationId.nullish(),
    metadata: metadata.nullish(),
    transactional: transactional.optional(),
  })
  .meta({ examples: [example] });

export const updateCampaignInput = z
  .strictObject({
    name: name.optional(),
    email: campaignEmailInput.optional().meta({ description: 'Replaces the whole content' }),
    from: from.nullish(),
    audience: audienceInput.optional().meta({ description: 'Replaces the whole audience' }),
    conversationId: conversationId.nullish(),
    metadata: metadata.nullish(),
    transactional: transactional.optional(),
  })
  .meta({ examples: [{ name: 'Spring sale, second wave' }] });

export const duplicateCampaignInput = z
  .strictObject({
    name: name.optional().meta({ description: 'Name of the copy (default: "NAME (copy)")' }),
  })
  .meta({ examples: [{ name: 'Summer sale' }] });

const mostTested = 10;

export const testCampaignInput = z
  .strictObject({
    to: z
      .array(emailAddress)
      .min(1, 'needs at least one address')
      .max(mostTested, `takes at most ${mostTested} addresses`)
      .meta({ description: 'Address; a contact with this address fills the mail' }),
  })
  .meta({ examples: [{ to: ['inbox@sandbox.test'] }] });

export const renderCampaignInput = z
  .strictObject({
    contactId: idOf(contactNoun, 'is not a contact id')
      .optional()
      .meta({
        description:
          'Contact whose values fill the mail; needs contacts:read. Left out: values of contacts ' +
          'are missing',
      }),
  })
  .meta({ examples: [{ contactId: 'contact_06dq2k0qz8h3v5m1r9t4w7xy' }] });

export const previewOutput = z
  .object({
    subject: z.string().describe('Subject line of the mail'),
    preheader: z.string().nullable().describe('Preview line; null without one'),
    html: z.string().nullable().describe('HTML; null without any'),
    text: z.string().nullable().describe('Plain text; null without any'),
    warnings: z.array(templateWarning).describe('Advice on the content'),
    ...pictureFields,
    attachments: z.array(picturedFile).describe('Attached files'),
    digest: z.string().meta({
      description: 'Digest of the content with which a run of now would be frozen',
    }),
  })
  .meta({ id: 'CampaignPreview', description: 'The mail of a campaign for one contact' });

const email = z
  .object({
    subject: z.string().optional().describe('Subject line of the mail'),
    html: z.string().optional().describe('HTML of the mail'),
    text: z.string().optional().describe('Plain text of the mail'),
    templateId: z.string().optional().describe('Template by id'),
    templateSlug: z.string().optional().describe('Template by slug'),
    templateData: z.record(z.string(), z.unknown()).optional().describe('Values for the template'),
    replyTo: z.array(z.string()).optional().describe('Addresses that replies go to'),
    attachments: z
      .array(
        z.object({
          filename: z.string().describe('Name of the file, such as invoice.pdf'),
          content: z.string().describe('The file in base64'),
          contentType: z.string().optional().describe('Media type'),
          contentId: z.string().optional().describe('Id by which the HTML shows the file'),
        }),
      )
      .optional()
      .describe('Attached files'),
    unsubscribeGroupId: z
      .string()
      .optional()
      .describe('Unsubscribe group that recipients can leave'),
    tracking: z
      .object({
        opens: z.boolean().optional().describe('Whether opens are recorded'),
        clicks: z.boolean().optional().describe('Whether clicks are recorded'),
      })
      .optional()
      .describe('Tracking of the mail'),
    footer: z
      .object({ enabled: z.boolean().describe('Whether the mail has the footer') })
      .optional()
      .describe('Footer of the mail'),
    inReplyToMessageId: z.string().optional().describe('Message that the mail answers'),
    priority: z
      .enum(['high', 'normal', 'low'])
      .optional()
      .describe('Importance that mail programs show'),
  })
  .meta({
    description:
      'Content as it was given. Lists leave out html, text, attachments and templateData',
  });

export const campaignOutput = z
  .object({
    id: z.string().describe('Id of the campaign'),
    organizationId: z.string().describe('Organization of the campaign'),
    name: z.string().describe('Name, for people'),
    channel: z.literal('email').describe('Always `email`'),
    email,
    from: z
      .object({
        email: z.string().describe('Address of the sender'),
        name: z.string().nullable().describe('Display name; null: that of the sender identity'),
      })
      .nullable()
      .meta({ description: 'Null: the default sender' }),
    audience: z
      .object({
        includeTags: z.array(z.string()).describe('Contacts with at least one of these tags'),
        excludeTags: z.array(z.string()).describe('Contacts with such a tag are left out'),
        contactIds: z.array(z.string()).optional().meta({ description: 'Lists leave them out' }),
        groupIds: z.array(z.string()).describe('Contacts of these groups'),
      })
      .describe('Contacts that get the mail'),
    conversationId: z
      .string()
      .nullable()
      .describe('Conversation that all messages join; null without one'),
    metadata: z
      .record(z.string(), metadataValue)
      .nullable()
      .describe('Values kept with each message; null without any'),
    transactional: z.boolean().describe('Whether tags and groups need no unsubscribe group'),
    warnings: z.array(templateWarning).meta({
      description: 'Advice as of the last change: on its content, and what a run is refused for',
    }),
    createdAt: z.string().describe('Time of creation'),
    updatedAt: z.string().describe('Time of the last change'),
  })
  .meta({ id: 'Campaign', description: 'Content and audience of mail to many contacts' });

export type ListCampaigns = z.output<typeof listCampaignsQuery>;
export type CreateCampaign = z.output<typeof createCampaignInput>;
export type UpdateCampaign = z.output<typeof updateCampaignInput>;
export type DuplicateCampaign = z.output<typeof duplicateCampaignInput>;
export type TestCampaign = z.output<typeof testCampaignInput>;
export type RenderCampaign = z.output<typeof renderCampaignInput>;
export type Campaign = z.output<typeof campaignOutput>;
