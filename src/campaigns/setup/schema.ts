// Input and output shapes of campaigns (specification 4.8). The shapes of runs are in
// run-schema.ts.
import { z } from 'zod';
import { templateWarning } from '../../content/rendering/schema.ts';
import { emailAddress, headerText } from '../../core/api/address-schema.ts';
import { storedMap } from '../../core/api/bounded-schema.ts';
import { noun } from '../../core/api/noun.ts';
import { pageQuery } from '../../core/api/pagination.ts';
import { idOf } from '../../core/api/resource-schema.ts';
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
  .strictObject({ email: emailAddress, name: headerText(200).optional() })
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

export const listCampaignsQuery = z.strictObject({ ...pageQuery });

export const createCampaignInput = z
  .strictObject({
    name,
    channel: z.literal('email').default('email'),
    email: campaignEmailInput,
    from: from.nullish(),
    audience: audienceInput,
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
      .meta({ description: 'Address; one of a contact gets its values' }),
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
    subject: z.string(),
    preheader: z.string().nullable(),
    html: z.string().nullable(),
    text: z.string().nullable(),
    warnings: z.array(templateWarning),
    ...pictureFields,
    attachments: z.array(picturedFile),
    digest: z.string().meta({
      description: 'Digest of the content with which a run of now would be frozen',
    }),
  })
  .meta({ id: 'CampaignPreview', description: 'The mail of a campaign for one contact' });

const email = z
  .object({
    subject: z.string().optional(),
    html: z.string().optional(),
    text: z.string().optional(),
    templateId: z.string().optional(),
    templateSlug: z.string().optional(),
    templateData: z.record(z.string(), z.unknown()).optional(),
    replyTo: z.array(z.string()).optional(),
    attachments: z
      .array(
        z.object({
          filename: z.string(),
          content: z.string(),
          contentType: z.string().optional(),
          contentId: z.string().optional(),
        }),
      )
      .optional(),
    unsubscribeGroupId: z.string().optional(),
    tracking: z
      .object({ opens: z.boolean().optional(), clicks: z.boolean().optional() })
      .optional(),
    footer: z.object({ enabled: z.boolean() }).optional(),
    inReplyToMessageId: z.string().optional(),
    priority: z.enum(['high', 'normal', 'low']).optional(),
  })
  .meta({
    description:
      'Content as it was given. Lists leave out html, text, attachments and templateData',
  });

export const campaignOutput = z
  .object({
    id: z.string(),
    organizationId: z.string(),
    name: z.string(),
    channel: z.literal('email'),
    email,
    from: z
      .object({ email: z.string(), name: z.string().nullable() })
      .nullable()
      .meta({ description: 'Null: the default sender' }),
    audience: z.object({
      includeTags: z.array(z.string()),
      excludeTags: z.array(z.string()),
      contactIds: z.array(z.string()).optional().meta({ description: 'Lists leave them out' }),
      groupIds: z.array(z.string()),
    }),
    conversationId: z.string().nullable(),
    metadata: z.record(z.string(), metadataValue).nullable(),
    transactional: z.boolean(),
    warnings: z.array(templateWarning).meta({
      description: 'Advice as of the last change: on its content, and what a run is refused for',
    }),
    createdAt: z.string(),
    updatedAt: z.string(),
  })
  .meta({ id: 'Campaign', description: 'Content and audience of mail to many contacts' });

export type ListCampaigns = z.output<typeof listCampaignsQuery>;
export type CreateCampaign = z.output<typeof createCampaignInput>;
export type UpdateCampaign = z.output<typeof updateCampaignInput>;
export type DuplicateCampaign = z.output<typeof duplicateCampaignInput>;
export type TestCampaign = z.output<typeof testCampaignInput>;
export type RenderCampaign = z.output<typeof renderCampaignInput>;
export type Campaign = z.output<typeof campaignOutput>;
