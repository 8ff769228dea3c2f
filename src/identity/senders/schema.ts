// Input and output shapes of sender identities (specification 2.10, 4.7).
import { z } from 'zod';
import { emailAddress, headerText } from '../../core/api/address-schema.ts';
import { noun } from '../../core/api/noun.ts';
import { pageQuery } from '../../core/api/pagination.ts';
import { idPath, queryFlag } from '../../core/api/resource-schema.ts';

export const senderNoun = noun('sender', 'snd');

const longestName = 200;
const mostReplyTos = 10;

const name = headerText(longestName).min(1).meta({ description: 'Display name of the sender' });

const replyToEmails = z.array(emailAddress).max(mostReplyTos).meta({
  description: 'Addresses for answers: the Reply-To of mail without its own',
});

export const listSendersQuery = z.strictObject({
  ...pageQuery,
  verificationStatus: z
    .enum(['pending', 'verified'])
    .optional()
    .meta({ description: 'Only senders with this status' }),
  isActive: queryFlag.optional().meta({ description: 'Only senders that may send, or may not' }),
  isDefault: queryFlag.optional().meta({ description: 'Only the default sender, or the others' }),
});

export const createSenderInput = z
  .strictObject({
    email: emailAddress.meta({ description: 'Address of the sender' }),
    name: name.nullish(),
    isDefault: z.boolean().optional().meta({
      description: 'Make it the default sender: the From of mail without one (default: the first)',
    }),
    replyToEmails: replyToEmails.nullish(),
  })
  .meta({ examples: [{ email: 'support@example.com', name: 'Acme Support' }] });

export const updateSenderInput = z
  .strictObject({
    name: name.nullable().optional(),
    isDefault: z.boolean().optional().meta({ description: 'Make it the default sender' }),
    replyToEmails: replyToEmails.nullable().optional(),
    isActive: z.boolean().optional().meta({ description: 'Allow it to send, or not' }),
  })
  .meta({ examples: [{ name: 'Acme Support', replyToEmails: ['help@example.com'] }] });

export const senderOutput = z
  .object({
    id: z.string(),
    organizationId: z.string(),
    email: z.string(),
    name: z.string().nullable(),
    domainId: z.string().nullable(),
    verificationStatus: z.enum(['pending', 'verified']),
    verifiedAt: z.string().nullable(),
    verificationToken: z.null().meta({ description: 'Never shown: it is mailed to the address' }),
    providerLifecycle: z
      .enum(['provisioning', 'active', 'failed'])
      .meta({ description: 'provisioning: a token is mailed to the address' }),
    providerFailureCode: z.enum(['token-expired', 'token-undeliverable']).nullable(),
    isDefault: z.boolean(),
    replyToEmails: z.array(z.string()).nullable(),
    deliverability: z.object({
      bounceRate: z.number(),
      complaintRate: z.number(),
      windowSends: z.number(),
      sendingStatus: z.enum(['enabled', 'held', 'paused']),
    }),
    series: z.array(z.number()).meta({ description: 'Daily sends of 14 days, oldest first' }),
    isActive: z.boolean(),
    createdAt: z.string(),
    updatedAt: z.string(),
  })
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
