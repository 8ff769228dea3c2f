// The content of a campaign as callers write it.
import { z } from 'zod';
import {
  boundedAttachments,
  emailFields,
  oneContentSource,
} from '../../outbound/messages/send-schema.ts';

const {
  subject,
  html,
  text,
  replyTo,
  templateId,
  templateSlug,
  templateData,
  attachments,
  tracking,
  unsubscribeGroupId,
  footer,
  inReplyToMessageId,
  priority,
} = emailFields;

const liquid = 'With Liquid, it is filled for each contact: `{{ contact.firstName }}`';

/** Content of a campaign: subject and bodies in the request, or a published template. */
export const campaignEmailInput = z
  .strictObject({
    subject: subject.meta({ description: liquid }),
    html: html.meta({ description: liquid }),
    text: text.meta({
      description: 'Default for HTML: a text made from it. With Liquid, it is filled too',
    }),
    templateId,
    templateSlug,
    templateData: templateData.meta({ description: 'Values that all recipients share' }),
    replyTo,
    attachments,
    unsubscribeGroupId,
    tracking,
    footer,
    inReplyToMessageId,
    priority,
  })
  .superRefine(oneContentSource)
  .superRefine(boundedAttachments);

export type CampaignEmail = z.output<typeof campaignEmailInput>;
