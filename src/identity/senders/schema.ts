// Input and output shapes of sender identities (specification 2.10, 4.7).
import { z } from 'zod';
import { emailAddress, headerText } from '../../core/api/address-schema.ts';
import {
  computed,
  fieldTable,
  flag,
  json,
  optionalText,
  text,
} from '../../core/api/field-table.ts';
import { noun } from '../../core/api/noun.ts';
import { pageQuery } from '../../core/api/pagination.ts';
import { idPath, queryFlag, timeRange } from '../../core/api/resource-schema.ts';

export const senderNoun = noun('sender', 'snd');

const longestName = 200;
const mostReplyTos = 10;

const replyToEmails = z.array(emailAddress).max(mostReplyTos).meta({
  description: 'Addresses for answers: the Reply-To of mail without its own',
});

export const senderFields = fieldTable({
  email: { ...text(emailAddress.meta({ description: 'Address of the sender' })), update: null },
  name: optionalText(
    headerText(longestName).min(1).meta({ description: 'Display name of the sender' }),
  ),
  domainId: computed(
    z
      .string()
      .nullable()
      .describe('Domain of the address; null if it is not a domain of this organization'),
  ),
  verificationStatus: computed(
    z.enum(['pending', 'verified']).describe('Whether the address is proven'),
  ),
  verifiedAt: computed(z.string().nullable().describe('Time of the proof; null before')),
  verificationToken: computed(
    z.null().meta({ description: 'Never shown: it is mailed to the address' }),
  ),
  providerLifecycle: computed(
    z
      .enum(['provisioning', 'active', 'failed'])
      .meta({ description: 'provisioning: a token is mailed to the address' }),
  ),
  providerFailureCode: computed(
    z
      .enum(['token-expired', 'token-undeliverable'])
      .nullable()
      .describe('Reason why the proof failed; null without one'),
  ),
  isDefault: {
    ...flag(z.boolean().describe('Whether it is the default sender')),
    create: z.boolean().optional().meta({
      description: 'Make it the default sender: the From of mail without one (default: the first)',
    }),
    update: z.boolean().optional().meta({ description: 'Make it the default sender' }),
  },
  replyToEmails: json({
    shown: z
      .array(z.string())
      .nullable()
      .describe('Addresses that replies go to; null: the address of the sender'),
    create: replyToEmails.nullish(),
    update: replyToEmails.nullable().optional(),
  }),
  deliverability: computed(
    z
      .object({
        bounceRate: z.number().describe('Share of attempted emails that bounced, from 0 to 1'),
        complaintRate: z
          .number()
          .describe('Share of attempted emails that were reported as spam, from 0 to 1'),
        windowSends: z.number().describe('Number of attempted emails'),
        sendingStatus: z
          .enum(['enabled', 'held', 'paused'])
          .describe('held: the domain waits for a review; paused: the whole organization does'),
      })
      .describe('Results of the last 24 hours'),
  ),
  series: computed(
    z.array(z.number()).meta({ description: 'Daily sends of 14 days, oldest first' }),
  ),
  isActive: {
    ...flag(z.boolean().describe('Whether it may send'), true),
    create: null,
    update: z.boolean().optional().meta({ description: 'Allow it to send, or not' }),
  },
});

export const listSendersQuery = z.strictObject({
  ...pageQuery,
  ...timeRange('senders created'),
  verificationStatus: z
    .enum(['pending', 'verified'])
    .optional()
    .meta({ description: 'Only senders with this status' }),
  isActive: queryFlag.optional().meta({ description: 'Only senders that may send, or may not' }),
  isDefault: queryFlag.optional().meta({ description: 'Only the default sender, or the others' }),
});

export const createSenderInput = z
  .strictObject(senderFields.create)
  .meta({ examples: [{ email: 'support@example.com', name: 'Acme Support' }] });

export const updateSenderInput = z
  .strictObject(senderFields.update)
  .meta({ examples: [{ name: 'Acme Support', replyToEmails: ['help@example.com'] }] });

export const senderOutput = z
  .object(senderFields.output)
  .meta({ id: 'Sender', description: 'An address for the From of messages' });

export const senderPath = idPath(senderNoun, 'a sender');

export const verifySenderInput = z
  .strictObject({
    token: z
      .string()
      .min(1)
      .max(200)
      .meta({ description: 'The token that was mailed to the address' }),
  })
  .meta({ examples: [{ token: 'fW1vYmlsZS1pcy1hLXRva2VuLW9mLTMyLW9jdGV0cw' }] });

export type ListSenders = z.output<typeof listSendersQuery>;
export type CreateSender = z.input<typeof createSenderInput>;
export type UpdateSender = z.output<typeof updateSenderInput>;
export type Sender = z.output<typeof senderOutput>;
